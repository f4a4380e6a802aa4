//! S79: ring depths by both laws, their range, and equal depths in groups.

use super::report::{Report, ceil_div, times_by_id};
use super::shape;
use super::violation::{ScheduleViolationKind as Kind, ScheduleViolations};
use crate::model::answer::Answer;
use crate::model::graph::LoopGraph;
use std::collections::BTreeMap;

/// Checks the ring depths of an answer against S79.
///
/// # Errors
/// All violations found.
pub fn depths(graph: &LoopGraph, answer: &Answer) -> Result<(), ScheduleViolations> {
    let mut report = Report::default();
    if shape::check(graph, answer, &mut report) {
        check(graph, answer, &mut report);
    }
    report.verdict()
}

pub(super) fn check(graph: &LoopGraph, answer: &Answer, report: &mut Report) {
    let ii = i128::from(answer.ii);
    let time = times_by_id(answer);
    let mut order = vec![0usize; time.len()];
    for v in &answer.nodes {
        if let Some(slot) = order.get_mut(v.id) {
            *slot = v.order;
        }
    }
    let mut group_depth: BTreeMap<usize, (usize, u64)> = BTreeMap::new();
    for v in &graph.values {
        let Some(given) = answer.values.iter().find(|d| d.id == v.id) else { continue };
        let at = format!("value {}", v.id);
        let Some(&def) = time.get(v.def) else { continue };
        let mut last_read: Option<i128> = None;
        for u in &v.uses {
            let Some(&reader) = time.get(u.node) else { continue };
            let distance = i128::from(u.distance);
            let end = reader + distance * ii + i128::from(u.end);
            last_read = Some(last_read.map_or(end, |l| l.max(end)));
            // S52: slots by stage and position.
            let later = i128::from(order[u.node] > order[v.def]);
            let slots = distance + reader.div_euclid(ii) - def.div_euclid(ii) + later;
            if i128::from(given.depth) < slots {
                let message = format!("depth {}, node {} needs {slots} by S52", given.depth, u.node);
                report.add(Kind::Depth, &at, message);
            }
        }
        let lifetime = last_read.unwrap_or(0) - (def + i128::from(v.start));
        report.same(Kind::Depth, &at, "lifetime", given.lifetime.into(), lifetime);
        let law = ceil_div(lifetime, ii).max(1);
        if i128::from(given.depth) < law {
            let message = format!("depth {}, a lifetime of {lifetime} at II {ii} needs {law}", given.depth);
            report.add(Kind::Depth, &at, message);
        }
        if given.depth < v.min_depth.unwrap_or(1).max(1) || v.max_depth.is_some_and(|max| given.depth > max) {
            let (min, max) =
                (v.min_depth.unwrap_or(1), v.max_depth.map_or("any".to_owned(), |m| m.to_string()));
            report.add(Kind::Depth, &at, format!("depth {} is outside {min}..{max}", given.depth));
        }
        if let Some(group) = v.group {
            let (peer, depth) = *group_depth.entry(group).or_insert((v.id, given.depth));
            if depth != given.depth {
                let message = format!("depth {}, its peer {peer} in group {group} has {depth}", given.depth);
                report.add(Kind::Depth, &at, message);
            }
        }
    }
}
