//! From an assignment to a schedule that keeps all limits (S63, S66).

use super::frame::Frame;
use super::placed::Assigned;
use super::registers::registers;
use crate::bounds::least_ii::bounds_of;
use crate::driver::fixed::{bound_by_search, finish};
use crate::exact::complete::complete;
use crate::exact::contract::Active;
use crate::heuristic::compact::compact;
use crate::model::answer::Answer;
use crate::model::error::ScheduleError;
use crate::model::graph::LoopGraph;
use crate::model::graph_error::{GraphErrorKind, GraphErrors};
use crate::model::guard::Guard;
use crate::model::options::ScheduleOptions;
use crate::model::problem::own_caps;
use crate::model::validate::validate;
use crate::post::normal::{Found, normal_form};
use crate::post::stages::relax;

/// An assignment with a schedule.
#[derive(Clone)]
pub(super) struct Candidate {
    pub place_of: Vec<u32>,
    pub ii: i64,
    /// Cycles of crossings an iteration.
    pub crossings: i64,
    pub partitions: usize,
    pub time: Vec<i64>,
}

impl Candidate {
    /// What is made small, the first first (S69).
    pub fn cost(&self) -> (i64, i64) {
        (self.ii, self.crossings)
    }
}

/// Schedules an assignment as a loop of its own; the length is not made small. Every II below the number that comes with
/// it is refuted for this assignment; 1 where it says nothing.
pub(super) fn schedule_at(
    frame: &Frame<'_>,
    place_of: Vec<u32>,
    options: &ScheduleOptions,
    guard: &mut Guard,
) -> (i64, Result<Candidate, ScheduleError>) {
    match placed_at(frame, place_of, options, guard) {
        Ok((lower_bound, candidate)) => (lower_bound, candidate),
        Err(error) => {
            let lower_bound = match error {
                ScheduleError::Infeasible { up_to } => up_to.map_or(i64::MAX, |last| last.saturating_add(1)),
                ScheduleError::GaveUp { lower_bound } => lower_bound,
                ScheduleError::Partitions(_) => i64::MAX,
                _ => 1,
            };
            (lower_bound, Err(error))
        }
    }
}

fn placed_at(
    frame: &Frame<'_>,
    place_of: Vec<u32>,
    options: &ScheduleOptions,
    guard: &mut Guard,
) -> Result<(i64, Result<Candidate, ScheduleError>), ScheduleError> {
    if !frame.split.replicas_agree(&place_of) {
        return Err(ScheduleError::Partitions("replicas are not apart, or not alike".to_owned()));
    }
    let assigned = Assigned::new(frame, &place_of)?;
    let placed = assigned.placed(frame);
    let valid = validate(&placed).map_err(impossible)?;
    let problem = valid.problem.with_caps(&placed, &own_caps(&placed));
    match bound_by_search(&problem, options, guard)? {
        (lower_bound, Some(found)) => {
            Ok((lower_bound, plainly(frame, place_of, assigned, &placed, found, options)))
        }
        (lower_bound, None) => Err(ScheduleError::GaveUp { lower_bound }),
    }
}

/// With the costs of crossing, operations of one iteration may wait for each other, which no II helps (S12).
fn impossible(errors: GraphErrors) -> ScheduleError {
    let waits = errors.iter().any(|e| matches!(e.kind, GraphErrorKind::ZeroDistanceRecurrence { .. }));
    if waits { ScheduleError::Infeasible { up_to: None } } else { ScheduleError::Graph(errors) }
}

/// An assignment with times that a search found for some of the operations. [`ScheduleError::Infeasible`] where no times
/// would do.
pub(super) fn with_times(
    frame: &Frame<'_>,
    place_of: Vec<u32>,
    ii: i64,
    active: &Active,
    times: &[i64],
    options: &ScheduleOptions,
) -> Result<Candidate, ScheduleError> {
    let assigned = Assigned::new(frame, &place_of)?;
    let placed = assigned.placed(frame);
    let valid = validate(&placed).map_err(impossible)?;
    let problem = valid.problem.with_caps(&placed, &own_caps(&placed));
    let Some(time) = complete(&problem, ii, active, times) else {
        return Err(ScheduleError::Check("times of a search over partitions do not hold".to_owned()));
    };
    plainly(frame, place_of, assigned, &placed, (ii, time), options)
}

/// With what of the length costs nothing to save.
fn plainly(
    frame: &Frame<'_>,
    place_of: Vec<u32>,
    assigned: Assigned,
    placed: &LoopGraph,
    (ii, time): (i64, Vec<i64>),
    options: &ScheduleOptions,
) -> Result<Candidate, ScheduleError> {
    let valid = validate(placed).map_err(ScheduleError::Graph)?;
    let problem = valid.problem.with_caps(placed, &own_caps(placed));
    let time = compact(&problem, ii, time);
    let longest = problem.length(&time);
    let time = relax(&problem, placed, ii, time, Some(longest));
    let bounds = bounds_of(&valid.problem);
    let found = Found { ii, time, lower_bound: bounds.mii.min(ii), length_optimal: false, steps: 0 };
    let answer = normal_form(&valid, &bounds, found, options.algorithm);
    accept(frame, place_of, assigned, &answer)
}

fn accept(
    frame: &Frame<'_>,
    place_of: Vec<u32>,
    mut assigned: Assigned,
    answer: &Answer,
) -> Result<Candidate, ScheduleError> {
    keeps_depths(frame.graph, answer)?;
    registers(frame.graph, frame.model, answer, &assigned.partition_of, &mut assigned.partitions)?;
    let crossings = frame.split.cost(&place_of);
    let mut time = vec![0; answer.nodes.len()];
    answer.nodes.iter().for_each(|v| time[v.id] = v.time);
    Ok(Candidate { place_of, ii: answer.ii, crossings, partitions: assigned.partitions.len(), time })
}

/// The order within a cycle may ask for a slot more than there may be (S53).
fn keeps_depths(graph: &LoopGraph, answer: &Answer) -> Result<(), ScheduleError> {
    let caps = own_caps(graph);
    let over = answer.values.iter().zip(&caps).find(|(d, cap)| cap.is_some_and(|c| c.slots < d.depth));
    match over {
        Some((d, _)) => Err(ScheduleError::Partitions(format!("value {} needs {} slots", d.id, d.depth))),
        None => Ok(()),
    }
}

/// The answer: the candidate's schedule, made short, in terms of the loop itself.
pub(super) fn polished(
    frame: &Frame<'_>,
    valid: &crate::model::validate::ValidGraph<'_>,
    candidate: &Candidate,
    lower_bound: i64,
    options: &ScheduleOptions,
    guard: &mut Guard,
) -> Result<Answer, ScheduleError> {
    let mut assigned = Assigned::new(frame, &candidate.place_of)?;
    let placed = assigned.placed(frame);
    let placed_valid = validate(&placed).map_err(ScheduleError::Graph)?;
    let mii = bounds_of(&placed_valid.problem).mii;
    let known = || Found {
        ii: candidate.ii,
        time: candidate.time.clone(),
        lower_bound: mii.min(candidate.ii),
        length_optimal: false,
        steps: 0,
    };
    let mut suits = |answer: &Answer| {
        keeps_depths(frame.graph, answer)?;
        registers(frame.graph, frame.model, answer, &assigned.partition_of, &mut assigned.partitions)
    };
    let short = finish(&placed_valid, options, known(), guard)?;
    let answer = match suits(&short) {
        Ok(_) => short,
        // The shorter schedule holds more registers at once; the one that is known has been accepted.
        Err(_) => {
            let plain =
                normal_form(&placed_valid, &bounds_of(&placed_valid.problem), known(), options.algorithm);
            suits(&plain)?;
            plain
        }
    };
    Ok(assigned.plain(valid, answer, lower_bound))
}
