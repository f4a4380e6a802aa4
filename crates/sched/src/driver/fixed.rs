//! A loop whose partitions are not in question: bounds, search, normal form, check (S28).

use crate::bounds::least_ii::bounds_of;
use crate::check;
use crate::driver::capped::capped;
use crate::driver::optimise::{optimise, polish};
use crate::driver::scan::{Scanned, scan};
use crate::driver::session::Session;
use crate::model::answer::Answer;
use crate::model::error::ScheduleError;
use crate::model::graph::LoopGraph;
use crate::model::guard::Guard;
use crate::model::options::ScheduleOptions;
use crate::model::problem::{Problem, own_caps};
use crate::model::validate::ValidGraph;
use crate::post::normal::{Found, normal_form};
use crate::post::rings::rings;

/// Schedules a loop as it is.
pub(crate) fn schedule_fixed(
    graph: &ValidGraph<'_>,
    options: &ScheduleOptions,
) -> Result<Answer, ScheduleError> {
    if options.min_ii < 1 {
        let message = format!("{} is below 1", options.min_ii);
        return Err(ScheduleError::BadOption { option: "min_ii", message });
    }
    let refused = options.start.as_ref().and_then(|start| check::start(graph.graph(), start).err());
    let cold = options.clone().start(None);
    let options = if refused.is_some() { &cold } else { options };
    let mut guard = Guard::new(options);
    let bounds = bounds_of(&graph.problem);
    let caps = own_caps(graph.whole());
    let mut answer = if caps.iter().all(Option::is_none) {
        let found = optimise(graph, &graph.problem, &bounds, options, &mut guard)?;
        normal_form(graph, &bounds, found, options.algorithm)
    } else {
        capped(graph, &bounds, caps, options, &mut guard)?
    };
    add_slack(graph.whole(), options.slack_slots, &mut answer);
    answer.stopped_by = guard.stopped_by();
    answer.micros = guard.micros();
    answer.start_refused = refused.map(|v| v.to_string());
    self_check(graph, &answer)?;
    Ok(answer)
}

/// The answer from a schedule that is known: only its length and its bytes are searched for.
pub(crate) fn finish(
    graph: &ValidGraph<'_>,
    options: &ScheduleOptions,
    known: Found,
    guard: &mut Guard,
) -> Result<Answer, ScheduleError> {
    let caps = own_caps(graph.whole());
    let capped = graph.problem.with_caps(graph.whole(), &caps);
    let found = polish(graph, &capped, options, &mut Session::new(&capped, options, guard), known)?;
    let mut answer = normal_form(graph, &bounds_of(&graph.problem), found, options.algorithm);
    add_slack(graph.whole(), options.slack_slots, &mut answer);
    self_check(graph, &answer)?;
    Ok(answer)
}

/// The bound that a scan of this loop proves, and the schedule it finds.
pub(crate) fn bound_by_search(
    problem: &Problem,
    options: &ScheduleOptions,
    guard: &mut Guard,
) -> Result<Scanned, ScheduleError> {
    let mut session = Session::new(problem, options, guard);
    let range = session.range(&bounds_of(problem))?;
    scan(&mut session, range, None)
}

/// Longer rings for values whose time of arrival is a guess (S54); peers stay equal.
pub(crate) fn add_slack(graph: &LoopGraph, slots: u64, answer: &mut Answer) {
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

/// Believe no search before the checker has seen the answer (S43).
pub(crate) fn self_check(graph: &ValidGraph<'_>, answer: &Answer) -> Result<(), ScheduleError> {
    let verdict = if cfg!(debug_assertions) {
        check::all(graph.graph(), answer)
    } else {
        check::times(graph.graph(), answer)
    };
    verdict.map_err(|v| ScheduleError::Check(v.first().map(ToString::to_string).unwrap_or_default()))
}
