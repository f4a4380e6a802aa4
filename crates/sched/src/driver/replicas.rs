//! Replicas of a partition that run a loop one behind the other (S98).

use crate::bounds::least_ii::bounds_of;
use crate::driver::fixed::{add_slack, self_check};
use crate::driver::schedule::schedule;
use crate::model::answer::{Algorithm, Answer};
use crate::model::error::ScheduleError;
use crate::model::graph::LoopGraph;
use crate::model::int::div_ceil;
use crate::model::options::ScheduleOptions;
use crate::model::replicate::{Copies, refusal, replicate, staggered};
use crate::model::validate::{ValidGraph, validate};
use crate::post::normal::{Found, normal_form};

/// Schedules a loop that several replicas run, each for its share, all in the same order and at an equal distance: replica
/// r does what the first does `r * II / replicas` cycles later. `graph` has the operations of one replica, with what they
/// cost for its share; there is only one of those that `once` names. The answer is for [`replicate`]'s graph, which is
/// given back with it; that no schedule of another form is shorter it says only where a bound of that graph does.
///
/// # Errors
/// Those of [`replicate`] and [`schedule`]; [`ScheduleError::BadOption`] where what there is once waits for a replica
/// within a trip.
pub fn schedule_replicas(
    graph: &ValidGraph<'_>,
    once: &[bool],
    replicas: u64,
    options: &ScheduleOptions,
) -> Result<(LoopGraph, Answer), ScheduleError> {
    let loop_graph = graph.whole();
    let copies = Copies::new(loop_graph, once, replicas)?;
    let machine = options.partition.is_some() || loop_graph.partition_model.is_some();
    if machine || loop_graph.has_alternatives() {
        return Err(refusal("partitions and alternatives are not searched for beside replicas".to_owned()));
    }
    let one = staggered(loop_graph, &copies)?;
    let count = copies.replicas as i64;
    let options = ScheduleOptions {
        min_ii: div_ceil(options.min_ii, count).max(1),
        max_ii: options.max_ii.map(|ii| ii / count),
        ..options.clone().start(None)
    };
    // A unit that is held once in a trip is free for the other replicas: first as if each held its part of the time,
    // which need not be so, then as if each held all of it.
    for in_parts in [true, false] {
        let mut one = one.clone();
        for (node, _) in one.nodes.iter_mut().zip(once).filter(|(_, once)| **once && in_parts) {
            node.uses.iter_mut().for_each(|u| u.duration = u.duration.div_ceil(replicas));
        }
        let found = schedule(&validate(&one).map_err(ScheduleError::Graph)?, &options)?;
        let times: Vec<i64> = found.nodes.iter().map(|v| v.time).collect();
        match replicas_answer(graph, once, replicas, found.ii.saturating_mul(count), &times) {
            Err(ScheduleError::Check(_)) if in_parts => {}
            made => {
                let (all, mut answer) = made?;
                add_slack(&all, options.slack_slots, &mut answer);
                answer.stopped_by = found.stopped_by;
                self_check(&validate(&all).map_err(ScheduleError::Graph)?, &answer)?;
                return Ok((all, answer));
            }
        }
    }
    Err(ScheduleError::GaveUp { lower_bound: 1 })
}

/// The answer for all replicas, from the times of the first and of what there is once.
///
/// # Errors
/// Those of [`replicate`]; [`ScheduleError::BadOption`] for an II that is no multiple of the replicas and for another
/// number of times than operations; [`ScheduleError::Check`] where the schedule of all is broken.
pub fn replicas_answer(
    graph: &ValidGraph<'_>,
    once: &[bool],
    replicas: u64,
    ii: i64,
    times: &[i64],
) -> Result<(LoopGraph, Answer), ScheduleError> {
    let loop_graph = graph.whole();
    let copies = Copies::new(loop_graph, once, replicas)?;
    let apart = ii / copies.replicas as i64;
    if ii < 1 || ii % copies.replicas as i64 != 0 {
        return Err(refusal(format!("an II of {ii} is no multiple of {replicas} replicas")));
    }
    if times.len() != copies.n {
        return Err(refusal(format!("{} times for {} operations", times.len(), copies.n)));
    }
    let all = replicate(loop_graph, once, replicas)?;
    let mut time = vec![0i64; all.nodes.len()];
    for (node, &at) in times.iter().enumerate() {
        for replica in 0..copies.replicas {
            time[copies.of(node, replica)] = match once[node] {
                true => at,
                false => at.saturating_add(apart.saturating_mul(replica as i64)),
            };
        }
    }
    let answer = {
        let valid = validate(&all).map_err(ScheduleError::Graph)?;
        let bounds = bounds_of(&valid.problem);
        let found = Found { ii, time, lower_bound: bounds.mii, length_optimal: false, steps: 0 };
        let answer = normal_form(&valid, &bounds, found, Algorithm::Auto);
        self_check(&valid, &answer)?;
        answer
    };
    Ok((all, answer))
}
