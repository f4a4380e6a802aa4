//! S73 and S74: dependences and resources.

use super::exits::waited;
use super::report::{Report, times_by_id};
use super::violation::{ScheduleViolationKind as Kind, ScheduleViolations};
use super::{bindings, shape};
use crate::model::answer::Answer;
use crate::model::graph::LoopGraph;
use std::collections::BTreeMap;

/// Checks only II and start times: S72-S74.
///
/// # Errors
/// All violations found.
pub fn times(graph: &LoopGraph, answer: &Answer) -> Result<(), ScheduleViolations> {
    let mut report = Report::default();
    let graph = &*waited(graph);
    if shape::check(graph, answer, &mut report) {
        let graph = &*bindings::bound(graph, answer, &mut report);
        check(graph, answer, &mut report);
    }
    report.verdict()
}

/// S73 and S74.
pub(super) fn check(graph: &LoopGraph, answer: &Answer, report: &mut Report) {
    let time = times_by_id(answer);
    let ii = i128::from(answer.ii);
    check_dependences(graph, ii, &time, report);
    check_resources(graph, ii, &time, report);
}

fn check_dependences(graph: &LoopGraph, ii: i128, time: &[i128], report: &mut Report) {
    let at = |v: usize| time.get(v).copied();
    // The place is spelt only where something is wrong: loops may have a million edges.
    let mut test = |place: &dyn Fn() -> String, src: usize, dst: usize, latency: i64, distance: i64| {
        let (Some(from), Some(to)) = (at(src), at(dst)) else {
            report.add(Kind::Dependence, place(), format!("{src} -> {dst} names an unknown node"));
            return;
        };
        let (have, need) = (to + ii * i128::from(distance), from + i128::from(latency));
        if have < need {
            report.add(
                Kind::Dependence,
                place(),
                format!(
                    "{src} -> {dst}: {to} + {ii}*{distance} = {have} is before {from} + {latency} = {need}"
                ),
            );
        }
    };
    for (i, e) in graph.edges.iter().enumerate() {
        test(&|| format!("edge {i}"), e.src, e.dst, e.latency, e.distance);
    }
    for v in &graph.values {
        for u in &v.uses {
            test(&|| format!("value {}", v.id), v.def, u.node, v.start, u.distance);
        }
    }
}

/// A use: the residue it starts at, its cycles, and who holds it.
type Holder = (i128, i128, usize);

/// Counts every residue of every resource; stretches of equal load are one step.
pub(super) fn check_resources(graph: &LoopGraph, ii: i128, time: &[i128], report: &mut Report) {
    let mut holders: BTreeMap<&str, Vec<Holder>> = BTreeMap::new();
    for (id, node) in graph.nodes.iter().enumerate() {
        for u in node.uses.iter().filter(|u| u.duration > 0) {
            let start = time.get(id).copied().unwrap_or(0) + i128::from(u.start);
            let holder = (start.rem_euclid(ii), i128::from(u.duration), id);
            holders.entry(&u.resource).or_default().push(holder);
        }
    }
    for r in &graph.resources {
        let holders = holders.get(r.name.as_str()).map_or(&[][..], Vec::as_slice);
        if r.interleaved {
            let (taken, there) =
                (holders.iter().map(|(_, cycles, _)| cycles).sum::<i128>(), ii * i128::from(r.count));
            if taken > there {
                let message = format!("{taken} cycles taken in turn, {there} there are");
                report.add(Kind::Resource, format!("{} in all", r.name), message);
            }
            continue;
        }
        let (everywhere, change) = changes(holders, ii);
        let count = i128::from(r.count);
        if everywhere > count {
            let names = names_at(holders, 0, ii);
            report.add(
                Kind::Resource,
                format!("{} at every cycle", r.name),
                format!("{everywhere} units held, {count} there are; by {names}"),
            );
        }
        let mut load = everywhere;
        for same in change.chunk_by(|a, b| a.0 == b.0) {
            let before = load;
            load += same.iter().map(|(_, step)| step).sum::<i128>();
            if load > count && load > before {
                let residue = same[0].0;
                let names = names_at(holders, residue, ii);
                report.add(
                    Kind::Resource,
                    format!("{} at cycle {residue}", r.name),
                    format!("{load} units held, {count} there are; by {names}"),
                );
            }
        }
    }
}

/// The units held at every cycle, and the changes of the load beyond them, by residue.
fn changes(holders: &[Holder], ii: i128) -> (i128, Vec<(i128, i128)>) {
    let mut everywhere: i128 = 0;
    let mut change: Vec<(i128, i128)> = Vec::with_capacity(2 * holders.len());
    for &(from, duration, _) in holders {
        everywhere += duration / ii;
        let rest = duration % ii;
        if rest > 0 {
            change.push((from, 1));
            change.push(((from + rest) % ii, -1));
            // It wraps past the end of the table onto cycle 0; or its end is the end of the table, not cycle 0.
            if from + rest >= ii {
                change.push((0, 1));
            }
        }
    }
    change.sort_unstable();
    (everywhere, change)
}

/// The nodes that hold a unit at this residue.
fn names_at(holders: &[Holder], residue: i128, ii: i128) -> String {
    let here = holders.iter().filter(|(from, duration, _)| (residue - from).rem_euclid(ii) < *duration);
    let mut ids: Vec<String> = here.map(|(_, _, id)| format!("node {id}")).take(9).collect();
    if ids.len() == 9 {
        ids.pop();
        ids.push("others".to_owned());
    }
    ids.join(", ")
}
