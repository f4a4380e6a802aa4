//! Partitions and times together: seeds for a schedule at once, then the search (S97).

use super::frame::Frame;
use super::search::Search;
use super::seeds::seeds;
use super::settle::{Candidate, polished, schedule_at};
use crate::model::answer::{Algorithm, Answer, PartitionSplit, SplitAlternative};
use crate::model::error::ScheduleError;
use crate::model::guard::Guard;
use crate::model::options::ScheduleOptions;
use crate::model::partition::PartitionModel;
use crate::model::validate::ValidGraph;
use std::collections::BTreeMap;

/// A seed's schedule may take such a part of the steps.
const SEED_PART: u64 = 20;

/// Gives every operation to a partition and schedules the result; the answer names the partitions (S97).
///
/// # Errors
/// [`ScheduleError::Partitions`] when no assignment keeps the limits of S61-S63, [`ScheduleError::GaveUp`] when none was
/// found, [`ScheduleError::BadOption`] for a machine that is none.
pub(crate) fn assign(
    valid: &ValidGraph<'_>,
    model: &PartitionModel,
    options: &ScheduleOptions,
) -> Result<Answer, ScheduleError> {
    if let Some(message) = model.fault() {
        return Err(ScheduleError::BadOption { option: "partition", message });
    }
    if options.min_ii < 1 {
        let message = format!("{} is below 1", options.min_ii);
        return Err(ScheduleError::BadOption { option: "min_ii", message });
    }
    // It would not say who issues what.
    let given = options.start.is_some();
    let options = &options.clone().start(None);
    let frame = Frame::new(valid.whole(), model)?;
    let mut guard = Guard::new(options);
    let mut search = Search::new(&frame, &valid.problem, options)?;
    let (mut tried, mut refusal) = (Vec::new(), None);
    for place_of in seeds(&frame) {
        // One schedule is wanted at any time limit.
        if !tried.is_empty() && guard.expired() {
            break;
        }
        match schedule_at(&frame, place_of, &brief(options), &mut guard).1 {
            Ok(candidate) => {
                tried.push(candidate.clone());
                search.offer(candidate, &mut guard);
            }
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    search.run(&mut guard)?;
    let all = search.one_by_one(&brief(options), &mut guard);
    let Some(best) = search.best.clone() else {
        let gave_up = ScheduleError::GaveUp { lower_bound: search.lower_bound };
        return Err(refusal.filter(|_| all).unwrap_or(gave_up));
    };
    let mut answer = polished(&frame, valid, &best, search.lower_bound, options, &mut guard)?;
    answer.steps = answer.steps.saturating_add(search.spent);
    answer.split = Some(PartitionSplit {
        crossings: best.crossings,
        crossings_optimal: search.crossings_optimal,
        others: others(&tried, &best),
    });
    answer.stopped_by = guard.stopped_by();
    answer.start_refused = given.then(|| "it does not say who issues what, which is searched for".to_owned());
    answer.micros = guard.micros();
    Ok(answer)
}

/// What the schedule of a seed may take.
fn brief(options: &ScheduleOptions) -> ScheduleOptions {
    let steps = (options.steps / SEED_PART).max(1);
    let algorithm = if options.algorithm == Algorithm::Exact { Algorithm::Auto } else { options.algorithm };
    options.clone().algorithm(algorithm).steps(steps)
}

/// Of each number of partitions the best that was not taken.
fn others(tried: &[Candidate], best: &Candidate) -> Vec<SplitAlternative> {
    let mut by_count: BTreeMap<usize, (i64, i64)> = BTreeMap::new();
    for c in tried.iter().filter(|c| c.place_of != best.place_of) {
        let slot = by_count.entry(c.partitions).or_insert(c.cost());
        *slot = c.cost().min(*slot);
    }
    let other = |(partitions, (ii, crossings))| SplitAlternative { partitions, ii, crossings };
    by_count.into_iter().map(other).collect()
}
