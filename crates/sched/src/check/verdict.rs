//! A verdict on a schedule that someone else made, from its JSON text.

use super::every::all;
use super::times::times;
use super::violation::{ScheduleViolation, ScheduleViolations};
use crate::json::read::read;
use crate::model::answer::{Algorithm, Answer, NodeTime, ScheduleOutcome, ValueDepth};
use crate::model::graph::LoopGraph;
use crate::model::read_error::ReadError;
use serde::Deserialize;
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

/// The least that makes a schedule.
#[derive(Deserialize)]
struct Times {
    ii: i64,
    nodes: Vec<Start>,
}

#[derive(Deserialize)]
struct Start {
    id: usize,
    time: i64,
}

/// Checks a schedule given as JSON: a whole answer (S27), or just `{"ii":..,"nodes":[{"id":..,"time":..},..]}`.
///
/// # Errors
/// [`ReadError`] where the text is neither.
pub fn verdict(graph: &LoopGraph, schedule: &str) -> Result<ScheduleVerdict, ReadError> {
    if let Ok(answer) = read::<Answer>(schedule) {
        return Ok(ScheduleVerdict { complete: true, violations: listed(all(graph, &answer)) });
    }
    let bare: Times = read(schedule)?;
    let nodes = bare.nodes.iter().map(|v| NodeTime {
        id: v.id,
        time: v.time,
        stage: v.time.checked_div_euclid(bare.ii).unwrap_or(0),
        cycle: v.time.checked_rem_euclid(bare.ii).unwrap_or(0),
        order: 0,
        partition: None,
    });
    let answer = Answer {
        name: graph.name.clone(),
        outcome: ScheduleOutcome::Best,
        ii: bare.ii,
        mii: 0,
        res_mii: 0,
        rec_mii: 0,
        lower_bound: 0,
        optimal: false,
        length: 0,
        length_optimal: false,
        stages: 0,
        in_flight: 0,
        algorithm: Algorithm::Serial,
        steps: 0,
        micros: 0,
        nodes: nodes.collect(),
        values: graph.values.iter().map(|v| ValueDepth { id: v.id, depth: 1, lifetime: 0 }).collect(),
        bytes: None,
        rec_ratio: None,
        critical_recurrence: Vec::new(),
        critical_resource: None,
        partitions: Vec::new(),
        split: None,
        spaces: Vec::new(),
        stopped_by: None,
    };
    Ok(ScheduleVerdict { complete: false, violations: listed(times(graph, &answer)) })
}

fn listed(verdict: Result<(), ScheduleViolations>) -> Vec<ScheduleViolation> {
    verdict.err().into_iter().flatten().collect()
}
