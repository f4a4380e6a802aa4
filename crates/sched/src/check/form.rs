//! S75-S77: normal form, order, counts.

use super::report::{Report, ceil_div, times_by_id};
use super::violation::ScheduleViolationKind as Kind;
use crate::model::answer::Answer;
use crate::model::graph::LoopGraph;

/// S75-S77.
pub(super) fn check(graph: &LoopGraph, answer: &Answer, report: &mut Report) {
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
    // The format has 64 bits for it.
    let bytes = bytes.min(u64::MAX.into());
    let stated = answer.bytes.map(u128::from);
    if stated != Some(bytes) && !(stated.is_none() && graph.values.is_empty()) {
        let stated = stated.map_or("missing".to_owned(), |b| b.to_string());
        report.add(Kind::Counts, "bytes", format!("bytes is {stated}, recomputed {bytes}"));
    }
}
