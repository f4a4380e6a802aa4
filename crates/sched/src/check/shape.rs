//! S72: every operation and value once.

use super::report::Report;
use super::violation::ScheduleViolationKind as Kind;
use crate::model::answer::Answer;
use crate::model::graph::LoopGraph;
use std::collections::BTreeMap;

/// S72. Whether the rest can be checked at all.
pub(super) fn check(graph: &LoopGraph, answer: &Answer, report: &mut Report) -> bool {
    let mut sound = true;
    let mut complain = |at: String, message: String| {
        sound = false;
        report.add(Kind::Shape, at, message);
    };
    if answer.ii < 1 {
        complain("ii".to_owned(), format!("II {} is below 1", answer.ii));
    }
    for v in graph.nodes.iter().filter(|v| v.inner.is_some()) {
        complain(format!("node {}", v.id), "it is a loop: `check::nest` looks at both".to_owned());
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
