//! What a split of a kernel's loops among partitions costs: the keys of the scheduler's objective `kernel`, with an issue
//! stream for each partition (S65, S66, S69).

use std::collections::BTreeSet;

use warploom_chips::mma::MmaInstruction;
use warploom_sched::{Algorithm, Answer, Objective, ScheduleOptions, ValidGraph, bounds, schedule, validate};

use super::candidates::{PartitionSplit, SplitCost};
use super::plan::Plan;
use super::source::Source;
use crate::bound::with_partitions;
use crate::loops::{GraphOptions, PipelinedLoop, loop_graphs};
use crate::options::CompileOptions;

/// Search nodes per question where a split is priced: what it would cost need not be proven.
const STEPS: u64 = 300;

/// Loops of so many operations are scheduled for their price as any other.
const SMALL: usize = 16;

/// A price is exact to such a part of the bound, and what is so many times that above it is scheduled as any other loop.
const EXACT: i64 = 256;
const MOST_STEPS: i64 = 1 << 10;

/// What the loops of a kernel would cost by a split, whether or not there is code for it.
pub(super) fn price(source: &Source<'_>, split: PartitionSplit) -> Option<SplitCost> {
    let Source { written, target, options, .. } = *source;
    let synchronous = split.instruction == Some(MmaInstruction::MmaSync);
    let graph = GraphOptions {
        pending: u64::from(!synchronous),
        instruction: split.instruction,
        one_partition: split.one_partition,
        max_depth: options.depth,
        ..GraphOptions::default()
    };
    let loops = loop_graphs(written, options.entry.as_deref(), target, graph).ok()?;
    cost(&loops.iter().collect::<Vec<_>>(), options)
}

/// What the loops of a plan cost.
pub(super) fn cost_of(plan: &Plan, options: &CompileOptions) -> Option<SplitCost> {
    cost(&plan.loops.iter().map(|l| &l.pipelined).collect::<Vec<_>>(), options)
}

/// The keys of S69, summed over loops. Beside the chip's units each partition's issue stream is one that its operations
/// hold (S65): what would wait for each other in one partition may run at once in two.
fn cost(loops: &[&PipelinedLoop], options: &CompileOptions) -> Option<SplitCost> {
    let how = options.schedule.clone().objective(Objective::Kernel).algorithm(Algorithm::Auto).steps(STEPS);
    let mut sum: Option<SplitCost> = None;
    for pipelined in loops {
        let graph = with_partitions(pipelined);
        let answer = near_least(&validate(&graph).ok()?, &how)?;
        let before = sum.unwrap_or(SplitCost { ii: 0, synchronisation: 0, bytes: 0, length: 0 });
        sum = Some(SplitCost {
            ii: before.ii.saturating_add(answer.ii),
            synchronisation: before.synchronisation.saturating_add(synchronisation(pipelined)),
            bytes: before.bytes.saturating_add(answer.bytes.unwrap_or(0)),
            length: before.length.saturating_add(answer.length),
        });
    }
    sum
}

/// A schedule at the bound, or one whose II is near the least that the heuristic finds: every II from the bound on would
/// be asked for, and the price of a large loop need not be that exact. Steps upwards that grow, then the middle for a while.
fn near_least(graph: &ValidGraph<'_>, how: &ScheduleOptions) -> Option<Answer> {
    if graph.graph().nodes.len() <= SMALL {
        return schedule(graph, how).ok();
    }
    let at =
        |ii: i64, by: Algorithm| schedule(graph, &how.clone().algorithm(by).min_ii(ii).max_ii(Some(ii))).ok();
    let least = bounds(graph).mii.max(how.min_ii);
    let exact = (least / EXACT).max(1);
    let (mut low, mut step, mut found) = (least, exact, at(least, Algorithm::Auto));
    while found.is_none() {
        if step > MOST_STEPS * exact {
            return schedule(graph, how).ok();
        }
        found = at(low + step, Algorithm::Ims);
        if found.is_none() {
            (low, step) = (low + step, 2 * step);
        }
    }
    while let Some(ii) = found.as_ref().map(|answer| answer.ii).filter(|&ii| ii > least && ii - low > exact) {
        let middle = low + (ii - low) / 2;
        match at(middle, Algorithm::Ims) {
            Some(better) => found = Some(better),
            None => low = middle,
        }
    }
    found
}

/// Cycles of synchronisation in each trip: each pair of operations of different partitions once.
fn synchronisation(pipelined: &PipelinedLoop) -> i64 {
    let role = |node: usize| pipelined.nodes.get(node).map(|n| n.role);
    let crossing = pipelined.graph.edges.iter().filter(|e| role(e.src) != role(e.dst));
    let pairs: BTreeSet<(usize, usize)> = crossing.map(|e| (e.src, e.dst)).collect();
    let each = i64::try_from(pipelined.synchronisation).unwrap_or(i64::MAX);
    i64::try_from(pairs.len()).unwrap_or(i64::MAX).saturating_mul(each)
}
