//! S72 to S74 of nothing but an II and start times.

use super::times::times;
use super::violation::ScheduleViolations;
use crate::model::answer::{Algorithm, Answer, NodeTime, ScheduleOutcome, ValueDepth};
use crate::model::graph::LoopGraph;
use crate::model::start::StartSchedule;

/// Checks that a schedule to begin with has every operation, and keeps all dependences and units. Rings with a greatest
/// number of slots are not looked at.
///
/// # Errors
/// All violations found.
pub fn start(graph: &LoopGraph, start: &StartSchedule) -> Result<(), ScheduleViolations> {
    let nodes = start.nodes.iter().map(|v| NodeTime {
        id: v.id,
        time: v.time,
        stage: v.time.checked_div_euclid(start.ii).unwrap_or(0),
        cycle: v.time.checked_rem_euclid(start.ii).unwrap_or(0),
        order: 0,
        partition: None,
    });
    let answer = Answer {
        name: graph.name.clone(),
        outcome: ScheduleOutcome::Best,
        ii: start.ii,
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
        bindings: Vec::new(),
        spaces: Vec::new(),
        stopped_by: None,
        start_refused: None,
    };
    times(graph, &answer)
}
