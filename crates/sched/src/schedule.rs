//! The entry point: bounds, search, normal form, check (S28).

use crate::answer::{Algorithm, Answer, Outcome};
use crate::auto::Session;
use crate::bounds::{Bounds, bounds_of};
use crate::bytes::{bytes_at, caps_of, fewer_bytes, rings};
use crate::check;
use crate::depth::depths_of;
use crate::error::ScheduleError;
use crate::graph::LoopGraph;
use crate::guard::Guard;
use crate::normal::{Found, length, normal_form};
use crate::options::{Objective, Options};
use crate::order::body_order;
use crate::problem::{Cap, Problem, own_caps};
use crate::stages::relax;
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
    let mut guard = Guard::new(options);
    let bounds = bounds_of(&graph.problem);
    let mut answer = under_caps(graph, &bounds, own_caps(graph.graph()), options, &mut guard)?;
    add_slack(graph.graph(), options.slack_slots, &mut answer);
    answer.stopped_by = guard.stopped_by();
    answer.micros = guard.micros();
    self_check(graph, &answer)?;
    Ok(answer)
}

/// Longer rings for values whose time of arrival is a guess (S54); peers stay equal.
fn add_slack(graph: &LoopGraph, slots: u64, answer: &mut Answer) {
    if slots == 0 {
        return;
    }
    for ring in rings(graph) {
        let waits = |v: &usize| {
            let value = graph.values.get(*v);
            value.is_some_and(|v| graph.nodes.get(v.def).is_some_and(|def| v.start < def.latency))
        };
        if ring.values.iter().all(waits) {
            for &v in &ring.values {
                if let Some(d) = answer.values.get_mut(v) {
                    d.depth = d.depth.saturating_add(slots).min(ring.most);
                }
            }
        }
    }
    let each = graph.values.iter().zip(&answer.values).map(|(v, d)| v.bytes.saturating_mul(d.depth));
    answer.bytes = Some(each.fold(0, u64::saturating_add)).filter(|_| !graph.values.is_empty());
}

/// Schedules with these largest depths. Where the order within a cycle makes a ring too long after all (S53), its
/// readers are told to come a cycle earlier, which forgoes the proofs of the first attempt only in part: its
/// lower bound stays. Where that is more than the loop allows, the heuristic's schedule may still do.
pub(crate) fn under_caps(
    graph: &ValidGraph<'_>,
    bounds: &Bounds,
    caps: Vec<Option<Cap>>,
    options: &Options,
    guard: &mut Guard,
) -> Result<Answer, ScheduleError> {
    let found = tightening(graph, bounds, caps.clone(), options, guard);
    let searched = matches!(options.algorithm, Algorithm::Auto | Algorithm::Exact);
    let Err(ScheduleError::GaveUp { lower_bound }) = found else { return found };
    if !searched || caps.iter().all(Option::is_none) {
        return found;
    }
    let plain = options.clone().algorithm(Algorithm::Ims);
    let Ok(mut answer) = tightening(graph, bounds, caps, &plain, guard) else { return found };
    answer.algorithm = options.algorithm;
    answer.lower_bound = answer.lower_bound.max(lower_bound).min(answer.ii);
    answer.optimal = answer.ii == answer.lower_bound;
    answer.outcome = if answer.optimal { Outcome::ProvenOptimal } else { Outcome::Best };
    Ok(answer)
}

fn tightening(
    graph: &ValidGraph<'_>,
    bounds: &Bounds,
    mut caps: Vec<Option<Cap>>,
    options: &Options,
    guard: &mut Guard,
) -> Result<Answer, ScheduleError> {
    if caps.iter().all(Option::is_none) {
        let found = optimise(graph, &graph.problem, bounds, options, guard)?;
        return Ok(normal_form(graph, bounds, found, options.algorithm));
    }
    let mut lower_bound = None;
    loop {
        let problem = graph.problem.with_caps(graph.graph(), &caps);
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

/// II first, then length and bytes in the order of the objective (S41).
fn optimise(
    graph: &ValidGraph<'_>,
    problem: &Problem,
    bounds: &Bounds,
    options: &Options,
    guard: &mut Guard,
) -> Result<Found, ScheduleError> {
    let g = graph.graph();
    let mut session = Session::new(problem, options, guard);
    let mut found = session.run(bounds)?;
    let searched = matches!(options.algorithm, Algorithm::Auto | Algorithm::Exact);
    if g.values.is_empty() || !searched {
        return Ok(found);
    }
    let ii = found.ii;
    let least = length(problem, &found.time);
    let longest = match options.objective {
        Objective::Latency => Some(least),
        Objective::Kernel => None,
    };
    let mut time = relax(problem, g, ii, found.time, longest);
    if options.algorithm == Algorithm::Exact || longest.is_none() {
        (time, _) = fewer_bytes(problem, g, ii, longest, time, &mut session);
    }
    if longest.is_none() {
        // Now the shortest schedule with these depths.
        let most = bytes_at(problem, g, ii, &time);
        let rings = rings(g);
        let order = body_order(problem, g, ii, &time);
        let depths = depths_of(g, ii, &time, &order);
        let slots: Vec<u64> = rings
            .iter()
            .map(|r| r.values.iter().filter_map(|&v| Some(depths.get(v)?.depth)).max().unwrap_or(1))
            .collect();
        let capped = graph.problem.with_caps(g, &caps_of(g, &rings, &slots, false));
        let (shorter, _) = session.shorten_in(&capped, ii, time.clone());
        if bytes_at(problem, g, ii, &shorter) <= most && length(problem, &shorter) < length(problem, &time) {
            time = shorter;
        }
        // Proved when it is the least of all at this II. A longer one may still be the least with so few bytes: that
        // is not claimed, since other rings of as many bytes were not asked about.
        found.length_optimal &= length(problem, &time) == least;
    }
    found.steps = session.steps();
    Ok(Found { time, ..found })
}

/// Believe no search before the checker has seen the answer (S43).
pub(crate) fn self_check(graph: &ValidGraph<'_>, answer: &Answer) -> Result<(), ScheduleError> {
    let verdict = if cfg!(debug_assertions) {
        check::all(graph.graph(), answer)
    } else {
        check::times(graph.graph(), answer)
    };
    verdict.map_err(|v| ScheduleError::Check(v.first().map(ToString::to_string).unwrap_or_default()))
}
