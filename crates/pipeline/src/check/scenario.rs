//! Which runs are made: trip counts, interleavings, when copies land.

use std::collections::BTreeSet;

use warploom_ir::{Attr, OpId, Opcode, ValueId};

use super::model::{Model, Partition};
use super::report::{Report, Rule};
use super::run::{Inputs, Run, Step, divisor};
use crate::walk::preorder;

/// How many runs a check makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Effort {
    /// Every trip count under the fixed policies and two seeds.
    Quick,
    /// The same with so many seeds.
    Seeds(u64),
}

/// Who goes next.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// The lowest warp that can, as far as it can.
    First,
    /// The highest warp that can, as far as it can.
    Last,
    /// A random warp, one step.
    Random,
}

/// When copies land.
#[derive(Clone, Copy, Debug)]
enum Landing {
    /// At once.
    Eager,
    /// When nobody can go on, the oldest first.
    Late,
    /// When nobody can go on, the youngest first.
    LateReversed,
    /// At any time.
    Random,
}

/// Steps after which a run is given up: loops in loops are longer than a check can follow where numbers are large.
const STEP_LIMIT: u64 = 200_000;

/// Long programs may take so many steps for each operation of each warp.
const STEPS_EACH: u64 = 16;

/// No program may take more.
const STEPS_AT_MOST: u64 = 20_000_000;

/// The most steps of a run of this program.
fn step_limit(model: &Model<'_>) -> u64 {
    let each = |p: &Partition| (p.ops.len() as u64).saturating_mul(p.warps);
    let operations = model.partitions.iter().map(each).fold(0, u64::saturating_add);
    operations.saturating_mul(STEPS_EACH).clamp(STEP_LIMIT, STEPS_AT_MOST)
}

/// Steps of all runs of a quick check, after which no further inputs are tried under more than one order: they are
/// sorted, so that what is left out are the longest runs of nested loops.
const QUICK_STEPS: u64 = 1_000_000;

/// The part of them that numbers by which bounds are divided get for themselves.
const QUOTIENTS: u64 = 5;

/// Makes all runs, until one breaks a rule.
pub(super) fn run(model: &Model<'_>, effort: Effort, report: &mut Report) {
    let (seeds, budget) = match effort {
        Effort::Quick => (2, QUICK_STEPS),
        Effort::Seeds(seeds) => (seeds, u64::MAX / 2),
    };
    let [plain, divided] = trip_numbers(model);
    let fixed = [
        (Order::Last, Landing::LateReversed, 0),
        (Order::First, Landing::Late, 0),
        (Order::Last, Landing::Eager, 0),
    ];
    // Inputs that lead to loops of the same length are one and the same to the handshakes.
    let mut seen: Vec<Vec<(usize, u64)>> = Vec::new();
    let mut longest: Option<i64> = None;
    for (numbers, budget) in [(plain, budget), (divided, budget / QUOTIENTS)] {
        let mut steps = 0;
        for inputs in inputs(model, &numbers) {
            // What was too long for a number is not tried for a greater one.
            if longest.is_some_and(|number| inputs.number >= number) {
                continue;
            }
            if steps > 2 * budget && !seen.is_empty() {
                break;
            }
            let entered = match one(model, inputs, (Order::First, Landing::Eager, 0), &mut steps, report) {
                Ended::Whole(entered) => entered,
                Ended::Unknown => continue,
                Ended::TooLong => {
                    longest = Some(inputs.number);
                    continue;
                }
            };
            if !report.0.is_empty() {
                return;
            }
            if seen.contains(&entered) {
                continue;
            }
            seen.push(entered);
            let random = (0..seeds).map(|seed| (Order::Random, Landing::Random, seed));
            let few = if steps > budget { 1 } else { usize::MAX };
            for how in fixed.into_iter().chain(random).take(few) {
                one(model, inputs, how, &mut steps, report);
                if !report.0.is_empty() {
                    return;
                }
            }
        }
    }
    if seen.is_empty() && longest.is_some() {
        report.add(Rule::Deadlock, "run", "does not end");
    }
}

/// How a run ended.
enum Ended {
    /// At its end, or where a rule was broken; with what loops were entered with.
    Whole(Vec<(usize, u64)>),
    /// A loop has too many trips, or undefined ones; nothing follows from it.
    Unknown,
    /// After the most steps nobody waited for ever; nothing follows from it.
    TooLong,
}

/// Numbers that are one trip of some loop: the constants that loops count by, and those times what bounds are divided by.
fn trip_numbers(model: &Model<'_>) -> [BTreeSet<i64>; 2] {
    let module = model.module;
    let loops =
        model.partitions.iter().flat_map(|a| &a.ops).filter(|p| module.ops[p.op].opcode == Opcode::For);
    let step = |op| {
        let maker = module.def_op(model.operand(op, 2)?)?;
        module.attr(maker, "value").and_then(Attr::as_i64).filter(|&s| s > 0)
    };
    let mut steps: BTreeSet<i64> = loops.clone().filter_map(|p| step(p.op)).collect();
    steps.extend(while_steps(model));
    steps.insert(1);
    let divisors = divisors(model, loops.map(|p| p.op));
    let divided = steps.iter().flat_map(|s| divisors.iter().map(|d| s.saturating_mul(*d)));
    let divided = divided.filter(|number| !steps.contains(number)).collect();
    [steps, divided]
}

/// Inputs that make loops take the trip counts of C28: numbers that are so many trips of some loop, for programs at the
/// start of the grid and further on.
fn inputs(model: &Model<'_>, numbers: &BTreeSet<i64>) -> Vec<Inputs> {
    let module = model.module;
    let mut ops = preorder(module, model.func).into_iter();
    let placed = ops.any(|op| module.ops[op].opcode == Opcode::GetProgramId);
    let mut found = Vec::new();
    for trips in trip_counts(model) {
        let trips = i64::try_from(trips).unwrap_or(0);
        for &number in numbers {
            let number = trips.saturating_mul(number);
            let further = if placed { trips } else { 0 };
            for (program, uneven) in [(0, false), (further, false), (0, number != 0)] {
                let inputs = Inputs { number, uneven, program, programs: 2, slope: number };
                // The same inputs lead to the same run.
                if !found.contains(&inputs) {
                    found.push(inputs);
                }
            }
        }
    }
    found
}

/// Constants by which the numbers are divided that bounds of loops are made of: so many more are a trip more.
fn divisors(model: &Model<'_>, loops: impl Iterator<Item = OpId>) -> BTreeSet<i64> {
    let module = model.module;
    let bounds = |op: OpId| module.ops[op].operands.iter().copied().take(3);
    let (mut stack, mut seen): (Vec<ValueId>, _) = (loops.flat_map(bounds).collect(), BTreeSet::new());
    let mut found = BTreeSet::new();
    while let Some(value) = stack.pop() {
        let Some(op) = module.def_op(value).filter(|_| seen.insert(value)) else { continue };
        found.extend(divisor(module, op).filter(|&by| by > 1));
        stack.extend(&module.ops[op].operands);
        let inner = module.ops[op].regions.iter().flat_map(|&region| &module.regions[region].blocks);
        let ends = inner.filter_map(|&block| module.terminator(block));
        stack.extend(ends.flat_map(|end| module.ops[end].operands.iter().copied()));
    }
    found
}

/// What `scf.while` loops count by: the constants that their bodies add.
fn while_steps(model: &Model<'_>) -> Vec<i64> {
    let module = model.module;
    let loops =
        model.partitions.iter().flat_map(|a| &a.ops).filter(|p| module.ops[p.op].opcode == Opcode::While);
    let added = |op: &OpId| {
        let maker = module.def_op(model.operand(*op, 1)?)?;
        module.attr(maker, "value").and_then(Attr::as_i64).filter(|&s| s > 0)
    };
    let inside = loops.flat_map(|p| preorder(module, p.op));
    inside.filter(|&op| module.ops[op].opcode == Opcode::AddI).filter_map(|op| added(&op)).collect()
}

/// The trip counts of C28: none, one, around the stages of rotated loops (two), around and past each ring's depth.
fn trip_counts(model: &Model<'_>) -> Vec<u64> {
    let mut counts = vec![0, 1, 2, 3];
    for ring in &model.rings {
        let d = ring.depth;
        counts.extend([d.saturating_sub(1), d, d + 1, 2 * d + 1]);
    }
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// One run.
fn one(
    model: &Model<'_>,
    inputs: Inputs,
    (order, landing, seed): (Order, Landing, u64),
    steps: &mut u64,
    report: &mut Report,
) -> Ended {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ inputs.number.unsigned_abs());
    let mut run = Run::new(model, inputs, report);
    let warps = run.warps.len();
    for _ in 0..step_limit(model) {
        *steps += 1;
        if !run.report.0.is_empty() {
            return Ended::Whole(describe(&mut run, inputs, order, landing, seed));
        }
        let went = match order {
            Order::First => turn(&mut run, 0..warps),
            Order::Last => turn(&mut run, (0..warps).rev()),
            Order::Random => {
                // From a random warp on: the first that can take a step takes one.
                let start = random.below(warps as u64);
                let from = usize::try_from(start).unwrap_or(0);
                turn(&mut run, (from..warps).chain(0..from))
            }
        };
        match went {
            Step::Broken if run.too_long => return Ended::Unknown,
            Step::Broken => return Ended::Whole(describe(&mut run, inputs, order, landing, seed)),
            Step::Went => match landing {
                Landing::Eager => while run.machine.flying() > 0 && run.land(0) {},
                Landing::Random if random.below(4) == 0 => {
                    let one = random.below(run.machine.flying().max(1) as u64);
                    run.land(usize::try_from(one).unwrap_or(0));
                }
                _ => {}
            },
            Step::Waits if run.machine.flying() > 0 => {
                let last = run.machine.flying() - 1;
                run.land(if matches!(landing, Landing::LateReversed) { last } else { 0 });
            }
            Step::Waits => {
                let waiting: Vec<usize> = (0..warps).filter(|&w| !run.warps[w].done()).collect();
                for &w in waiting.iter().take(4) {
                    let (at, missing) = (run.place(w), run.missing(w));
                    run.report.add(Rule::Deadlock, at, format!("waits for ever. {missing}"));
                }
                return Ended::Whole(describe(&mut run, inputs, order, landing, seed));
            }
            Step::Done => {
                while run.machine.flying() > 0 && run.land(0) {}
                run.drained();
                return Ended::Whole(describe(&mut run, inputs, order, landing, seed));
            }
        }
    }
    Ended::TooLong
}

/// Lets the first warp of a list that can take a step take it. `Waits` if somebody waits and nobody can go on,
/// `Done` if all have ended.
fn turn(run: &mut Run<'_, '_>, order: impl Iterator<Item = usize>) -> Step {
    let mut all = Step::Done;
    for w in order {
        if run.warps.get(w).is_some_and(|warp| warp.done()) {
            continue;
        }
        match run.step(w) {
            // The warp that has just ended went as well.
            Step::Went | Step::Done => return Step::Went,
            Step::Broken => return Step::Broken,
            Step::Waits => all = Step::Waits,
        }
    }
    all
}

/// Says under which run the violations were found, and what loops were entered with.
fn describe(
    run: &mut Run<'_, '_>,
    inputs: Inputs,
    order: Order,
    landing: Landing,
    seed: u64,
) -> Vec<(usize, u64)> {
    let trips = run.entered.iter().map(|(_, trips)| *trips).max().unwrap_or(0);
    let Inputs { number, program, .. } = inputs;
    for violation in &mut run.report.0 {
        violation
            .message
            .push_str(&format!(
                " [{trips} trips (numbers {number}, program {program}), {order:?} warps, {landing:?} copies, seed {seed}]"
            ));
    }
    let mut entered = std::mem::take(&mut run.entered);
    entered.sort_by_key(|(warp, _)| *warp);
    entered
}

/// A small generator (SplitMix64), so that runs repeat.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % limit.max(1)
    }
}
