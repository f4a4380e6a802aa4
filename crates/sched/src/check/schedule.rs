//! S72-S77: shape, dependences, resources, normal form, order, counts.

use super::{Report, Violation, ViolationKind as Kind, bounds, ceil_div, times_by_id};
use crate::answer::Answer;
use crate::graph::LoopGraph;
use std::collections::BTreeMap;

/// Checks a schedule against S72-S78.
///
/// # Errors
/// All violations found, in the order of the rules.
pub fn schedule(graph: &LoopGraph, answer: &Answer) -> Result<(), Vec<Violation>> {
    let mut report = Report::default();
    if check_shape(graph, answer, &mut report) {
        check_times(graph, answer, &mut report);
        check_form(graph, answer, &mut report);
        bounds::check(graph, answer, &mut report);
    }
    report.verdict()
}

/// Checks only II and start times: S72-S74.
///
/// # Errors
/// All violations found.
pub fn times(graph: &LoopGraph, answer: &Answer) -> Result<(), Vec<Violation>> {
    let mut report = Report::default();
    if check_shape(graph, answer, &mut report) {
        check_times(graph, answer, &mut report);
    }
    report.verdict()
}

/// S72. Whether the rest can be checked at all.
pub(super) fn check_shape(graph: &LoopGraph, answer: &Answer, report: &mut Report) -> bool {
    let mut sound = true;
    let mut complain = |at: String, message: String| {
        sound = false;
        report.add(Kind::Shape, at, message);
    };
    if answer.ii < 1 {
        complain("ii".to_owned(), format!("II {} is below 1", answer.ii));
    }
    let mut times_seen = vec![0u32; graph.nodes.len()];
    for v in &answer.nodes {
        match times_seen.get_mut(v.id) {
            Some(seen) => *seen += 1,
            None => {
                complain(format!("node {}", v.id), format!("unknown; the loop has {}", graph.nodes.len()))
            }
        }
    }
    for (id, seen) in times_seen.iter().enumerate().filter(|(_, seen)| **seen != 1) {
        complain(format!("node {id}"), format!("placed {seen} times, expected 1"));
    }
    let mut wanted: BTreeMap<usize, i64> = BTreeMap::new();
    graph.values.iter().for_each(|v| *wanted.entry(v.id).or_default() += 1);
    answer.values.iter().for_each(|v| *wanted.entry(v.id).or_default() -= 1);
    for (id, off) in wanted.into_iter().filter(|(_, off)| *off != 0) {
        complain(format!("value {id}"), format!("listed {} times, expected 1", 1 - off));
    }
    sound
}

/// S73 and S74.
pub(super) fn check_times(graph: &LoopGraph, answer: &Answer, report: &mut Report) {
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
fn check_resources(graph: &LoopGraph, ii: i128, time: &[i128], report: &mut Report) {
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

/// S75-S77.
pub(super) fn check_form(graph: &LoopGraph, answer: &Answer, report: &mut Report) {
    let ii = i128::from(answer.ii);
    let least = answer.nodes.iter().map(|v| v.time).min().unwrap_or(0);
    report.same(Kind::Normal, "nodes", "the least time", least.into(), 0);
    for v in &answer.nodes {
        let at = format!("node {}", v.id);
        let time = i128::from(v.time);
        report.same(Kind::Normal, &at, "stage", v.stage.into(), time.div_euclid(ii));
        report.same(Kind::Normal, &at, "cycle", v.cycle.into(), time.rem_euclid(ii));
    }
    check_order(graph, answer, report);
    check_counts(graph, answer, report);
}

fn check_order(graph: &LoopGraph, answer: &Answer, report: &mut Report) {
    let n = answer.nodes.len();
    let mut at_position: Vec<Option<(usize, i64)>> = vec![None; n];
    let mut order = vec![0usize; n];
    for v in &answer.nodes {
        match at_position.get_mut(v.order) {
            Some(slot @ None) => *slot = Some((v.id, v.cycle)),
            Some(Some((other, _))) => {
                let message = format!("order {} is taken by node {other} already", v.order);
                report.add(Kind::Order, format!("node {}", v.id), message);
            }
            None => {
                let message = format!("order {} is not below {n}", v.order);
                report.add(Kind::Order, format!("node {}", v.id), message);
            }
        }
        if let Some(slot) = order.get_mut(v.id) {
            *slot = v.order;
        }
    }
    let mut before: Option<(usize, i64)> = None;
    for (id, cycle) in at_position.into_iter().flatten() {
        if let Some((other, earlier)) = before
            && earlier > cycle
        {
            let message = format!("cycle {cycle} comes after node {other} of cycle {earlier}");
            report.add(Kind::Order, format!("node {id}"), message);
        }
        before = Some((id, cycle));
    }
    let time = times_by_id(answer);
    let mut test = |place: String, src: usize, dst: usize, distance: i64| {
        let (Some(&from), Some(&to)) = (time.get(src), time.get(dst)) else { return };
        let tight = to + i128::from(answer.ii) * i128::from(distance) == from;
        if tight && src != dst && order[src] > order[dst] {
            let message = format!(
                "{src} -> {dst} of latency 0 is tight, but their orders are {} and {}",
                order[src], order[dst]
            );
            report.add(Kind::Order, place, message);
        }
    };
    for (i, e) in graph.edges.iter().enumerate().filter(|(_, e)| e.latency == 0) {
        test(format!("edge {i}"), e.src, e.dst, e.distance);
    }
    for v in graph.values.iter().filter(|v| v.start == 0) {
        for u in &v.uses {
            test(format!("value {}", v.id), v.def, u.node, u.distance);
        }
    }
}

fn check_counts(graph: &LoopGraph, answer: &Answer, report: &mut Report) {
    let ii = i128::from(answer.ii);
    let time = times_by_id(answer);
    let first = time.iter().copied().min().unwrap_or(0);
    let ends = time.iter().zip(&graph.nodes).map(|(t, v)| t + i128::from(v.latency));
    let length = ends.max().unwrap_or(0) - first;
    let last_stage = time.iter().map(|t| (t - first).div_euclid(ii)).max().unwrap_or(0);
    let mut same = |what, found: i64, expected| report.same(Kind::Counts, what, what, found.into(), expected);
    same("length", answer.length, length);
    same("stages", answer.stages, last_stage + 1);
    same("in_flight", answer.in_flight, ceil_div(length, ii).max(1));
    let mut bytes: u128 = 0;
    for v in &graph.values {
        let depth = answer.values.iter().find(|d| d.id == v.id).map_or(0, |d| d.depth);
        bytes += u128::from(v.bytes) * u128::from(depth);
    }
    let stated = answer.bytes.map(u128::from);
    if stated != Some(bytes) && !(stated.is_none() && graph.values.is_empty()) {
        let stated = stated.map_or("missing".to_owned(), |b| b.to_string());
        report.add(Kind::Counts, "bytes", format!("bytes is {stated}, recomputed {bytes}"));
    }
}
