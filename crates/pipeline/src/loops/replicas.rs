//! Replicas of the computing partition: each has a share of the rows, all do the same at an equal distance (Q40, Q41).

use std::collections::BTreeSet;

use warploom_ir::{Module, OpId, Opcode};
use warploom_sched::{Answer, ReplicatedLoop, ScheduleError, ScheduleOptions, ValidGraph};

use super::price::product_rows;
use super::{LoopNode, Part, PartitionRole, PipelinedLoop, Replicas};
use crate::select::Selection;
use crate::walk::preorder;

/// Why the computing partition of a loop, whose warpgroups have 64 rows each, has no replicas; none if it may.
pub(crate) fn refused(module: &Module, scf_for: OpId, selection: &Selection) -> Option<&'static str> {
    let warpgroups = u64::from(selection.warpgroups());
    if warpgroups < 2 {
        return Some("the computing partition has one warpgroup");
    }
    if selection.scratch > 0 {
        return Some("its warpgroups exchange through shared memory");
    }
    if product_rows(module, scf_for) != [64 * warpgroups] {
        return Some("not all its products have the rows of all warpgroups");
    }
    let stores = |op: &OpId| module.ops[*op].opcode == Opcode::DescriptorStore;
    preorder(module, scf_for).iter().any(stores).then_some("its warpgroups meet before they store a tile")
}

impl PipelinedLoop {
    /// What there is once, however many replicas compute.
    fn once(&self) -> Vec<bool> {
        self.nodes.iter().map(|n| n.role == PartitionRole::Load).collect()
    }

    /// The loop of all replicas and its schedule, from the graph of one of them.
    ///
    /// # Errors
    /// Those of [`warploom_sched::schedule_replicas`].
    pub(crate) fn schedule_replicas(
        &self,
        valid: &ValidGraph<'_>,
        replicas: u64,
        options: &ScheduleOptions,
    ) -> Result<(PipelinedLoop, Answer), ScheduleError> {
        let once = self.once();
        let all = warploom_sched::schedule_replicas(valid, &once, replicas, options)?;
        Ok(self.of_all(all, &once, replicas))
    }

    /// The loop of all replicas and its schedule, from the times of one of them and their distance.
    ///
    /// # Errors
    /// Those of [`warploom_sched::replicas_answer`].
    pub(crate) fn replicas_answer(
        &self,
        valid: &ValidGraph<'_>,
        replicas: Replicas,
        ii: i64,
        times: &[i64],
    ) -> Result<(PipelinedLoop, Answer), ScheduleError> {
        let (once, Replicas { count, apart }) = (self.once(), replicas);
        let all = warploom_sched::replicas_answer(valid, &once, count, apart, ii, times)?;
        Ok(self.of_all(all, &once, count))
    }

    /// The products behind which it is the next replica's turn, where the turns go round; none where they go otherwise
    /// (Q41).
    pub(crate) fn turns(&self, module: &Module, answer: &Answer) -> Option<BTreeSet<OpId>> {
        let product = |n: &LoopNode| n.part == Part::Whole && module.ops[n.op].opcode.is_product();
        let nodes = self.nodes.iter().zip(&answer.nodes).filter(|(n, _)| product(n));
        let mut issued: Vec<(i64, usize, u64, OpId)> =
            nodes.map(|(n, at)| (at.cycle, at.order, n.replica, n.op)).collect();
        issued.sort_unstable();
        let next = issued.iter().cycle().skip(1);
        let ends: Vec<_> = issued.iter().zip(next).filter(|(a, b)| a.2 != b.2).collect();
        let round = ends.iter().all(|(a, b)| b.2 == (a.2 + 1) % self.replicas.count);
        let of = |replica: u64| ends.iter().filter(|(a, _)| a.2 == replica).map(|(a, _)| a.3).collect();
        let first: BTreeSet<OpId> = of(0);
        let alike = (1..self.replicas.count).all(|replica| of(replica) == first);
        (round && alike && !first.is_empty()).then_some(first)
    }

    fn of_all(&self, all: ReplicatedLoop, once: &[bool], count: u64) -> (PipelinedLoop, Answer) {
        let alone = |node: usize| once.get(node).copied().unwrap_or(true);
        let mut nodes = self.nodes.clone();
        for replica in 1..count {
            let own = self.nodes.iter().enumerate().filter(|(id, _)| !alone(*id));
            nodes.extend(own.map(|(_, node)| LoopNode { replica, ..*node }));
        }
        let rings = self.graph.values.iter().zip(&self.copies);
        let copies =
            rings.flat_map(|(value, &copy)| (0..if alone(value.def) { 1 } else { count }).map(move |_| copy));
        let (copies, replicas) = (copies.collect(), Replicas { count, apart: all.apart });
        (PipelinedLoop { copies, graph: all.graph, nodes, replicas, ..self.clone() }, all.answer)
    }
}
