//! All checks of a plain answer, in the order of the rules.

use super::exits::waited;
use super::report::Report;
use super::violation::ScheduleViolations;
use super::{bindings, bounds, budget, depths, form, replay, shape, times};
use crate::model::answer::Answer;
use crate::model::graph::LoopGraph;

/// Every check that applies to a plain answer: S72-S80 and S82.
///
/// # Errors
/// All violations found. When the shape is broken (S72), nothing else is looked at.
pub fn all(graph: &LoopGraph, answer: &Answer) -> Result<(), ScheduleViolations> {
    let mut report = Report::default();
    let graph = &*waited(graph);
    if shape::check(graph, answer, &mut report) {
        bounds::check(&bindings::merged(graph), answer, &mut report);
        let graph = &*bindings::bound(graph, answer, &mut report);
        times::check(graph, answer, &mut report);
        form::check(graph, answer, &mut report);
        depths::check(graph, answer, &mut report);
        budget::check(graph, answer, &mut report);
        replay::check(graph, answer, &mut report);
    }
    report.verdict()
}
