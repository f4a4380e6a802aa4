//! What the scheduler is held to beside the sets: copies of one loop, one long recurrence, rational IIs, and cores.

use crate::sets::Set;
use crate::tiles::in_tiles;
use crate::{Args, processor_micros};
use warploom_sched::{
    Algorithm, Answer, LoopGraph, ScheduleOptions, check, loop_core, schedule, schedule_unrolled, validate,
};

/// Rational IIs are looked for up to this factor.
const MOST_FACTOR: u64 = 8;

/// Prints a line for each loop of the known kernels, and for each loop of the sets that falls short or is one of the cases.
pub fn bars(sets: &[Set], args: &Args) {
    println!("{:52} {:>6} {:>7} {:>7} {:>8} {:>10}", "loop", "ops", "II", "bound", "length", "ms");
    in_tiles().iter().for_each(|g| line(g, args));
    line(&circuit(100_000, 12), args);
    rationals(sets, args);
    cores(sets, args);
}

/// Prints the loops that are better unrolled, those whose best factor is not proved, and how many of both there are.
pub fn rationals(sets: &[Set], args: &Args) {
    let told: Vec<bool> =
        sets.iter().flat_map(|s| &s.loops).filter_map(|l| rational(&l.graph, args)).collect();
    let open = told.iter().filter(|proved| !**proved).count();
    println!("rational: {} loops are better unrolled or open, {open} of them not proved", told.len());
}

/// Prints the core of every loop whose proved II is above the bounds, and how many fall short.
pub fn cores(sets: &[Set], args: &Args) {
    let told: Vec<bool> = sets.iter().flat_map(|s| &s.loops).filter_map(|l| core(&l.graph, args)).collect();
    let short = told.iter().filter(|good| !**good).count();
    println!(
        "core: {} loops with a proved II above the bounds, {short} of them without a minimal core that is confirmed",
        told.len()
    );
}

fn options(args: &Args) -> ScheduleOptions {
    ScheduleOptions::default().algorithm(args.only.unwrap_or_default()).time_limit(args.time_limit)
}

fn answer(graph: &LoopGraph, options: &ScheduleOptions) -> Option<Answer> {
    schedule(&validate(graph).ok()?, options).ok()
}

fn line(graph: &LoopGraph, args: &Args) {
    let start = processor_micros();
    let Some(a) = answer(graph, &options(args)) else { return println!("{:52} no answer", graph.name) };
    let millis = (processor_micros() - start) / 1e3;
    let fails = if check::all(graph, &a).is_ok() { "" } else { "  CHECK FAILED" };
    let proved = if a.optimal { "" } else { "  II not proved" };
    let (ops, least) = (graph.nodes.len(), if a.length_optimal { "  length proved" } else { "" });
    let name = &graph.name;
    println!(
        "{name:52} {ops:>6} {:>7} {:>7} {:>8} {millis:>10.1}{proved}{least}{fails}",
        a.ii, a.lower_bound, a.length
    );
}

/// One recurrence through all operations, with a carried dependence in so many places.
fn circuit(operations: usize, iterations: usize) -> LoopGraph {
    let mut g = LoopGraph::new(format!("one circuit over {iterations} iterations"));
    (0..8).for_each(|r| _ = g.add_resource(format!("R{r}"), 1 + r % 4));
    let mut state = 0x1234_5678_9abc_def0_u64;
    let mut random = move |limit: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % limit
    };
    for i in 0..operations {
        let latency = [1, 2, 4, 8, 30][random(5) as usize];
        g.add_node(format!("op{i}"), latency, &[(&format!("R{}", random(8)), 0, 1 + random(4))]);
    }
    let stretch = operations.div_ceil(iterations);
    for i in 0..operations {
        let distance = i64::from((i + 1) % stretch == 0 || i + 1 == operations);
        g.add_edge(i, (i + 1) % operations, g.nodes[i].latency, distance);
    }
    g
}

/// Whether the best factor is proved; `None` where that is 1.
fn rational(graph: &LoopGraph, args: &Args) -> Option<bool> {
    let start = processor_micros();
    let found = schedule_unrolled(&validate(graph).ok()?, MOST_FACTOR, &options(args)).ok()?;
    let millis = (processor_micros() - start) / 1e3;
    let fails = if check::unrolled(graph, &found).is_ok() { "" } else { ", CHECK FAILED" };
    if found.factor == 1 && found.optimal && fails.is_empty() {
        return None;
    }
    let (name, [cycles, iterations]) = (&graph.name, found.lower_bound);
    let proved = if found.optimal { "proved" } else { "NOT PROVED" };
    let (ii, factor) = (found.answer.ii, found.factor);
    println!("rational {name}: {ii}/{factor}, bound {cycles}/{iterations}, {proved}{fails}, {millis:.1} ms");
    Some(found.optimal && fails.is_empty())
}

/// Whether the II below the proved one has a minimal core that is confirmed; `None` where the bounds suffice.
fn core(graph: &LoopGraph, args: &Args) -> Option<bool> {
    let settings = options(args).algorithm(Algorithm::Auto);
    let a = answer(graph, &settings).filter(|a| a.optimal && a.ii > a.mii && a.partitions.is_empty())?;
    let start = processor_micros();
    let found = validate(graph).ok().and_then(|g| loop_core(&g, &a, &settings).ok().flatten());
    let millis = (processor_micros() - start) / 1e3;
    let name = &graph.name;
    let Some(found) = found else {
        println!("core {name}: II {}, NONE, {millis:.1} ms", a.ii);
        return Some(false);
    };
    let (minimal, members) = (if found.minimal { "minimal" } else { "NOT MINIMAL" }, found.members.len());
    let fails = if check::core(graph, &found).is_ok() { "" } else { ", CHECK FAILED" };
    let (check, bounds) = ((processor_micros() - start) / 1e3 - millis, a.mii);
    println!(
        "core {name}: II {}, bounds {bounds}, {members} members, {minimal}{fails}, {millis:.1} ms, check {check:.1} ms",
        a.ii
    );
    Some(found.minimal && fails.is_empty())
}
