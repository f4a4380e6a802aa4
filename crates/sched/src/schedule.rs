//! The entry point: bounds, incumbent, search, normal form (S28).

use crate::answer::{Algorithm, Answer};
use crate::bounds::{Bounds, bounds_of, next_self_fit, recurrence_bound};
use crate::check;
use crate::error::ScheduleError;
use crate::guard::Guard;
use crate::ims::Ims;
use crate::normal::{Found, normal_form};
use crate::options::Options;
use crate::paths::heads;
use crate::problem::{Problem, own_caps};
use crate::serial::serial;
use crate::validate::ValidGraph;

/// Schedules a loop.
///
/// # Errors
/// [`ScheduleError::Infeasible`] when it is proved that there is no schedule (only windows, `max_depth` or
/// `max_ii` can cause that), [`ScheduleError::GaveUp`] when none was found within the limits,
/// [`ScheduleError::BadOption`] for options out of range.
pub fn schedule(graph: &ValidGraph<'_>, options: &Options) -> Result<Answer, ScheduleError> {
    let mut guard = Guard::new(options.time_limit);
    let bounds = bounds_of(&graph.problem);
    let caps = own_caps(graph.graph());
    let capped;
    let problem = if caps.iter().any(Option::is_some) {
        capped = graph.problem.with_caps(graph.graph(), &caps);
        &capped
    } else {
        &graph.problem
    };
    let found = search(problem, &bounds, options, &mut guard)?;
    let mut answer = normal_form(graph, &bounds, found, options.algorithm);
    answer.stopped_by = guard.stopped_by();
    answer.micros = guard.micros();
    check::times(graph.graph(), &answer)
        .map_err(|v| ScheduleError::Check(v.first().map(ToString::to_string).unwrap_or_default()))?;
    Ok(answer)
}

fn search(
    problem: &Problem,
    bounds: &Bounds,
    options: &Options,
    guard: &mut Guard,
) -> Result<Found, ScheduleError> {
    if options.min_ii < 1 {
        let message = format!("{} is below 1", options.min_ii);
        return Err(ScheduleError::BadOption { option: "min_ii", message });
    }
    let Some(recurrence) = recurrence_bound(&problem.dependences, false) else {
        return Err(ScheduleError::Infeasible { up_to: None });
    };
    let lower = next_self_fit(problem, bounds.mii.max(recurrence.bound));
    let last = options.max_ii.unwrap_or(i64::MAX);
    let first = lower.max(options.min_ii);
    if first > last {
        return Err(ScheduleError::Infeasible { up_to: Some(last) });
    }
    let fallback = serial(problem).filter(|(ii, _)| (first..=last).contains(ii));
    let scan_end = fallback.as_ref().map_or(last, |(ii, _)| *ii);
    let (mut ii, mut steps) = (first, 0);
    if options.algorithm != Algorithm::Serial {
        while ii < scan_end && !guard.expired() {
            let Some(mut ims) = Ims::new(problem, ii) else {
                // Only arcs of negative distance make a larger II worse; no II above can hold.
                break;
            };
            let found = ims.run(u64::from(options.ratio).saturating_mul(problem.n as u64));
            steps += ims.steps;
            if let Some(time) = found {
                let length_optimal = shortest(problem, ii) == Some(crate::normal::length(problem, &time));
                return Ok(Found { ii, time, lower_bound: lower, length_optimal, steps });
            }
            ii = next_self_fit(problem, ii + 1);
        }
    }
    match fallback {
        Some((ii, time)) => {
            let length_optimal = shortest(problem, ii) == Some(crate::normal::length(problem, &time));
            Ok(Found { ii, time, lower_bound: lower, length_optimal, steps })
        }
        None => Err(ScheduleError::GaveUp { lower_bound: lower }),
    }
}

/// The longest path: no schedule at this II is shorter.
fn shortest(problem: &Problem, ii: i64) -> Option<i64> {
    let head = heads(problem, ii)?;
    head.iter().zip(&problem.latency).map(|(h, l)| h + l).max()
}
