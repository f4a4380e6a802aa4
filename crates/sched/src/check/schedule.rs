//! S72-S78: all that an answer says without buffers.

use super::exits::waited;
use super::report::Report;
use super::violation::ScheduleViolations;
use super::{bindings, bounds, form, shape, times};
use crate::model::answer::Answer;
use crate::model::graph::LoopGraph;

/// Checks a schedule against S72-S78.
///
/// # Errors
/// All violations found, in the order of the rules.
pub fn schedule(graph: &LoopGraph, answer: &Answer) -> Result<(), ScheduleViolations> {
    let mut report = Report::default();
    let graph = &*waited(graph);
    if shape::check(graph, answer, &mut report) {
        bounds::check(&bindings::merged(graph), answer, &mut report);
        let graph = &*bindings::bound(graph, answer, &mut report);
        times::check(graph, answer, &mut report);
        form::check(graph, answer, &mut report);
    }
    report.verdict()
}
