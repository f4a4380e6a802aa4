//! The entry point: bounds, search, normal form, check (S28).

use crate::answer::Answer;
use crate::auto::Session;
use crate::bounds::bounds_of;
use crate::check;
use crate::error::ScheduleError;
use crate::guard::Guard;
use crate::normal::normal_form;
use crate::options::Options;
use crate::problem::own_caps;
use crate::validate::ValidGraph;

/// Schedules a loop.
///
/// Every answer has passed [`check::times`]; debug builds run [`check::all`].
///
/// # Errors
/// [`ScheduleError::Infeasible`] when it is proved that there is no schedule (only windows, `max_depth` or
/// `max_ii` can cause that), [`ScheduleError::GaveUp`] when none was found within the limits,
/// [`ScheduleError::BadOption`] for options out of range.
pub fn schedule(graph: &ValidGraph<'_>, options: &Options) -> Result<Answer, ScheduleError> {
    if options.min_ii < 1 {
        let message = format!("{} is below 1", options.min_ii);
        return Err(ScheduleError::BadOption { option: "min_ii", message });
    }
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
    let found = Session::new(problem, options, &mut guard).run(&bounds)?;
    let mut answer = normal_form(graph, &bounds, found, options.algorithm);
    answer.stopped_by = guard.stopped_by();
    answer.micros = guard.micros();
    self_check(graph, &answer)?;
    Ok(answer)
}

/// Believe no search before the checker has seen the answer (S43).
fn self_check(graph: &ValidGraph<'_>, answer: &Answer) -> Result<(), ScheduleError> {
    let verdict = if cfg!(debug_assertions) {
        check::all(graph.graph(), answer)
    } else {
        check::times(graph.graph(), answer)
    };
    verdict.map_err(|v| ScheduleError::Check(v.first().map(ToString::to_string).unwrap_or_default()))
}
