//! From start times to an answer in normal form (S21-S24).

use crate::bounds::least_ii::Bounds;
use crate::model::answer::{Algorithm, Answer, NodeTime, ScheduleOutcome, ValueDepth};
use crate::model::int::div_ceil;
use crate::model::validate::ValidGraph;
use crate::post::depth::{depths_of, total_bytes};
use crate::post::order::body_order;

/// What a search found out.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub ii: i64,
    pub time: Vec<i64>,
    /// Every smaller II is refuted.
    pub lower_bound: i64,
    pub length_optimal: bool,
    pub steps: u64,
}

/// Shifts the least time to 0 and derives stage, cycle, order, counts and depths.
pub(crate) fn normal_form(
    valid: &ValidGraph<'_>,
    bounds: &Bounds,
    found: Found,
    algorithm: Algorithm,
) -> Answer {
    let (graph, problem) = (valid.whole(), &valid.problem);
    let Found { ii, mut time, lower_bound, length_optimal, steps } = found;
    let least = time.iter().copied().min().unwrap_or(0);
    time.iter_mut().for_each(|t| *t -= least);
    let order = body_order(problem, graph, ii, &time);
    let depths = depths_of(graph, ii, &time, &order);
    let length = problem.length(&time);
    let nodes = time.iter().zip(&order).enumerate().map(|(id, (&time, &order))| NodeTime {
        id,
        time,
        stage: time / ii,
        cycle: time % ii,
        order,
        partition: graph.nodes.get(id).and_then(|v| v.partition),
    });
    let optimal = ii == lower_bound;
    Answer {
        name: graph.name.clone(),
        outcome: if optimal { ScheduleOutcome::ProvenOptimal } else { ScheduleOutcome::Best },
        ii,
        mii: bounds.mii,
        res_mii: bounds.res_mii,
        rec_mii: bounds.rec_mii,
        lower_bound,
        optimal,
        length,
        length_optimal,
        stages: time.iter().max().map_or(0, |t| t / ii) + 1,
        in_flight: div_ceil(length, ii).max(1),
        algorithm,
        steps,
        micros: 0,
        nodes: nodes.collect(),
        values: depths
            .iter()
            .map(|d| ValueDepth { id: d.id, depth: d.depth, lifetime: d.lifetime })
            .collect(),
        bytes: (!depths.is_empty()).then(|| total_bytes(graph, &depths)),
        rec_ratio: bounds.rec_ratio.map(|(p, q)| [p, q]),
        critical_recurrence: bounds.critical_recurrence.clone(),
        critical_resource: bounds.critical_resource.and_then(|r| Some(graph.resources.get(r)?.name.clone())),
        partitions: graph.partitions.clone(),
        split: None,
        bindings: Vec::new(),
        spaces: Vec::new(),
        stopped_by: None,
        start_refused: None,
    }
}
