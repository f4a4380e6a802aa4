//! Scheduling within a memory budget: II and ring depths together (S55-S60).

use crate::bounds::least_ii::bounds_of;
use crate::driver::fixed::{bound_by_search, finish, schedule_fixed, self_check};
use crate::driver::sweep::Sweep;
use crate::model::answer::{Algorithm, Answer, SpaceUse};
use crate::model::budget::MemoryBudget;
use crate::model::error::ScheduleError;
use crate::model::graph::LoopGraph;
use crate::model::graph_error::{GraphError, GraphErrorKind, GraphErrors};
use crate::model::guard::Guard;
use crate::model::options::ScheduleOptions;
use crate::model::problem::{Cap, own_caps};
use crate::model::validate::ValidGraph;
use crate::post::normal::{Found, normal_form};
use std::time::Duration;

/// A schedule that is there whatever the time limit is looked for with such parts of the steps.
const PARTS: [u64; 4] = [64, 16, 4, 1];

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
    let free = without_budget(graph, &options.clone().slack_slots(0))?;
    let depths: Vec<u64> = free.values.iter().map(|v| v.depth).collect();
    if budget.overfilled(g, &depths).is_none() {
        return Ok(with_spaces(g, budget, free.clone(), &free));
    }
    // The limit is for both together.
    let spent = Duration::from_micros(free.micros);
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

/// The schedule without a budget. Where windows or greatest depths need a search to find any, the clock does not end it,
/// but counted steps do, few at first (S100).
fn without_budget(graph: &ValidGraph<'_>, options: &ScheduleOptions) -> Result<Answer, ScheduleError> {
    // By then the time is up.
    let ended = options.clone().time_limit(options.time_limit.map(|_| Duration::ZERO));
    let mut guard = Guard::new(&ended);
    let found = schedule_fixed(graph, options);
    let hurried = options.time_limit.is_some() || options.observer.is_some();
    if !hurried || !matches!(found, Err(ScheduleError::GaveUp { .. })) {
        return found;
    }
    let searched = matches!(options.algorithm, Algorithm::Auto | Algorithm::Exact);
    let algorithm = if searched { Algorithm::Auto } else { options.algorithm };
    let counted = ScheduleOptions { algorithm, time_limit: None, observer: None, ..options.clone() };
    let mii = bounds_of(&graph.problem).mii;
    for part in PARTS {
        let counted = counted.clone().steps(options.steps / part);
        for strict in [false, true] {
            let caps = own_caps(graph.whole()).into_iter().map(|cap| cap.map(|cap| Cap { strict, ..cap }));
            let problem = graph.problem.with_caps(graph.whole(), &caps.collect::<Vec<_>>());
            let scanned = bound_by_search(&problem, &counted, &mut Guard::new(&counted));
            let Ok((proved, Some((ii, time)))) = scanned else { continue };
            // What a reader must not do in the writer's cycle proves nothing.
            let lower_bound = if strict { mii } else { proved };
            let known = Found { ii, time, lower_bound, length_optimal: false, steps: 0 };
            guard.expired();
            if let Ok(answer) = finish(graph, &ended, known, &mut guard) {
                return Ok(Answer { stopped_by: guard.stopped_by(), micros: guard.micros(), ..answer });
            }
        }
    }
    found
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
