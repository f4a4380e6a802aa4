//! Laws of what an answer claims beside a plain schedule: partitions, cores, bindings, several iterations at once.

use super::ask::{STEPS, answer_with, at_most, same};
use crate::sched::alternatives::least_bound_ii;
use crate::sched::enumerate::least_schedule;
use crate::sched::split::least_split;
use warploom_sched::{
    LoopGraph, LoopRemedy, PartitionModel, ScheduleError, ScheduleOptions, check, loop_core, schedule,
    schedule_unrolled, unroll, validate,
};

/// Assignments to partitions are enumerated up to this II.
const MOST_SPLIT_II: i64 = 10;

/// The partitions of the answer pass the checker, and are the best there are: no assignment has a smaller II, and none at
/// it pays less for crossings, as enumeration of both tells. For loops of at most four operations; of larger ones the
/// answer is checked.
///
/// # Errors
/// The law that is broken.
pub fn best_split_is_found(graph: &LoopGraph, model: &PartitionModel) -> Result<(), String> {
    let Ok(valid) = validate(graph) else { return Ok(()) };
    let small = graph.nodes.len() <= 4 && graph.values.iter().all(|v| v.max_depth.is_none());
    let options = ScheduleOptions::default().steps(STEPS).partition(Some(model.clone()));
    let truth = if small { least_split(graph, model, MOST_SPLIT_II) } else { Ok(None) };
    let (truth, small) = truth.map_or((None, false), |truth| (truth, small));
    let answer = match schedule(&valid, &options) {
        Ok(answer) => answer,
        Err(ScheduleError::Check(message)) => return Err(message),
        Err(error) => match truth {
            Some(truth) => return Err(format!("{error}; II and crossings {truth:?} exist")),
            None => return Ok(()),
        },
    };
    check::all(graph, &answer).map_err(|v| v.to_string())?;
    check::partitions(graph, model, &answer).map_err(|v| v.to_string())?;
    let crossings = answer.split.as_ref().map_or(0, |s| s.crossings);
    let Some((ii, least)) = truth else {
        let found = small && answer.ii <= MOST_SPLIT_II;
        return if found { Err(format!("II {} was found, none exists", answer.ii)) } else { Ok(()) };
    };
    at_most("a proved bound against the least II", answer.lower_bound, ii)?;
    at_most("the least II against that found", ii, answer.ii)?;
    if answer.ii == ii {
        at_most("the least cost of crossings against that found", least, crossings)?;
    }
    // Resources of several units may be left to heuristics.
    if graph.resources.iter().any(|r| r.count > 1) {
        return Ok(());
    }
    same("II, crossings, and their proofs", &(answer.ii, answer.optimal, crossings), &(ii, true, least))?;
    same("the proof of the crossings", &answer.split.is_some_and(|s| s.crossings_optimal), &true)
}

/// Where an II above the bounds is proved, a part of the loop refutes the one below, as the checker sees for itself; and what
/// is said to lower the II does (S102). For loops that are solved within few steps.
///
/// # Errors
/// The law that is broken.
pub fn cores_refute(graph: &LoopGraph) -> Result<(), String> {
    let Ok(valid) = validate(graph) else { return Ok(()) };
    let options = ScheduleOptions::default().steps(STEPS);
    let Some(answer) = answer_with(&valid, &options)?.filter(|a| a.optimal && a.ii > 1) else {
        return Ok(());
    };
    let Some(core) = loop_core(&valid, &answer, &options).map_err(|e| e.to_string())? else { return Ok(()) };
    same("the II that is refuted", &core.ii, &(answer.ii - 1))?;
    check::core(graph, &core).map_err(|v| v.to_string())?;
    for remedy in &core.remedies {
        let mut changed = graph.clone();
        match remedy {
            LoopRemedy::Latency { edge, cycles } => changed.edges[*edge].latency -= cycles,
            LoopRemedy::Hold { node, at, cycles } => {
                changed.nodes[*node].uses[*at].duration -= cycles.unsigned_abs();
            }
            LoopRemedy::Unit { resource } => {
                changed.resources.iter_mut().filter(|r| r.name == *resource).for_each(|r| r.count += 1);
            }
            _ => continue,
        }
        let options = options.clone().min_ii(core.ii).max_ii(Some(core.ii));
        let valid = validate(&changed).map_err(|e| format!("{remedy:?} makes no loop: {e}"))?;
        if let Err(ScheduleError::Infeasible { .. }) = schedule(&valid, &options) {
            return Err(format!("{remedy:?} does not allow II {}", core.ii));
        }
    }
    Ok(())
}

/// The bindings of the answer pass the checker, and no others have a smaller II, as enumeration tells: for loops of at most
/// four operations and six uses.
///
/// # Errors
/// The law that is broken.
pub fn best_binding_is_found(graph: &LoopGraph) -> Result<(), String> {
    let Ok(valid) = validate(graph) else { return Ok(()) };
    let options = ScheduleOptions::default().steps(STEPS);
    let Some(answer) = answer_with(&valid, &options)? else { return Ok(()) };
    let Ok(Some(ii)) = least_bound_ii(graph, 7) else { return Ok(()) };
    at_most("a proved bound against the least II", answer.lower_bound, ii)?;
    at_most("the least II against that found", ii, answer.ii)?;
    // Several units, and several uses of an operation, may be left to first bindings.
    if graph.resources.iter().all(|r| r.count == 1) && graph.nodes.iter().all(|v| v.uses.len() <= 1) {
        same("II, and its proof", &(answer.ii, answer.optimal), &(ii, true))?;
    }
    Ok(())
}

/// Several iterations at once are scheduled legally, in terms of the loop, and never take more cycles for each than one alone;
/// a bound is none that enumeration falls below: for loops of at most two operations (S101).
///
/// # Errors
/// The law that is broken.
pub fn unrolling_never_hurts(graph: &LoopGraph) -> Result<(), String> {
    let Ok(valid) = validate(graph) else { return Ok(()) };
    let options = ScheduleOptions::default().steps(STEPS);
    let Some(plain) = answer_with(&valid, &options)? else { return Ok(()) };
    let found = schedule_unrolled(&valid, 3, &options).map_err(|e| e.to_string())?;
    check::unrolled(graph, &found).map_err(|v| v.to_string())?;
    let unrolled = unroll(graph, found.factor).map_err(|e| e.to_string())?;
    check::all(&unrolled, &found.answer).map_err(|v| v.to_string())?;
    let factor = found.factor as i64;
    at_most("cycles of so many iterations", found.answer.ii, plain.ii * factor)?;
    let [cycles, iterations] = found.lower_bound;
    if graph.nodes.len() <= 2 && graph.values.iter().all(|v| v.max_depth.is_none()) {
        for k in 1..=2 {
            let two = unroll(graph, k).map_err(|e| e.to_string())?;
            let Ok(Some((ii, _))) = least_schedule(&two, 6) else { continue };
            at_most("a bound for an iteration", cycles * k as i64, ii * iterations)?;
        }
    }
    Ok(())
}
