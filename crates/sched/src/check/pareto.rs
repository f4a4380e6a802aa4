//! S100: a curve of the II against bytes.

use super::every::all;
use super::report::Report;
use super::violation::{ScheduleViolationKind as Kind, ScheduleViolations};
use crate::model::graph::LoopGraph;
use crate::model::pareto::ParetoCurve;

/// Checks the schedule of every point, the bytes it takes of the space, and that each has fewer bytes, a greater II and no lower
/// a bound than the one before. That no schedule lies below the curve is not checked.
///
/// # Errors
/// All violations found.
pub fn pareto(graph: &LoopGraph, curve: &ParetoCurve) -> Result<(), ScheduleViolations> {
    let mut report = Report::default();
    for (i, point) in curve.points.iter().enumerate() {
        all(graph, &point.answer).err().into_iter().flatten().for_each(|v| {
            report.add(v.kind, v.at, format!("point {i}: {}", v.message));
        });
        let told = point.answer.spaces.iter().find(|s| s.space == curve.space);
        if told.map(|s| s.used) != Some(point.bytes) {
            report.add(
                Kind::Budget,
                format!("point {i}"),
                format!("{} bytes, the answer has others", point.bytes),
            );
        }
    }
    for (i, pair) in curve.points.windows(2).enumerate() {
        let [more, fewer] = pair else { continue };
        let (a, b) = (&more.answer, &fewer.answer);
        if fewer.bytes >= more.bytes || b.ii <= a.ii || b.lower_bound < a.lower_bound {
            let message = format!(
                "II {} (bound {}) with {} bytes, then {} ({}) with {}",
                a.ii, a.lower_bound, more.bytes, b.ii, b.lower_bound, fewer.bytes
            );
            report.add(Kind::Budget, format!("point {}", i + 1), message);
        }
    }
    report.verdict()
}
