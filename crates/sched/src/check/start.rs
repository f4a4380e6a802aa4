//! S72 to S74 of nothing but an II and start times.

use super::report::Report;
use super::times::times;
use super::violation::{ScheduleViolationKind as Kind, ScheduleViolations};
use crate::model::answer::{Algorithm, Answer, NodeTime, ScheduleOutcome, ValueDepth};
use crate::model::graph::LoopGraph;
use crate::model::start::StartSchedule;

/// From here on sums of times and of IIs over iterations need not fit 64 bits (S2).
const BEYOND: i128 = 1 << 61;

/// Checks that a schedule to begin with has every operation, keeps all dependences and units, and that its numbers are ones
/// to calculate with. Rings with a greatest number of slots are not looked at.
///
/// # Errors
/// All violations found.
pub fn start(graph: &LoopGraph, start: &StartSchedule) -> Result<(), ScheduleViolations> {
    limits(graph, start)?;
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

fn limits(graph: &LoopGraph, start: &StartSchedule) -> Result<(), ScheduleViolations> {
    let mut report = Report::default();
    let reads = graph.values.iter().flat_map(|v| &v.uses).map(|u| u.distance);
    let most = graph.edges.iter().map(|e| e.distance).chain(reads).max().unwrap_or(0);
    if i128::from(start.ii) * (1 + i128::from(most)) >= BEYOND {
        report.add(Kind::Shape, "ii".to_owned(), format!("II {} is too large", start.ii));
    }
    for v in start.nodes.iter().filter(|v| i128::from(v.time).abs() >= BEYOND) {
        report.add(Kind::Shape, format!("node {}", v.id), format!("time {} is too large", v.time));
    }
    report.verdict()
}
