//! S80: the footprint within each budget, where the answer was made for one.

use super::report::Report;
use super::shape;
use super::violation::{ScheduleViolationKind as Kind, ScheduleViolations};
use crate::model::answer::Answer;
use crate::model::graph::LoopGraph;

/// Checks the footprints an answer states against its depths and its budgets (S80).
///
/// # Errors
/// All violations found.
pub fn budget(graph: &LoopGraph, answer: &Answer) -> Result<(), ScheduleViolations> {
    let mut report = Report::default();
    if shape::check(graph, answer, &mut report) {
        check(graph, answer, &mut report);
    }
    report.verdict()
}

pub(super) fn check(graph: &LoopGraph, answer: &Answer, report: &mut Report) {
    for s in &answer.spaces {
        let mut need = u128::from(graph.reserved.get(&s.space).copied().unwrap_or(0));
        for v in graph.values.iter().filter(|v| v.space == s.space) {
            let depth = answer.values.iter().find(|d| d.id == v.id).map_or(0, |d| d.depth);
            need += u128::from(v.bytes) * u128::from(depth);
        }
        let need = need.min(u64::MAX.into());
        let at = format!("space {}", s.space);
        // Sharing and alignment may make the stated use differ from this sum; more than the budget it never is.
        if u128::from(s.used) > u128::from(s.budget) {
            report.add(Kind::Budget, at, format!("{} bytes used, {} there are", s.used, s.budget));
        } else if u128::from(s.used) < need {
            report.add(Kind::Budget, at, format!("{} bytes stated, the depths need {need}", s.used));
        }
    }
}
