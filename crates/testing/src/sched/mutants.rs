//! Answers that are changed a little: what the checker still accepts is a schedule, as plain loops over the definitions
//! tell (S84).

use super::enumerate::is_schedule;
use super::split::{is_legal, placed};
use std::time::Duration;
use warploom_sched::check;
use warploom_sched::{
    Answer, LoopGraph, LoopNode, NestAnswer, PartitionModel, ScheduleError, ScheduleOptions, StartSchedule,
    loop_core, schedule, schedule_nest, schedule_unrolled, unroll, validate,
};

/// Search nodes per question.
const STEPS: u64 = 300;

fn options() -> ScheduleOptions {
    ScheduleOptions::default().steps(STEPS).time_limit(Some(Duration::from_secs(1)))
}

fn times(answer: &Answer) -> Vec<i64> {
    let mut times = vec![0; answer.nodes.len()];
    answer.nodes.iter().for_each(|v| times[v.id] = v.time);
    times
}

/// Fails where the checker and the truth differ.
fn agree(what: &str, accepted: bool, legal: bool) -> Result<(), String> {
    match accepted == legal {
        true => Ok(()),
        false => Err(format!("{what}: accepted {accepted}, legal {legal}")),
    }
}

/// Each use bound to each resource of the loop (S103).
///
/// # Errors
/// A binding that is accepted and wrong, or right and not accepted.
pub fn wrong_units(graph: &LoopGraph) -> Result<(), String> {
    let Ok(valid) = validate(graph) else { return Ok(()) };
    let Ok(answer) = schedule(&valid, &options()) else { return Ok(()) };
    for i in 0..answer.bindings.len() {
        for r in &graph.resources {
            let mut changed = answer.clone();
            changed.bindings[i].resource.clone_from(&r.name);
            let b = &changed.bindings[i];
            let choice = graph.nodes[b.node].uses[b.at].choices().any(|name| name == r.name);
            let legal = choice && is_schedule(&graph.bound(&changed.bindings), answer.ii, &times(&answer));
            let what = format!("use {} of node {} on {}", b.at, b.node, r.name);
            agree(&what, check::times(graph, &changed).is_ok(), legal)?;
        }
    }
    Ok(())
}

/// The copies of several iterations, one moved by a cycle, or two exchanged (S101).
///
/// # Errors
/// A map that is accepted and wrong, or right and not accepted.
pub fn wrong_copies(graph: &LoopGraph) -> Result<(), String> {
    let Ok(valid) = validate(graph) else { return Ok(()) };
    let Ok(found) = schedule_unrolled(&valid, 3, &options()) else { return Ok(()) };
    let copies = unroll(graph, found.factor).map_err(|e| e.to_string())?;
    let n = graph.nodes.len();
    for i in 0..found.copies.len() {
        for change in [-1, 1, 0] {
            let mut changed = found.clone();
            let j = (i + 1) % found.copies.len();
            if change == 0 {
                let (a, b) = (changed.copies[i].time, changed.copies[j].time);
                (changed.copies[i].time, changed.copies[j].time) = (b, a);
            } else {
                changed.copies[i].time += change;
            }
            let mut time = vec![0; copies.nodes.len()];
            changed.copies.iter().for_each(|c| time[c.copy as usize * n + c.node] = c.time);
            let legal = is_schedule(&copies, found.answer.ii, &time);
            agree(&format!("copy {i} by {change}"), check::unrolled(graph, &changed).is_ok(), legal)?;
        }
    }
    Ok(())
}

/// Each operation given to each partition; of loops with replicas these are wrong ones, too (S98).
///
/// # Errors
/// Partitions that are accepted and wrong.
pub fn wrong_partitions(graph: &LoopGraph, model: &PartitionModel) -> Result<(), String> {
    let Ok(valid) = validate(graph) else { return Ok(()) };
    let Ok(answer) = schedule(&valid, &options().partition(Some(model.clone()))) else { return Ok(()) };
    let index = |id: usize| answer.partitions.iter().position(|p| p.id == id).unwrap_or(0);
    // The checker does not mind where views are, which hold and issue nothing; the truth does.
    let is_view = |node: &LoopNode| {
        node.latency == 0 && node.kinds.is_empty() && node.uses.iter().all(|u| u.duration == 0)
    };
    if graph.nodes.iter().any(is_view) {
        return Ok(());
    }
    for i in 0..answer.nodes.len() {
        for p in &answer.partitions {
            let mut changed = answer.clone();
            changed.nodes[i].partition = Some(p.id);
            if check::partitions(graph, model, &changed).is_err() {
                continue;
            }
            let mut of = vec![0; changed.nodes.len()];
            changed.nodes.iter().for_each(|v| of[v.id] = index(v.partition.unwrap_or(0)));
            let placed = placed(graph, model, &of);
            let legal = is_legal(graph, model, &of) && is_schedule(&placed, answer.ii, &times(&changed));
            let what = format!("node {} in partition {}", answer.nodes[i].id, p.id);
            agree(&what, true, legal)
                .map_err(|e| format!("{e} {changed:?} {}", is_legal(graph, model, &of)))?;
        }
    }
    Ok(())
}

/// A core without one of its members, and one with a witness that is moved (S102).
///
/// # Errors
/// Which of them is accepted.
pub fn wrong_cores(graph: &LoopGraph) -> Result<(), String> {
    let Ok(valid) = validate(graph) else { return Ok(()) };
    let Ok(answer) = schedule(&valid, &options()) else { return Ok(()) };
    let core = loop_core(&valid, &answer, &options()).map_err(|e| e.to_string())?;
    let Some(core) = core.filter(|c| c.minimal) else { return Ok(()) };
    check::core(graph, &core).map_err(|v| v.to_string())?;
    for i in 0..core.members.len() {
        let mut changed = core.clone();
        changed.members.remove(i);
        changed.witnesses.remove(i);
        agree(
            &format!("the core without {:?}", core.members[i]),
            check::core(graph, &changed).is_ok(),
            false,
        )?;
        let mut changed = core.clone();
        changed.witnesses[i] = Vec::new();
        agree(&format!("no witness of {:?}", core.members[i]), check::core(graph, &changed).is_ok(), false)?;
    }
    Ok(())
}

/// A nest is scheduled legally, also for more iterations inside; and with one operation moved by a cycle (S104).
///
/// # Errors
/// What is accepted and wrong.
pub fn wrong_nests(loops: &[LoopGraph]) -> Result<(), String> {
    let at = loops.len().saturating_sub(1);
    let nest = match schedule_nest(loops, at, &options()) {
        Ok(nest) => nest,
        Err(ScheduleError::Check(message)) => return Err(message),
        Err(_) => return Ok(()),
    };
    check::nest(loops, at, &nest).map_err(|v| v.to_string())?;
    for more in [1, 4] {
        stretched(loops, at, &nest, more)?;
    }
    for i in 0..nest.answer.nodes.len() {
        for by in [-1, 1] {
            let mut changed = nest.clone();
            let (ii, v) = (changed.answer.ii, &mut changed.answer.nodes[i]);
            v.time += by;
            (v.stage, v.cycle) = (v.time.div_euclid(ii), v.time.rem_euclid(ii));
            if check::nest(loops, at, &changed).is_ok() {
                let outer = plain(&nest.outer);
                agree(&format!("node {i} by {by}"), true, is_schedule(&outer, ii, &times(&changed.answer)))?;
            }
        }
    }
    Ok(())
}

/// The loop with the waits of its exit spelt out (S104).
fn plain(graph: &LoopGraph) -> LoopGraph {
    let mut plain = graph.clone();
    let Some(exit) = plain.exit.take() else { return plain };
    let latency = graph.nodes[exit.node].latency;
    for v in 0..graph.nodes.len() {
        let ahead = if exit.committed.contains(&v) { 0 } else { exit.speculation as i64 };
        plain.add_edge(exit.node, v, latency, ahead + 1);
    }
    plain
}

/// The stretched schedule is one of the nest with so many more iterations inside.
fn stretched(loops: &[LoopGraph], at: usize, nest: &NestAnswer, more: u64) -> Result<(), String> {
    let told: Vec<u64> = nest.inner.iter().map(|run| if run.grows_at.is_some() { more } else { 0 }).collect();
    if told.iter().all(|&m| m == 0) {
        return Ok(());
    }
    let longer: StartSchedule = nest.stretched(&told).ok_or("too long")?;
    let mut known = loops.to_vec();
    for (run, more) in nest.inner.iter().zip(&told) {
        known[at].nodes[run.node].inner.iter_mut().for_each(|inner| inner.trips += more);
    }
    let outer = schedule_nest(&known, at, &options()).map_err(|e| format!("{more} more: {e}"))?.outer;
    let mut time = vec![0; longer.nodes.len()];
    longer.nodes.iter().for_each(|v| time[v.id] = v.time);
    agree(&format!("{more} iterations more"), true, is_schedule(&plain(&outer), longer.ii, &time))
}
