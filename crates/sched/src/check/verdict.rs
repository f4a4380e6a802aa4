//! A verdict on a schedule that someone else made, from its JSON text.

use super::every::all;
use super::start::start;
use super::violation::{ScheduleViolation, ScheduleViolations};
use crate::json::read::read;
use crate::model::answer::Answer;
use crate::model::graph::LoopGraph;
use crate::model::read_error::ReadError;
use crate::model::start::StartSchedule;
use std::fmt;

/// What the checker says about a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleVerdict {
    /// Whether the schedule was a whole answer, so that all checks ran, and not only II and start times.
    pub complete: bool,
    /// The broken rules, none for a good schedule.
    pub violations: Vec<ScheduleViolation>,
}

impl fmt::Display for ScheduleVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scope = if self.complete { "S72-S82" } else { "II and start times: S72-S74" };
        if self.violations.is_empty() {
            return writeln!(f, "good schedule ({scope})");
        }
        writeln!(f, "bad schedule ({scope}): {} violations", self.violations.len())?;
        self.violations.iter().try_for_each(|v| writeln!(f, "  {v}"))
    }
}

/// Checks a schedule given as JSON: a whole answer (S27), or just `{"ii":..,"nodes":[{"id":..,"time":..},..]}`.
///
/// # Errors
/// [`ReadError`] where the text is neither.
pub fn verdict(graph: &LoopGraph, schedule: &str) -> Result<ScheduleVerdict, ReadError> {
    if let Ok(answer) = read::<Answer>(schedule) {
        return Ok(ScheduleVerdict { complete: true, violations: listed(all(graph, &answer)) });
    }
    let bare: StartSchedule = read(schedule)?;
    Ok(ScheduleVerdict { complete: false, violations: listed(start(graph, &bare)) })
}

fn listed(verdict: Result<(), ScheduleViolations>) -> Vec<ScheduleViolation> {
    verdict.err().into_iter().flatten().collect()
}
