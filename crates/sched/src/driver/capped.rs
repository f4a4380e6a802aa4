//! Schedules that keep the largest depths that values may have (S55).

use crate::bounds::least_ii::Bounds;
use crate::driver::optimise::optimise;
use crate::model::answer::{Algorithm, Answer, ScheduleOutcome};
use crate::model::error::ScheduleError;
use crate::model::guard::Guard;
use crate::model::options::ScheduleOptions;
use crate::model::problem::Cap;
use crate::model::validate::ValidGraph;
use crate::post::normal::normal_form;

/// Schedules with these largest depths. Where the order within a cycle makes a ring too long after all (S53), its
/// readers are told to come a cycle earlier, which forgoes the proofs of the first attempt only in part: its
/// lower bound stays. Where that is more than the loop allows, the heuristic's schedule may still do.
pub(super) fn capped(
    graph: &ValidGraph<'_>,
    bounds: &Bounds,
    caps: Vec<Option<Cap>>,
    options: &ScheduleOptions,
    guard: &mut Guard,
) -> Result<Answer, ScheduleError> {
    let found = tightening(graph, bounds, caps.clone(), options, guard);
    let searched = matches!(options.algorithm, Algorithm::Auto | Algorithm::Exact);
    let Err(ScheduleError::GaveUp { lower_bound }) = found else { return found };
    if !searched {
        return found;
    }
    let plain = options.clone().algorithm(Algorithm::Ims);
    let Ok(mut answer) = tightening(graph, bounds, caps, &plain, guard) else { return found };
    answer.algorithm = options.algorithm;
    answer.lower_bound = answer.lower_bound.max(lower_bound).min(answer.ii);
    answer.optimal = answer.ii == answer.lower_bound;
    answer.outcome = if answer.optimal { ScheduleOutcome::ProvenOptimal } else { ScheduleOutcome::Best };
    Ok(answer)
}

fn tightening(
    graph: &ValidGraph<'_>,
    bounds: &Bounds,
    mut caps: Vec<Option<Cap>>,
    options: &ScheduleOptions,
    guard: &mut Guard,
) -> Result<Answer, ScheduleError> {
    let mut lower_bound = None;
    loop {
        let problem = graph.problem.with_caps(graph.whole(), &caps);
        let mut found = match optimise(graph, &problem, bounds, options, guard) {
            Err(_) if lower_bound.is_some() => {
                return Err(ScheduleError::GaveUp { lower_bound: lower_bound.unwrap_or(bounds.mii) });
            }
            found => found?,
        };
        let proved = *lower_bound.get_or_insert(found.lower_bound);
        found.length_optimal &= proved == found.lower_bound && caps.iter().flatten().all(|c| !c.strict);
        found.lower_bound = proved;
        let answer = normal_form(graph, bounds, found, options.algorithm);
        let mut tightened = false;
        for (cap, d) in caps.iter_mut().zip(&answer.values) {
            if let Some(cap) = cap.as_mut().filter(|c| c.slots < d.depth) {
                if cap.strict {
                    return Err(ScheduleError::GaveUp { lower_bound: proved });
                }
                cap.strict = true;
                tightened = true;
            }
        }
        if !tightened {
            return Ok(answer);
        }
    }
}
