//! S82: runs the loop with ring slots and looks at what every read sees.
//!
//! Each value is run for `stages + 3 * depth + 3` iterations, but for at most [`MOST_STEPS`] reads in all.

use super::exits::waited;
use super::report::{Report, times_by_id};
use super::shape;
use super::violation::{ScheduleViolationKind as Kind, ScheduleViolations};
use crate::model::answer::Answer;
use crate::model::graph::{LoopGraph, LoopValue};

/// Reads replayed per value at most.
const MOST_STEPS: i128 = 1 << 22;

/// Replays the rings of an answer (S82).
///
/// # Errors
/// All violations found, one per value and reader.
pub fn replay(graph: &LoopGraph, answer: &Answer) -> Result<(), ScheduleViolations> {
    let mut report = Report::default();
    let graph = &*waited(graph);
    if shape::check(graph, answer, &mut report) {
        check(graph, answer, &mut report);
    }
    report.verdict()
}

pub(super) fn check(graph: &LoopGraph, answer: &Answer, report: &mut Report) {
    let time = times_by_id(answer);
    let mut order = vec![0usize; time.len()];
    for v in &answer.nodes {
        if let Some(slot) = order.get_mut(v.id) {
            *slot = v.order;
        }
    }
    for v in &graph.values {
        let depth = answer.values.iter().find(|d| d.id == v.id).map_or(0, |d| d.depth);
        if depth == 0 {
            report.add(Kind::Replay, format!("value {}", v.id), "depth 0, at least 1 slot is needed");
            continue;
        }
        Ring { v, depth: depth.into(), ii: answer.ii.into(), time: &time, order: &order }.run(report);
    }
}

struct Ring<'a> {
    v: &'a LoopValue,
    depth: i128,
    ii: i128,
    time: &'a [i128],
    order: &'a [usize],
}

impl Ring<'_> {
    fn run(&self, report: &mut Report) {
        let stage = |node: usize| self.time[node].div_euclid(self.ii);
        let nodes = self.v.uses.iter().map(|u| u.node).chain([self.v.def]);
        let stages = nodes.map(stage).max().unwrap_or(0) + 1;
        let furthest = self.v.uses.iter().map(|u| i128::from(u.distance)).max().unwrap_or(0);
        let all = stages + furthest + 3 * self.depth + 3;
        let iterations = all.min(MOST_STEPS / (self.v.uses.len() as i128 + 1)).max(1);
        let def_stage = stage(self.v.def);
        for u in &self.v.uses {
            let (distance, use_stage) = (i128::from(u.distance), stage(u.node));
            // In body step k the writer runs iteration k - def_stage, the reader k - use_stage.
            let newest_written = |k: i128, def_before: bool| {
                let newest = k - def_stage - i128::from(!def_before);
                newest.min(iterations - 1)
            };
            let def_before = self.order[self.v.def] < self.order[u.node];
            for i in distance..iterations {
                let (wanted, k) = (i - distance, i + use_stage);
                let newest = newest_written(k, def_before || u.node == self.v.def && distance == 0);
                // The slot holds the newest written instance that is congruent to the wanted one.
                let held = newest - (newest - wanted).rem_euclid(self.depth);
                if held != wanted {
                    let at = format!("value {} read by node {}", self.v.id, u.node);
                    let message = format!("iteration {i} sees instance {held}, expected {wanted}");
                    report.add(Kind::Replay, at, message);
                    break;
                }
                let free = self.time[u.node] + i * self.ii + i128::from(u.end);
                let start = self.time[self.v.def] + i128::from(self.v.start);
                let rewritten = start + (wanted + self.depth) * self.ii;
                if wanted + self.depth < iterations && rewritten < free {
                    let at = format!("value {} read by node {}", self.v.id, u.node);
                    let message =
                        format!("its slot is rewritten from {rewritten} on, the read ends at {free}");
                    report.add(Kind::Replay, at, message);
                    break;
                }
            }
        }
    }
}
