//! The entry point (S28).

use crate::binding::bind::bind;
use crate::driver::fixed::schedule_fixed;
use crate::model::answer::Answer;
use crate::model::error::ScheduleError;
use crate::model::options::ScheduleOptions;
use crate::model::validate::ValidGraph;
use crate::partition::assign::assign;

/// Schedules a loop; with [`ScheduleOptions::partition`], or a machine in the graph, it also says which
/// partition issues what (S97). Where uses have alternatives, it says which resource each of them takes (S103).
///
/// Every answer has passed [`check::times`](crate::check::times); debug builds run [`check::all`](crate::check::all).
///
/// # Errors
/// [`ScheduleError::Infeasible`] when it is proved that there is no schedule (only windows, `max_depth` or
/// `max_ii` can cause that), [`ScheduleError::GaveUp`] when none was found within the limits,
/// [`ScheduleError::BadOption`] for options out of range, [`ScheduleError::Partitions`] when no assignment to
/// partitions keeps S61 to S63.
pub fn schedule(graph: &ValidGraph<'_>, options: &ScheduleOptions) -> Result<Answer, ScheduleError> {
    if graph.whole().has_alternatives() {
        let machine = options.partition.is_some() || graph.whole().partition_model.is_some();
        return match machine {
            true => Err(ScheduleError::Partitions(
                "uses with alternatives are not bound while partitions are searched for: bind them first"
                    .to_owned(),
            )),
            false => bind(graph, options),
        };
    }
    match options.partition.as_ref().or(graph.whole().partition_model.as_ref()) {
        Some(model) => assign(graph, model, options),
        None => schedule_fixed(graph, options),
    }
}
