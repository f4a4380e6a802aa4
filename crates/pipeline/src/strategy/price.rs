//! What a split of a kernel's loops among partitions costs: the keys of the scheduler's objective `kernel`, with an issue
//! stream for each partition (S65, S66, S69).

use std::collections::BTreeSet;
use std::sync::OnceLock;

use warploom_chips::mma::MmaInstruction;
use warploom_sched::{
    Algorithm, Answer, LoopGraph, Objective, ScheduleOptions, ValidGraph, bounds, schedule, validate,
};

use super::plan::Plan;
use super::source::Source;
use super::split::{PartitionSplit, SplitCost};
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

/// What a split costs, found when it is first asked for: most splits are told apart by bounds that take no search.
#[derive(Clone, Debug)]
pub struct SplitPrice {
    /// The loops, and the cycles of synchronisation in a trip of each; none where the chip has no cost for them.
    loops: Option<Vec<(LoopGraph, i64)>>,
    how: ScheduleOptions,
    found: OnceLock<Option<SplitCost>>,
}

impl SplitPrice {
    /// Of loops, each with a unit for each partition beside the chip's: its issue stream, which its operations hold (S65).
    /// What would wait for each other in one partition may run at once in two.
    fn new<'l>(
        loops: Option<impl Iterator<Item = &'l PipelinedLoop>>,
        options: &CompileOptions,
    ) -> SplitPrice {
        let how =
            options.schedule.clone().objective(Objective::Kernel).algorithm(Algorithm::Auto).steps(STEPS);
        let loops = loops.map(|loops| loops.map(|l| (with_partitions(l), synchronisation(l))).collect());
        SplitPrice { loops, how, found: OnceLock::new() }
    }

    /// The price of what no split was planned for.
    pub(super) fn none() -> SplitPrice {
        SplitPrice { loops: None, how: ScheduleOptions::default(), found: OnceLock::new() }
    }

    /// The keys of S69, summed over loops; none where the chip has no cost for the split, or nothing is pipelined.
    pub fn cost(&self) -> Option<SplitCost> {
        *self.found.get_or_init(|| self.search())
    }

    fn search(&self) -> Option<SplitCost> {
        let mut sum: Option<SplitCost> = None;
        for (graph, synchronisation) in self.loops.iter().flatten() {
            let answer = near_least(&validate(graph).ok()?, &self.how)?;
            let before = sum.unwrap_or(SplitCost { ii: 0, synchronisation: 0, bytes: 0, length: 0 });
            sum = Some(SplitCost {
                ii: before.ii.saturating_add(answer.ii),
                synchronisation: before.synchronisation.saturating_add(*synchronisation),
                bytes: before.bytes.saturating_add(answer.bytes.unwrap_or(0)),
                length: before.length.saturating_add(answer.length),
            });
        }
        sum
    }

    /// What its `ii` is at least, without a search; none where it has no cost.
    pub(super) fn least_ii(&self) -> Option<i64> {
        let least = |(graph, _): &(LoopGraph, i64)| Some(bounds(&validate(graph).ok()?).mii);
        let each: Option<Vec<i64>> = self.loops.iter().flatten().map(least).collect();
        each.map(|each| each.into_iter().fold(0, i64::saturating_add))
    }
}

/// By what is found: prices are alike where they cost the same.
impl PartialEq for SplitPrice {
    fn eq(&self, other: &SplitPrice) -> bool {
        self.cost() == other.cost()
    }
}

impl Eq for SplitPrice {}

/// What the loops of a kernel would cost by a split, whether or not there is code for it.
pub(super) fn price(source: &Source<'_>, split: PartitionSplit) -> SplitPrice {
    let Source { written, target, options, .. } = *source;
    let synchronous = split.instruction == Some(MmaInstruction::MmaSync);
    let graph = GraphOptions {
        pending: u64::from(!synchronous),
        instruction: split.instruction,
        one_partition: split.one_partition,
        max_depth: options.depth,
        ..GraphOptions::default()
    };
    let loops = loop_graphs(written, options.entry.as_deref(), target, graph).ok();
    SplitPrice::new(loops.as_ref().map(|loops| loops.iter()), options)
}

/// What the loops of a plan cost.
pub(super) fn cost_of(plan: &Plan, options: &CompileOptions) -> SplitPrice {
    SplitPrice::new(Some(plan.loops.iter().map(|l| &l.pipelined)), options)
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
