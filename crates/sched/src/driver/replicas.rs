//! Replicas of a partition that run a loop one behind the other (S98).

use crate::bounds::least_ii::{Bounds, bounds_of};
use crate::driver::fixed::{add_slack, self_check};
use crate::driver::schedule::schedule;
use crate::model::answer::{Algorithm, Answer};
use crate::model::error::ScheduleError;
use crate::model::graph::LoopGraph;
use crate::model::options::ScheduleOptions;
use crate::model::replicate::{Copies, at_distance, distances, refusal, replicate};
use crate::model::validate::{ValidGraph, validate};
use crate::post::normal::{Found, normal_form};

/// How much less may be searched for one distance than for a loop alone.
const EFFORT: u64 = 10;

/// A loop that several replicas run, and its schedule.
#[derive(Clone, Debug)]
pub struct ReplicatedLoop {
    /// The loop of all replicas, as [`replicate`] makes it.
    pub graph: LoopGraph,
    /// The schedule of all. That no other one is shorter it says only where a bound does.
    pub answer: Answer,
    /// Cycles from each replica's start to the next one's.
    pub apart: u64,
}

/// Schedules a loop that several replicas run, each for its share, all in the same order and at an equal distance.
/// `graph` has the operations of one replica, with what they cost for its share; there is only one of those that `once`
/// names. Of the distances that let the replicas take turns on the unit that they contend for most, the one with the
/// least II is taken.
///
/// # Errors
/// Those of [`replicate`]; [`ScheduleError::BadOption`] where partitions or alternatives are to be searched for as well;
/// the last one of [`schedule`] where it finds nothing for any distance, and at once one that is
/// [internal](ScheduleError::is_internal).
pub fn schedule_replicas(
    graph: &ValidGraph<'_>,
    once: &[bool],
    replicas: u64,
    options: &ScheduleOptions,
) -> Result<ReplicatedLoop, ScheduleError> {
    let loop_graph = graph.whole();
    let copies = Copies::new(loop_graph, once, replicas)?;
    let machine = options.partition.is_some() || loop_graph.partition_model.is_some();
    if machine || loop_graph.has_alternatives() {
        return Err(refusal("partitions and alternatives are not searched for beside replicas".to_owned()));
    }
    let all = replicate(loop_graph, once, replicas)?;
    let valid = validate(&all).map_err(ScheduleError::Graph)?;
    let bounds = bounds_of(&valid.problem);
    // Several distances share the effort that one loop may take.
    let options = options.clone().start(None).steps(options.steps.div_ceil(EFFORT));
    let mut best: Option<(Answer, u64)> = None;
    let mut refused = ScheduleError::GaveUp { lower_bound: options.min_ii };
    for apart in distances(loop_graph, &copies, bounds.mii) {
        let one = at_distance(loop_graph, &copies, apart);
        // Uses of one operation that overlap at this distance are no schedule.
        let Ok(one) = validate(&one) else { continue };
        let better = best.as_ref().map(|(answer, _)| answer.ii - 1).or(options.max_ii);
        let found = match schedule(&one, &options.clone().max_ii(better)) {
            Ok(found) => found,
            Err(error) if error.is_internal() => return Err(error),
            Err(error) => {
                refused = error;
                continue;
            }
        };
        let times: Vec<i64> = found.nodes.iter().map(|v| v.time).collect();
        let mut answer =
            normal_form(&valid, &bounds, placed(&copies, apart, found.ii, &times, &bounds), Algorithm::Auto);
        add_slack(&all, options.slack_slots, &mut answer);
        answer.stopped_by = found.stopped_by;
        self_check(&valid, &answer)?;
        let least = answer.ii <= bounds.mii;
        best = Some((answer, apart));
        if least {
            break;
        }
    }
    match best {
        Some((answer, apart)) => Ok(ReplicatedLoop { graph: all, answer, apart }),
        None => Err(refused),
    }
}

/// The answer for all replicas, from the times of the first and of what there is once, and the distance between two.
///
/// # Errors
/// Those of [`replicate`]; [`ScheduleError::BadOption`] for an II below 1 and for another number of times than
/// operations; [`ScheduleError::Check`] where the schedule of all is broken.
pub fn replicas_answer(
    graph: &ValidGraph<'_>,
    once: &[bool],
    replicas: u64,
    apart: u64,
    ii: i64,
    times: &[i64],
) -> Result<ReplicatedLoop, ScheduleError> {
    let loop_graph = graph.whole();
    let copies = Copies::new(loop_graph, once, replicas)?;
    if ii < 1 {
        return Err(refusal(format!("an II of {ii} is below 1")));
    }
    if times.len() != copies.n {
        return Err(refusal(format!("{} times for {} operations", times.len(), copies.n)));
    }
    let graph = replicate(loop_graph, once, replicas)?;
    let answer = {
        let valid = validate(&graph).map_err(ScheduleError::Graph)?;
        let bounds = bounds_of(&valid.problem);
        let answer =
            normal_form(&valid, &bounds, placed(&copies, apart, ii, times, &bounds), Algorithm::Auto);
        self_check(&valid, &answer)?;
        answer
    };
    Ok(ReplicatedLoop { graph, answer, apart })
}

/// The times of all replicas: each `apart` cycles behind the one before.
fn placed(copies: &Copies<'_>, apart: u64, ii: i64, times: &[i64], bounds: &Bounds) -> Found {
    let later = |replica: usize| i64::try_from(apart.saturating_mul(replica as u64)).unwrap_or(i64::MAX);
    let mut time = vec![0i64; copies.all()];
    for (node, &at) in times.iter().enumerate() {
        for replica in copies.numbers(node) {
            time[copies.of(node, replica)] = at.saturating_add(later(replica));
        }
    }
    Found { ii, time, lower_bound: bounds.mii, length_optimal: false, steps: 0 }
}
