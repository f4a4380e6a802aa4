//! Which partitions run a kernel, and how they multiply: every split of its loops among partitions is priced by the
//! cost model and judged by the scheduler's objective `kernel` (S66, S69); the cheapest that has code is taken.
//!
//! A split that has no code for a kernel is priced all the same, so that `explain` can say what it would have given.

use std::collections::BTreeSet;

use warploom_chips::Target;
use warploom_chips::mma::MmaInstruction;
use warploom_ir::{Diagnostics, Module, OpId, Opcode};
use warploom_sched::{Algorithm, Answer, Objective, ScheduleOptions, ValidGraph, bounds, schedule, validate};

use crate::bound::with_partitions;
use crate::candidates::{PartitionSplit, SplitCandidate, SplitCost, SplitVerdict};
use crate::compile::compile_verified;
use crate::fallback::places_bound;
use crate::loops::{GraphOptions, PipelinedLoop, loop_graphs};
use crate::options::CompileOptions;
use crate::resumed::Resumed;
use crate::select::entry_function;
use crate::single;
use crate::walk::preorder;

/// A compiled kernel with the splits that it might have had; where another one has code and costs less, that one.
/// `refused` is why partitions of their own have no code for it, where that was tried already.
pub(crate) fn weigh(
    module: &Module,
    target: &Target,
    options: &CompileOptions,
    made: Resumed,
    refused: Option<String>,
) -> Resumed {
    let single = match &made {
        Resumed::Compiled(_) => None,
        Resumed::Single(single) => Some(single),
        Resumed::Program(_) => return made,
    };
    let (one_partition, native) = (single.is_some(), native(module, target, options));
    let alone = single.map_or(MmaInstruction::MmaSync, |single| single.shape.instruction());
    let lacks = single.and_then(|single| single.synchronous.clone());
    let split = |one_partition: bool| PartitionSplit {
        one_partition,
        instruction: if one_partition { native.map(|_| alone) } else { native },
    };
    let price = |split: PartitionSplit| price(module, target, options, split);
    let cost = cost_of(&made, options);
    let taken = SplitCandidate { split: split(one_partition), cost, verdict: SplitVerdict::Taken };
    let mut field = Field { best: made, candidates: vec![taken], options };
    let (other, expected) = (split(!one_partition), price(split(!one_partition)));
    let compiled = || compiled_as(module, target, options, other);
    match refused {
        Some(why) => field.add(other, expected, SplitVerdict::Refused(why)),
        // What partitions of their own have no code for is refused at once; one partition is compiled where it may win.
        None if other.one_partition && !field.loses_to(other, expected) => {
            field.add(other, expected, SplitVerdict::Dearer)
        }
        None => field.enter(other, expected, compiled()),
    }
    if alone != MmaInstruction::MmaSync {
        let slow = PartitionSplit { one_partition: true, instruction: Some(MmaInstruction::MmaSync) };
        let expected = price(slow);
        match field.loses_to(slow, expected) {
            false => field.add(slow, expected, SplitVerdict::Dearer),
            true => field.enter(slow, expected, compiled_as(module, target, options, slow)),
        }
    } else if let Some(fast) = native.filter(|&i| i != MmaInstruction::MmaSync) {
        let fast = PartitionSplit { one_partition: true, instruction: Some(fast) };
        let why = lacks.unwrap_or_else(|| "one partition multiplies by mma.sync".to_owned());
        field.add(fast, price(fast), SplitVerdict::Refused(why));
    }
    let Field { mut best, candidates, .. } = field;
    match &mut best {
        Resumed::Compiled(compiled) => compiled.candidates = candidates,
        Resumed::Single(single) => single.candidates = candidates,
        Resumed::Program(_) => {}
    }
    best
}

/// The cheapest way so far, and all that were looked at, the one that is taken first.
struct Field<'a> {
    best: Resumed,
    candidates: Vec<SplitCandidate>,
    options: &'a CompileOptions,
}

impl Field<'_> {
    /// Whether a split of this cost would be taken.
    fn loses_to(&self, split: PartitionSplit, cost: Option<SplitCost>) -> bool {
        let Some((taken, mut cost)) = self.candidates.first().zip(cost) else { return false };
        let waits = |split: PartitionSplit| split.instruction == Some(MmaInstruction::MmaSync);
        if waits(split) && !waits(taken.split) {
            cost.ii = cost.ii.saturating_add(cost.ii / MARGIN);
        }
        Some(cost) < taken.cost
    }

    fn add(&mut self, split: PartitionSplit, cost: Option<SplitCost>, verdict: SplitVerdict) {
        self.candidates.push(SplitCandidate { split, cost, verdict });
    }

    /// A rival, compiled or refused: it is taken where what it really costs is less.
    fn enter(&mut self, split: PartitionSplit, expected: Option<SplitCost>, rival: Result<Resumed, String>) {
        let rival = match rival {
            Ok(rival) => rival,
            Err(why) => return self.add(split, expected, SplitVerdict::Refused(why)),
        };
        let cost = cost_of(&rival, self.options);
        if !self.loses_to(split, cost) {
            return self.add(split, cost, SplitVerdict::Dearer);
        }
        self.best = rival;
        for before in self.candidates.iter_mut().filter(|c| c.verdict == SplitVerdict::Taken) {
            before.verdict = SplitVerdict::Dearer;
        }
        self.candidates.insert(0, SplitCandidate { split, cost, verdict: SplitVerdict::Taken });
    }
}

/// A kernel compiled by a split, or why it has no code.
fn compiled_as(
    module: &Module,
    target: &Target,
    options: &CompileOptions,
    split: PartitionSplit,
) -> Result<Resumed, String> {
    let made = match split.one_partition {
        true if places_bound(module, options) => {
            return Err("the author gave its buffers their places".to_owned());
        }
        true => single::compile_synchronous(module, target, options)
            .map(|s| Resumed::Single(Box::new(s)))
            .map_err(Diagnostics::from),
        false => compile_verified(module, target, options).map(|c| Resumed::Compiled(Box::new(c))),
    };
    made.map_err(|refused| refused.first().map(|d| d.message.clone()).unwrap_or_default())
}

/// The instruction of the chip, where the kernel multiplies.
fn native(module: &Module, target: &Target, options: &CompileOptions) -> Option<MmaInstruction> {
    let func = entry_function(module, options.entry.as_deref()).ok()?;
    let multiplies = |op: &OpId| module.ops[*op].opcode == Opcode::Dot;
    preorder(module, func).iter().any(multiplies).then(|| target.mma_instruction())
}

/// Products that are waited for where they are issued must be cheaper by such a part of their cost: what asynchronous
/// ones leave to others is in no price of one loop (Q21), and prices are no better than that.
const MARGIN: i64 = 8;

/// Search nodes per question where a split is priced: what it would cost need not be proven.
const STEPS: u64 = 300;

/// Loops of so many operations are scheduled for their price as any other.
const SMALL: usize = 16;

/// A price is exact to such a part of the bound, and what is so many times that above it is scheduled as any other loop.
const EXACT: i64 = 256;
const MOST_STEPS: i64 = 1 << 10;

/// What the loops of a kernel would cost by a split, whether or not there is code for it.
fn price(
    module: &Module,
    target: &Target,
    options: &CompileOptions,
    split: PartitionSplit,
) -> Option<SplitCost> {
    let synchronous = split.instruction == Some(MmaInstruction::MmaSync);
    let graph = GraphOptions {
        pending: u64::from(!synchronous),
        instruction: split.instruction,
        one_partition: split.one_partition,
        max_depth: options.depth,
        ..GraphOptions::default()
    };
    let loops = loop_graphs(module, options.entry.as_deref(), target, graph).ok()?;
    cost(&loops.iter().collect::<Vec<_>>(), options)
}

fn cost_of(resumed: &Resumed, options: &CompileOptions) -> Option<SplitCost> {
    let loops: Vec<&PipelinedLoop> = match resumed {
        Resumed::Compiled(compiled) => compiled.loops.iter().map(|l| &l.pipelined).collect(),
        Resumed::Single(single) => single.loops.iter().map(|l| &l.pipelined).collect(),
        Resumed::Program(_) => return None,
    };
    cost(&loops, options)
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
