//! The passes, one after the other: II, length, bytes (S41).

use crate::bounds::least_ii::Bounds;
use crate::driver::bytes::fewer_bytes;
use crate::driver::scan::{scan, scan_twice};
use crate::driver::session::Session;
use crate::model::answer::Algorithm;
use crate::model::error::ScheduleError;
use crate::model::guard::Guard;
use crate::model::options::{Objective, ScheduleOptions};
use crate::model::problem::Problem;
use crate::model::validate::ValidGraph;
use crate::post::depth::depths_of;
use crate::post::normal::Found;
use crate::post::order::body_order;
use crate::post::rings::{bytes_at, caps_of, rings};
use crate::post::stages::relax;

/// Operations of a loop that is not small.
const MANY: usize = 64;

/// II first, then length and bytes in the order of the objective (S41).
pub(super) fn optimise(
    graph: &ValidGraph<'_>,
    problem: &Problem,
    bounds: &Bounds,
    options: &ScheduleOptions,
    guard: &mut Guard,
) -> Result<Found, ScheduleError> {
    let mut session = Session::new(problem, options, guard);
    let range = session.range(bounds)?;
    let (lower_bound, best) = match options.algorithm {
        Algorithm::Exact => scan_twice(&mut session, range)?,
        _ => {
            let known = session.given(range);
            scan(&mut session, range, known)?
        }
    };
    let Some((ii, time)) = best else {
        return Err(ScheduleError::GaveUp { lower_bound });
    };
    polish(
        graph,
        problem,
        options,
        &mut session,
        Found { ii, time, lower_bound, length_optimal: false, steps: 0 },
    )
}

/// The length and the bytes of a schedule that is known.
pub(super) fn polish(
    graph: &ValidGraph<'_>,
    problem: &Problem,
    options: &ScheduleOptions,
    session: &mut Session<'_>,
    known: Found,
) -> Result<Found, ScheduleError> {
    let g = graph.whole();
    session.note_schedule(known.ii, &known.time);
    if options.objective == Objective::Interval {
        return Ok(Found { length_optimal: false, steps: session.steps(), ..known });
    }
    let (ii, time, lower_bound) = (known.ii, known.time, known.lower_bound);
    let (time, length_optimal) = session.shorten(ii, time);
    let mut found = Found { ii, time, lower_bound, length_optimal, steps: session.steps() };
    let searched = matches!(options.algorithm, Algorithm::Auto | Algorithm::Exact);
    if g.values.is_empty() || !searched {
        return Ok(found);
    }
    let least = problem.length(&found.time);
    let longest = match options.objective {
        Objective::Latency | Objective::Interval => Some(least),
        Objective::Kernel => None,
    };
    let first = found.time;
    let mut time = relax(problem, g, ii, first.clone(), longest);
    if options.algorithm == Algorithm::Exact || longest.is_none() {
        (time, _) = fewer_bytes(problem, g, ii, longest, time, session);
    }
    if longest.is_none() {
        // Now the shortest schedule with these depths.
        let most = bytes_at(problem, g, ii, &time);
        if problem.n > MANY && bytes_at(problem, g, ii, &first) <= most {
            // It was looked for already, among all there are; in small loops a second look costs little.
            time = first;
            return Ok(Found { steps: session.steps(), time, ..found });
        }
        let rings = rings(g);
        let order = body_order(problem, g, ii, &time);
        let depths = depths_of(g, ii, &time, &order);
        let slots: Vec<u64> = rings
            .iter()
            .map(|r| r.values.iter().filter_map(|&v| Some(depths.get(v)?.depth)).max().unwrap_or(1))
            .collect();
        let capped = graph.problem.with_caps(g, &caps_of(g, &rings, &slots, false));
        let (shorter, _) = session.shorten_in(&capped, ii, time.clone());
        if bytes_at(problem, g, ii, &shorter) <= most && problem.length(&shorter) < problem.length(&time) {
            time = shorter;
        }
        // Proved when it is the least of all at this II. A longer one may still be the least with so few bytes: that
        // is not claimed, since other rings of as many bytes were not asked about.
        found.length_optimal &= problem.length(&time) == least;
    }
    found.steps = session.steps();
    Ok(Found { time, ..found })
}
