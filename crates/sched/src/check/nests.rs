//! S104: loops around loops. The inner schedules, what they hold of the outer one, the same again start by start, and
//! the outer schedule stretched for more inner iterations.

use super::every::all;
use super::exits::waited;
use super::report::Report;
use super::times::{check_resources, times};
use super::violation::{ScheduleViolationKind as Kind, ScheduleViolations};
use super::{bindings, replay};
use crate::model::answer::Answer;
use crate::model::graph::{LoopGraph, LoopNode, is_interleaved};
use crate::model::nest::{InnerRun, NestAnswer};
use crate::model::resource_use::ResourceUse;

/// So many iterations more are tried where their number is not known.
const MORE: [u64; 4] = [1, 2, 5, 1000];
/// Starts of operations in one iteration that are looked at one by one.
const MOST_STARTS: usize = 1 << 22;

/// Checks the schedule of the loop at `at` and of those inside it.
///
/// # Errors
/// All violations found; when a loop or a run is missing, nothing else is looked at.
pub fn nest(loops: &[LoopGraph], at: usize, answer: &NestAnswer) -> Result<(), ScheduleViolations> {
    let mut report = Report::default();
    let Some(plain) = level(loops, at, answer, &mut report, 0) else { return report.verdict() };
    let mut held = Held { uses: Vec::new(), time: Vec::new(), report: &mut report };
    held.starts(loops, at, answer, 0);
    let Held { uses, time, .. } = held;
    let node = |(id, one): (usize, ResourceUse)| LoopNode { id, uses: vec![one], ..LoopNode::default() };
    let nodes = uses.into_iter().enumerate().map(node).collect();
    let every = LoopGraph { nodes, resources: plain.resources.clone(), ..LoopGraph::default() };
    check_resources(&every, answer.answer.ii.into(), &time, &mut report);
    report.verdict()
}

/// The loop with its inner ones as plain operations, once all of it is checked.
fn level(
    loops: &[LoopGraph],
    at: usize,
    nest: &NestAnswer,
    report: &mut Report,
    depth: usize,
) -> Option<LoopGraph> {
    let graph = loops.get(at).filter(|_| depth <= loops.len());
    let Some(graph) = graph else {
        report.add(Kind::Nest, format!("loop {at}"), "there is no such loop, or it contains itself");
        return None;
    };
    let mut runs = Vec::new();
    for node in &graph.nodes {
        let Some(told) = &node.inner else { continue };
        let named: Vec<usize> = (0..loops.len()).filter(|&i| loops[i].name == told.name).collect();
        let mine: Vec<&InnerRun> = nest.inner.iter().filter(|r| r.node == node.id).collect();
        let ([found], [run]) = (named.as_slice(), mine.as_slice()) else {
            let message =
                format!("{} loops `{}`, {} runs; expected one each", named.len(), told.name, mine.len());
            report.add(Kind::Nest, format!("node {}", node.id), message);
            return None;
        };
        if run.trips != told.trips || run.trips == 0 || run.grows_at.is_some() != told.or_more {
            let message = format!("{} iterations, expected {}", run.trips, told.trips);
            report.add(Kind::Nest, format!("node {}", node.id), message);
            return None;
        }
        let inner = level(loops, *found, &run.nest, report, depth + 1)?;
        let cycles = run_of(&inner, run, run.trips);
        report.same(Kind::Nest, &format!("node {}", node.id), "its run", run.run.into(), cycles);
        runs.push((*run, inner));
    }
    if nest.inner.len() != runs.len() {
        report.add(Kind::Nest, "inner", format!("{} runs, expected {}", nest.inner.len(), runs.len()));
    }
    let plain = plain(graph, &runs, 0);
    all(&plain, &nest.answer).err().into_iter().flatten().for_each(|v| report.add(v.kind, v.at, v.message));
    // An II below 1 has no table to stretch.
    if nest.answer.ii >= 1 && runs.iter().any(|(run, _)| run.grows_at.is_some()) {
        for more in MORE {
            let (plain, longer) = (self::plain(graph, &runs, more), stretched(nest, more));
            let found = times(&plain, &longer).err().into_iter().chain(replay(&plain, &longer).err());
            let told = |m: &str| format!("with {more} iterations more: {m}");
            found.flatten().for_each(|v| report.add(v.kind, v.at, told(&v.message)));
        }
    }
    Some(plain)
}

/// Cycles from the first start to the last result of so many iterations; an iteration of a loop that is stretched takes one
/// at least.
fn run_of(graph: &LoopGraph, run: &InnerRun, trips: u64) -> i128 {
    let answer = &run.nest.answer;
    let ends = answer
        .nodes
        .iter()
        .map(|v| i128::from(v.time) + graph.nodes.get(v.id).map_or(0, |node| i128::from(node.latency)));
    let length = ends.max().unwrap_or(0).max(i128::from(run.grows_at.is_some()));
    length + (i128::from(trips) - 1) * i128::from(answer.ii)
}

/// The loop as it is where each inner loop is an operation, and those of unknown number make `more` iterations more.
fn plain(graph: &LoopGraph, runs: &[(&InnerRun, LoopGraph)], more: u64) -> LoopGraph {
    let mut plain = graph.clone();
    for (run, inner) in runs {
        let open = run.grows_at.is_some();
        let trips = run.trips.saturating_add(if open { more } else { 0 });
        let cycles = i64::try_from(run_of(inner, run, trips)).unwrap_or(i64::MAX / 2);
        plain
            .edges
            .iter_mut()
            .filter(|e| e.src == run.node)
            .for_each(|e| e.latency = e.latency.saturating_add(cycles));
        let reads = plain.values.iter_mut().flat_map(|v| &mut v.uses);
        reads.filter(|u| u.node == run.node).for_each(|u| u.end = u.end.saturating_add(cycles));
        let Some(node) = plain.nodes.get_mut(run.node) else { continue };
        node.inner = None;
        node.latency = node.latency.saturating_add(cycles);
        for u in node.uses.iter_mut().filter(|u| !is_interleaved(&graph.resources, &u.resource)) {
            u.duration = u.duration.saturating_add(cycles.unsigned_abs()).saturating_sub(u.start);
        }
        node.uses.extend(holds(inner, &run.nest.answer, trips, open.then_some(cycles)));
    }
    plain
}

/// What an inner loop holds: of each resource as many units as it ever does, from its first use to its last; from the start to
/// the end of the run and of all uses where it is to be stretched.
fn holds(inner: &LoopGraph, answer: &Answer, trips: u64, stretched: Option<i64>) -> Vec<ResourceUse> {
    let inner = &*bindings::bound(inner, answer, &mut Report::default());
    let ii = i128::from(answer.ii.max(1));
    let turns = (i128::from(trips) - 1) * ii;
    let mut stretches: Vec<(&str, i128, i128)> = Vec::new();
    for v in &answer.nodes {
        let uses = inner.nodes.get(v.id).map_or(&[][..], |node| &node.uses);
        for u in uses.iter().filter(|u| u.duration > 0) {
            stretches.push((&u.resource, i128::from(v.time) + i128::from(u.start), u.duration.into()));
        }
    }
    let last = stretches.iter().map(|(_, from, cycles)| from + cycles + turns).max().unwrap_or(0);
    let narrow = |cycles: i128| u64::try_from(cycles).unwrap_or(u64::MAX / 4);
    let mut holds = Vec::new();
    for r in &inner.resources {
        if r.interleaved {
            let cycles = stretches.iter().filter(|s| s.0 == r.name).map(|s| s.2).sum::<i128>();
            let duration = narrow(cycles * i128::from(trips));
            holds.push(ResourceUse { resource: r.name.clone(), duration, ..ResourceUse::default() });
            continue;
        }
        let mine: Vec<(i128, i128)> =
            stretches.iter().filter(|s| s.0 == r.name).map(|&(_, from, cycles)| (from, cycles)).collect();
        // The load only rises where a use begins.
        let at = |cycle: i128| -> i128 {
            let held = |(from, cycles): &(i128, i128)| {
                cycles / ii + i128::from((cycle - from).rem_euclid(ii) < cycles % ii)
            };
            mine.iter().map(held).sum()
        };
        let units = mine.iter().map(|(from, _)| at(*from)).max().unwrap_or(0);
        // More than there are is found elsewhere.
        let units = units.min(i128::from(r.count) + 1);
        let first = mine.iter().map(|(from, _)| *from).min().unwrap_or(0);
        let end = mine.iter().map(|(from, cycles)| from + cycles + turns).max().unwrap_or(0);
        let (first, end) = stretched.map_or((first, end), |run| (0, last.max(run.into())));
        let resource = r.name.clone();
        let (start, duration) = (narrow(first), narrow(end - first));
        holds.extend((0..units).map(|_| ResourceUse {
            resource: resource.clone(),
            start,
            duration,
            ..ResourceUse::default()
        }));
    }
    holds
}

/// The outer schedule where every inner loop that grows makes so many iterations more: at its cycle of the table, `more`
/// times its II are inserted.
fn stretched(nest: &NestAnswer, more: u64) -> Answer {
    let old = i128::from(nest.answer.ii);
    let grow =
        |r: &InnerRun| Some((i128::from(r.grows_at?), i128::from(r.nest.answer.ii) * i128::from(more)));
    let inserts: Vec<(i128, i128)> = nest.inner.iter().filter_map(grow).collect();
    let narrow = |time: i128| i64::try_from(time).unwrap_or(i64::MAX);
    let mut longer = nest.answer.clone();
    longer.ii = narrow(old + inserts.iter().map(|(_, cycles)| cycles).sum::<i128>());
    for v in &mut longer.nodes {
        let time = i128::from(v.time);
        // Cycles `at`, `at + old`, .. in 1..=time.
        let passed = |at: i128| (time - at).div_euclid(old) - (-at).div_euclid(old);
        v.time = narrow(time + inserts.iter().map(|&(at, cycles)| passed(at) * cycles).sum::<i128>());
        (v.stage, v.cycle) = (v.time.div_euclid(longer.ii.max(1)), v.time.rem_euclid(longer.ii.max(1)));
    }
    longer
}

/// Every use in one iteration of the outermost loop, and when its operation starts.
struct Held<'r> {
    uses: Vec<ResourceUse>,
    time: Vec<i128>,
    report: &'r mut Report,
}

impl Held<'_> {
    fn starts(&mut self, loops: &[LoopGraph], at: usize, nest: &NestAnswer, from: i128) {
        let Some(graph) = loops.get(at) else { return };
        let graph = &*waited(graph);
        let bound = bindings::bound(graph, &nest.answer, self.report);
        for v in &nest.answer.nodes {
            let Some(node) = bound.nodes.get(v.id) else { continue };
            let start = from + i128::from(v.time);
            let run = nest.inner.iter().find(|r| r.node == v.id).filter(|_| node.inner.is_some());
            for u in &node.uses {
                // Those of an inner loop end so long after it does.
                let longer =
                    |r: &InnerRun| u.duration.saturating_add(r.run.unsigned_abs()).saturating_sub(u.start);
                let run = run.filter(|_| !is_interleaved(&graph.resources, &u.resource));
                self.uses.push(ResourceUse { duration: run.map_or(u.duration, longer), ..u.clone() });
                self.time.push(start);
            }
            let inner = node.inner.as_ref().and_then(|told| loops.iter().position(|g| g.name == told.name));
            let (Some(run), Some(inner)) = (run, inner) else { continue };
            for trip in 0..run.trips {
                if self.uses.len() > MOST_STARTS {
                    self.report.add(Kind::Nest, format!("node {}", v.id), "too many starts to look at");
                    return;
                }
                let begun = start + i128::from(trip) * i128::from(run.nest.answer.ii);
                self.starts(loops, inner, &run.nest, begun);
            }
        }
    }
}
