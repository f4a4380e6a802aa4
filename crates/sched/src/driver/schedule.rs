//! The entry point (S28).

use crate::driver::fixed::schedule_fixed;
use crate::model::answer::Answer;
use crate::model::error::ScheduleError;
use crate::model::options::ScheduleOptions;
use crate::model::validate::ValidGraph;
use crate::partition::assign::assign;

/// Schedules a loop; with [`ScheduleOptions::partition`], or a machine in the graph, it also says which
/// partition issues what (S97).
///
/// Every answer has passed [`check::times`](crate::check::times); debug builds run [`check::all`](crate::check::all).
///
/// # Errors
/// [`ScheduleError::Infeasible`] when it is proved that there is no schedule (only windows, `max_depth` or
/// `max_ii` can cause that), [`ScheduleError::GaveUp`] when none was found within the limits,
/// [`ScheduleError::BadOption`] for options out of range, [`ScheduleError::Partitions`] when no assignment to
/// partitions keeps S61 to S63.
pub fn schedule(graph: &ValidGraph<'_>, options: &ScheduleOptions) -> Result<Answer, ScheduleError> {
    match options.partition.as_ref().or(graph.graph().partition_model.as_ref()) {
        Some(model) => assign(graph, model, options),
        None => schedule_fixed(graph, options),
    }
}
