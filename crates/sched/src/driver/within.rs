//! Scheduling within a memory budget: II and ring depths together (S55-S60).

use crate::bounds::least_ii::bounds_of;
use crate::driver::fixed::{schedule_fixed, self_check};
use crate::driver::sweep::Sweep;
use crate::model::answer::{Answer, SpaceUse};
use crate::model::budget::MemoryBudget;
use crate::model::error::ScheduleError;
use crate::model::graph::LoopGraph;
use crate::model::graph_error::{GraphError, GraphErrorKind, GraphErrors};
use crate::model::guard::Guard;
use crate::model::options::ScheduleOptions;
use crate::model::validate::ValidGraph;
use crate::post::normal::normal_form;

/// The least II at which some depths within the budget have a schedule, then the least bytes (S57).
///
/// The answer's `spaces` say what is used, which values have fewer slots than without the budget, and the II
/// without it.
///
/// # Errors
/// [`ScheduleError::BudgetInfeasible`] when even the least depths are too much, [`ScheduleError::Graph`] when a
/// value lies in a space without a budget, and those of [`schedule`](crate::schedule()).
pub fn schedule_within(
    graph: &ValidGraph<'_>,
    budget: &MemoryBudget<'_>,
    options: &ScheduleOptions,
) -> Result<Answer, ScheduleError> {
    let g = graph.whole();
    if options.partition.is_some() || g.partition_model.is_some() {
        let message = "partitions are not searched for within a budget: schedule with them first".to_owned();
        return Err(ScheduleError::BadOption { option: "partition", message });
    }
    if g.has_alternatives() {
        let message = "uses with alternatives are not bound within a budget: bind them first".to_owned();
        return Err(ScheduleError::BadOption { option: "budget", message });
    }
    let unknown = g.values.iter().enumerate().filter(|(_, v)| !budget.spaces.contains_key(&v.space));
    let errors: Vec<GraphError> = unknown
        .map(|(i, v)| GraphError {
            at: format!("values[{i}]"),
            kind: GraphErrorKind::UnknownSpace(v.space.clone()),
        })
        .take(100)
        .collect();
    if let Some(errors) = GraphErrors::of(errors) {
        return Err(ScheduleError::Graph(errors));
    }
    let free = schedule_fixed(graph, &options.clone().slack_slots(0))?;
    let depths: Vec<u64> = free.values.iter().map(|v| v.depth).collect();
    if budget.overfilled(g, &depths).is_none() {
        return Ok(with_spaces(g, budget, free.clone(), &free));
    }
    // The limit is for both together.
    let spent = std::time::Duration::from_micros(free.micros);
    let left = options.clone().time_limit(options.time_limit.map(|limit| limit.saturating_sub(spent)));
    let mut guard = Guard::new(&left);
    let bounds = bounds_of(&graph.problem);
    let mut sweep = Sweep::new(graph, budget, &left, &free)?;
    let found = sweep.run(&bounds, &mut guard)?;
    let mut answer = normal_form(graph, &bounds, found, options.algorithm);
    answer.stopped_by = guard.stopped_by();
    answer.start_refused = options.start.as_ref().map(|_| "it does not keep the budget".to_owned());
    answer.micros = free.micros.saturating_add(guard.micros());
    let answer = with_spaces(g, budget, answer, &free);
    self_check(graph, &answer)?;
    Ok(answer)
}

fn with_spaces(graph: &LoopGraph, budget: &MemoryBudget<'_>, mut answer: Answer, free: &Answer) -> Answer {
    let depths: Vec<u64> = answer.values.iter().map(|v| v.depth).collect();
    let used = budget.price(graph, &depths);
    let spaces = budget.spaces.iter().filter(|(space, _)| graph.values.iter().any(|v| v.space == **space));
    let cut = |space: &str| {
        let shorter = answer.values.iter().zip(&free.values).zip(&graph.values);
        let shorter = shorter.filter(|((a, f), v)| v.space == space && a.depth < f.depth);
        shorter.map(|((a, _), _)| a.id).collect()
    };
    let spaces = spaces.map(|(space, have)| SpaceUse {
        space: space.clone(),
        used: used.get(space).copied().unwrap_or(0),
        budget: *have,
        cut: cut(space),
        unlimited_ii: free.ii,
    });
    answer.spaces = spaces.collect();
    answer
}
