//! What bounds the interval of a loop, in words (S13-S17, S55, C93).

use std::fmt::Write;

use warploom_sched::{Answer, LoopGraph, Objective, ResourceUse, ScheduleOptions, schedule, validate};

use crate::loops::PipelinedLoop;

/// What bounds the interval: a unit, a recurrence, limits on slots and copies, or all of it together.
pub(crate) fn bound(graph: &LoopGraph, answer: &Answer) -> String {
    if let Some(unit) = answer.critical_resource.as_ref().filter(|_| answer.ii == answer.res_mii) {
        return unit.clone();
    }
    let recurrence =
        answer.critical_recurrence.iter().filter_map(|&n| graph.nodes.get(n)).map(|n| n.name.as_str());
    let recurrence: Vec<&str> = recurrence.collect();
    if answer.ii == answer.rec_mii && !recurrence.is_empty() {
        return recurrence.join(" > ");
    }
    // What the interval would fall without, each limit taken away alone.
    let shorter = |options: ScheduleOptions| options.min_ii(answer.ii - 1).max_ii(Some(answer.ii - 1));
    let binds = |space: &str| answer.ii > 1 && without(graph, space, shorter).is_some();
    let binding: Vec<&str> = LIMITS.iter().filter(|(s, _)| binds(s)).map(|&(_, what)| what).collect();
    if !binding.is_empty() {
        return binding.join(" and ");
    }
    let spaces: Vec<&str> = LIMITS.iter().filter(|(s, _)| capped(graph, s)).map(|&(_, what)| what).collect();
    match spaces.is_empty() {
        true => "units and recurrences together".to_owned(),
        false => format!("units, recurrences and {} together", spaces.join(" and ")),
    }
}

/// Memory spaces, and what is counted there.
const LIMITS: [(&str, &str); 3] =
    [("smem", "slots of rings"), ("tmem", "slots in tensor memory"), ("reg", "copies of register tiles")];

fn capped(graph: &LoopGraph, space: &str) -> bool {
    graph.values.iter().any(|v| v.space == space && v.max_depth.is_some())
}

/// The line on a loop's interval: what bounds it, and what it would be with more room.
pub(crate) fn interval(graph: &LoopGraph, answer: &Answer) -> String {
    let mut out = format!("II {} cycles, bound by ", answer.ii);
    if answer.ii == answer.rec_mii && answer.ii != answer.res_mii && !answer.critical_recurrence.is_empty() {
        out += "the recurrence ";
    }
    let proof = if answer.optimal { "; no smaller one exists" } else { "" };
    let _ = write!(
        out,
        "{} (resources {}, recurrences {}){proof}",
        bound(graph, answer),
        answer.res_mii,
        answer.rec_mii
    );
    for (space, what) in LIMITS {
        if let Some(ii) = without(graph, space, |options| options).filter(|&ii| ii < answer.ii) {
            let _ = write!(out, "; without a limit on {what} {ii}");
        }
    }
    out
}

/// The interval of a loop whose values in a space may have as many slots as they like, as such options find it.
fn without(
    graph: &LoopGraph,
    space: &str,
    asked: impl Fn(ScheduleOptions) -> ScheduleOptions,
) -> Option<i64> {
    if !capped(graph, space) {
        return None;
    }
    let mut free = graph.clone();
    free.values.iter_mut().filter(|v| v.space == space).for_each(|v| v.max_depth = None);
    let options = asked(ScheduleOptions::default().objective(Objective::Interval));
    Some(schedule(&validate(&free).ok()?, &options).ok()?.ii)
}

/// The graph with a unit for each partition, which its operations hold while they are issued, drawn above the chip's
/// (S65).
pub(crate) fn with_partitions(pipelined: &PipelinedLoop) -> LoopGraph {
    let mut graph = pipelined.graph.clone();
    let units = std::mem::take(&mut graph.resources);
    for (node, of) in graph.nodes.iter_mut().zip(&pipelined.nodes) {
        let held = node.uses.iter().map(|u| u.duration).max().unwrap_or(0);
        let duration = node.issue_latency.unwrap_or(held);
        let resource = format!("@{}", pipelined.stream(of));
        node.uses.push(ResourceUse { resource, start: 0, duration, ..ResourceUse::default() });
    }
    let names: Vec<String> =
        graph.nodes.iter().filter_map(|n| n.uses.last()).map(|u| u.resource.clone()).collect();
    for name in names {
        if !graph.resources.iter().any(|r| r.name == name) {
            graph.add_resource(name, 1);
        }
    }
    graph.resources.extend(units);
    graph
}
