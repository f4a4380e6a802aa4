//! A schedule of several iterations at once, in terms of the source loop (S101): S72 to S74 of every copy.

use super::exits::waited;
use super::report::Report;
use super::violation::{ScheduleViolationKind as Kind, ScheduleViolations};
use crate::model::graph::LoopGraph;
use crate::model::rational::UnrolledAnswer;
use std::collections::BTreeMap;

/// Checks the starts of all copies against the dependences and units of the source loop: copy c starts for iteration
/// `i * factor + c` at its time plus `i * ii`. The rings of the copies, and that no other factor is better, are not checked.
///
/// # Errors
/// All violations found.
pub fn unrolled(graph: &LoopGraph, answer: &UnrolledAnswer) -> Result<(), ScheduleViolations> {
    let mut report = Report::default();
    let graph = &*waited(graph);
    let (factor, ii) = (i128::from(answer.factor), i128::from(answer.answer.ii));
    let mut starts: BTreeMap<(usize, i128), i128> = BTreeMap::new();
    for c in &answer.copies {
        if starts.insert((c.node, i128::from(c.copy)), i128::from(c.time)).is_some() {
            report.add(Kind::Shape, format!("node {}", c.node), format!("copy {} is there twice", c.copy));
        }
    }
    let all = |v: usize| (0..factor).all(|c| starts.contains_key(&(v, c)));
    let complete =
        (0..graph.nodes.len()).all(all) && starts.len() as i128 == graph.nodes.len() as i128 * factor;
    if factor < 1 || ii < 1 || !complete {
        report.add(
            Kind::Shape,
            "copies",
            format!("expected {factor} of each operation, at an II of at least 1"),
        );
    }
    let [cycles, iterations] = answer.lower_bound.map(i128::from);
    if iterations < 1
        || cycles * factor > ii * iterations
        || answer.optimal != (cycles * factor == ii * iterations)
    {
        let message = format!("bound {cycles}/{iterations}, II {ii}/{factor}, optimal {}", answer.optimal);
        report.add(Kind::Bounds, "lower_bound", message);
    }
    if complete && factor >= 1 && ii >= 1 {
        dependences(graph, (factor, ii), &starts, &mut report);
        units(graph, &taken(graph, answer, &mut report), (factor, ii), &starts, &mut report);
    }
    report.verdict()
}

fn dependences(
    graph: &LoopGraph,
    (factor, ii): (i128, i128),
    starts: &BTreeMap<(usize, i128), i128>,
    report: &mut Report,
) {
    let edges = graph.edges.iter().map(|e| (e.src, e.dst, e.latency, e.distance));
    let implied = graph.values.iter();
    let implied = implied.flat_map(|v| v.uses.iter().map(|u| (v.def, u.node, v.start, u.distance)));
    // Start of iteration i.
    let at = |node: usize, i: i128| {
        starts.get(&(node, i.rem_euclid(factor))).map_or(0, |t| t + ii * i.div_euclid(factor))
    };
    for (src, dst, latency, distance) in edges.chain(implied) {
        for c in 0..factor {
            let (have, need) = (at(dst, c + i128::from(distance)), at(src, c) + i128::from(latency));
            if have < need {
                let message = format!("of copy {c}: {have} is before {need}");
                report.add(Kind::Dependence, format!("{src} -> {dst}"), message);
            }
        }
    }
}

/// The resources that uses with alternatives take, by operation, copy and position (S103).
type Taken<'a> = BTreeMap<(usize, i128, usize), &'a str>;

fn taken<'a>(graph: &'a LoopGraph, answer: &'a UnrolledAnswer, report: &mut Report) -> Taken<'a> {
    let n = graph.nodes.len().max(1);
    let mut taken = Taken::new();
    for b in &answer.answer.bindings {
        taken.insert((b.node % n, (b.node / n) as i128, b.at), &b.resource);
    }
    for v in &graph.nodes {
        for (at, u) in v.uses.iter().enumerate().filter(|(_, u)| !u.alternatives.is_empty()) {
            for c in 0..i128::from(answer.factor) {
                let told = taken.get(&(v.id, c, at));
                if !told.is_some_and(|&r| u.resource == r || u.alternatives.iter().any(|a| a == r)) {
                    let message = format!("of copy {c}: {told:?} is none of its alternatives");
                    report.add(Kind::Binding, format!("node {}, use {at}", v.id), message);
                }
            }
        }
    }
    taken
}

fn units(
    graph: &LoopGraph,
    taken: &Taken<'_>,
    (factor, ii): (i128, i128),
    starts: &BTreeMap<(usize, i128), i128>,
    report: &mut Report,
) {
    for r in &graph.resources {
        if r.interleaved {
            let own = graph.nodes.iter().flat_map(|v| &v.uses).filter(|u| u.resource == r.name);
            let cycles = own.map(|u| i128::from(u.duration) * factor).sum::<i128>();
            if cycles > ii * i128::from(r.count) {
                let message = format!("{cycles} cycles taken in turn in {ii} on {} units", r.count);
                report.add(Kind::Resource, format!("{} in all", r.name), message);
            }
            continue;
        }
        let (mut load, mut change) = (0i128, BTreeMap::<i128, i128>::new());
        for node in &graph.nodes {
            for (at, u) in node.uses.iter().enumerate() {
                let held =
                    |c: i128| taken.get(&(node.id, c, at)).map_or(u.resource == r.name, |t| *t == r.name);
                for c in (0..factor).filter(|c| held(*c)) {
                    let from =
                        (starts.get(&(node.id, c)).map_or(0, |t| *t) + i128::from(u.start)).rem_euclid(ii);
                    let (rest, whole) = (i128::from(u.duration) % ii, i128::from(u.duration) / ii);
                    load += whole;
                    if rest > 0 {
                        *change.entry(from).or_default() += 1;
                        *change.entry((from + rest) % ii).or_default() -= 1;
                        if from + rest >= ii {
                            *change.entry(0).or_default() += 1;
                        }
                    }
                }
            }
        }
        // Whole turns are held at every cycle, also where nothing else changes.
        change.entry(0).or_default();
        for (cycle, step) in change {
            load += step;
            if load > i128::from(r.count) {
                let message = format!("{load} held, there are {}", r.count);
                report.add(Kind::Resource, format!("{} at cycle {cycle}", r.name), message);
            }
        }
    }
}
