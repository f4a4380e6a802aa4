//! Laws of plain schedules.

use super::ask::{STEPS, answer_of, answer_with, at_most, same};
use crate::sched::enumerate::{TooLarge, least_schedule};
use crate::sched::planted::Planted;
use std::time::Duration;
use warploom_sched::{
    Algorithm, Answer, LoopGraph, LoopValue, MemoryBudget, ScheduleError, ScheduleOptions, StageOptions,
    bounds, check, read_graph, read_graphs, relax_stages, schedule_within, to_line, validate,
};

/// Small loops are enumerated up to this II.
const MOST_II: i64 = 8;

/// What the scheduler makes of a loop passes the checker; a refusal has a place and a remedy.
///
/// # Errors
/// The rule that the answer breaks.
pub fn schedule_is_legal(graph: &LoopGraph, options: &ScheduleOptions) -> Result<(), String> {
    match validate(graph) {
        Ok(valid) => answer_with(&valid, options).map(|_| ()),
        Err(errors) => {
            let silent = errors.iter().find(|e| e.at.is_empty() || e.kind.help().is_empty());
            silent.map_or(Ok(()), |e| Err(format!("a refusal without a place or a remedy: {e}")))
        }
    }
}

/// Every algorithm's answer passes the checker, equal input gives equal answers, and the exact ones are no worse than
/// the heuristics. A loop that is refused keeps the law.
///
/// # Errors
/// The law that is broken.
pub fn algorithms_agree(graph: &LoopGraph) -> Result<(), String> {
    let Ok(valid) = validate(graph) else { return Ok(()) };
    let auto = answer_of(&valid, Algorithm::Auto)?;
    let again = answer_of(&valid, Algorithm::Auto)?;
    let timeless = |a: &Option<Answer>| a.clone().map(|a| to_line(&Answer { micros: 0, ..a }));
    same("equal input, equal bytes", &timeless(&auto), &timeless(&again))?;
    let exact = answer_of(&valid, Algorithm::Exact)?;
    for algorithm in [Algorithm::Ims, Algorithm::Sms, Algorithm::Serial] {
        let Some(other) = answer_of(&valid, algorithm)? else { continue };
        let Some(auto) = &auto else { return Err(format!("{algorithm} finds a schedule, auto does not")) };
        at_most("auto against a heuristic: II", auto.ii, other.ii)?;
        at_most("a proved bound against an II", auto.lower_bound, other.ii)?;
        if let Some(exact) = &exact {
            at_most("an exact bound against an II", exact.lower_bound, other.ii)?;
            at_most("exact against a heuristic: II", exact.ii, other.ii)?;
            if exact.length_optimal && exact.ii == other.ii {
                at_most("the least length against a length", exact.length, other.length)?;
            }
        }
    }
    if let (Some(auto), Some(exact)) = (&auto, &exact)
        && exact.optimal
    {
        at_most("exact against auto: II", exact.ii, auto.ii)?;
    }
    Ok(())
}

/// `exact` finds and proves what enumeration finds: for loops of at most five operations; others keep the law.
///
/// # Errors
/// The law that is broken.
pub fn small_optimum_is_found(graph: &LoopGraph) -> Result<(), String> {
    let Ok(valid) = validate(graph) else { return Ok(()) };
    if graph.nodes.len() > 5 || graph.values.iter().any(|v| v.max_depth.is_some()) {
        return Ok(());
    }
    let most = if graph.nodes.len() == 5 { 5 } else { MOST_II };
    // With nothing to compare with, the answer is checked all the same.
    let truth = least_schedule(graph, most);
    let found = answer_of(&valid, Algorithm::Exact)?;
    match (truth, &found) {
        (Err(TooLarge { .. }), _) => Ok(()),
        (Ok(Some((ii, length))), Some(a)) => {
            same("II", &a.ii, &ii)?;
            if !a.optimal || !a.length_optimal {
                return Err(format!("a loop of {} operations is left undecided", graph.nodes.len()));
            }
            same("length", &a.length, &length)
        }
        (Ok(Some((ii, _))), None) => Err(format!("II {ii} exists, none was found")),
        (Ok(None), Some(a)) if a.ii <= most => {
            Err(format!("II {} was found, none exists up to {most}", a.ii))
        }
        (Ok(None), _) => Ok(()),
    }
}

/// Where values are read in the iteration that writes them, and nothing has to be late, there is a schedule with the least
/// depths, and it is found at any time limit (S100). A loop of another kind keeps the law where it is refused.
///
/// # Errors
/// The law that is broken.
pub fn least_depths_have_a_schedule(graph: &LoopGraph) -> Result<(), String> {
    let Ok(valid) = validate(graph) else { return Ok(()) };
    let plain = graph.values.iter().all(|v| v.max_depth.is_none() && v.uses.iter().all(|u| u.distance == 0))
        && graph.edges.iter().all(|e| e.latency >= 0);
    // Peers of a group have the depth of the deepest.
    let floor = |v: &LoopValue| {
        let peers = graph.values.iter().filter(|w| w.id == v.id || w.group.is_some() && w.group == v.group);
        peers.filter_map(|w| w.min_depth).max().unwrap_or(1).max(1)
    };
    let least: u64 = graph.values.iter().map(|v| v.bytes * floor(v)).sum();
    let options = ScheduleOptions::default().steps(STEPS);
    for limit in [Some(Duration::ZERO), None] {
        let budget = MemoryBudget::default().space("smem", least);
        match schedule_within(&valid, &budget, &options.clone().time_limit(limit)) {
            Ok(answer) => {
                check::all(graph, &answer).map_err(|v| v.to_string())?;
                check::budget(graph, &answer).map_err(|v| v.to_string())?;
            }
            Err(ScheduleError::Check(message)) => return Err(message),
            Err(error) if plain => return Err(format!("{error}; the least depths take {least} bytes")),
            Err(_) => {}
        }
    }
    Ok(())
}

/// The planted schedule is legal, and both searches find and prove its II.
///
/// # Errors
/// The law that is broken.
pub fn planted_optimum_is_found(planted: &Planted) -> Result<(), String> {
    let Planted { graph, ii, times } = planted;
    let nodes: Vec<String> =
        times.iter().enumerate().map(|(id, t)| format!("{{\"id\":{id},\"time\":{t}}}")).collect();
    let text = format!("{{\"ii\":{ii},\"nodes\":[{}]}}", nodes.join(","));
    let verdict = check::verdict(graph, &text).map_err(|e| e.to_string())?;
    if !verdict.violations.is_empty() {
        return Err(format!("the planted schedule is not legal: {verdict}"));
    }
    let valid = validate(graph).map_err(|e| e.to_string())?;
    for algorithm in [Algorithm::Auto, Algorithm::Exact] {
        let options = ScheduleOptions::default().algorithm(algorithm).steps(2_000);
        let Some(answer) = answer_with(&valid, &options)? else {
            return Err(format!("{algorithm} finds no schedule, and one was planted"));
        };
        same("the planted II", &answer.ii, ii)?;
        same("its proof", &answer.optimal, &true)?;
    }
    Ok(())
}

/// Moving operations by whole IIs never raises the bytes, and keeps the II and all rules (S47).
///
/// # Errors
/// The law that is broken.
pub fn post_pass_never_raises_bytes(graph: &LoopGraph) -> Result<(), String> {
    let Ok(valid) = validate(graph) else { return Ok(()) };
    let Some(before) = answer_of(&valid, Algorithm::Ims)? else { return Ok(()) };
    let after = relax_stages(&valid, &before, &StageOptions::default()).map_err(|e| e.to_string())?;
    same("II after the post-pass", &after.ii, &before.ii)?;
    if after.bytes > before.bytes {
        return Err(format!("{:?} bytes after the post-pass, {:?} before", after.bytes, before.bytes));
    }
    check::all(graph, &after).map_err(|v| v.to_string())
}

/// The least II does not depend on how operations are numbered.
///
/// # Errors
/// The law that is broken.
pub fn numbering_does_not_matter(graph: &LoopGraph) -> Result<(), String> {
    let mut turned = graph.clone();
    let last = graph.nodes.len().saturating_sub(1);
    turned.nodes.reverse();
    turned.nodes.iter_mut().enumerate().for_each(|(i, v)| v.id = i);
    let turn = |v: &mut usize| *v = last.saturating_sub(*v);
    for e in &mut turned.edges {
        turn(&mut e.src);
        turn(&mut e.dst);
    }
    for v in &mut turned.values {
        turn(&mut v.def);
        v.uses.iter_mut().for_each(|u| turn(&mut u.node));
    }
    match (least_ii(graph)?, least_ii(&turned)?) {
        (Some(one), Some(other)) => same("the least II with the operations in reverse", &other, &one),
        _ => Ok(()),
    }
}

/// One dependence more never makes the least II smaller.
///
/// # Errors
/// The law that is broken.
pub fn constraints_never_help(graph: &LoopGraph, src: usize, dst: usize, latency: i64) -> Result<(), String> {
    let mut more = graph.clone();
    more.add_edge(src, dst, latency, 1);
    match (least_ii(graph)?, least_ii(&more)?) {
        (Some(less), Some(more)) => at_most("the least II before an edge is added", less, more),
        _ => Ok(()),
    }
}

/// The least II where it is proved.
fn least_ii(graph: &LoopGraph) -> Result<Option<i64>, String> {
    let Ok(valid) = validate(graph) else { return Ok(None) };
    Ok(answer_of(&valid, Algorithm::Exact)?.filter(|a| a.optimal).map(|a| a.ii))
}

/// Latencies so many times as long make the critical ratio as many times as large (S15).
///
/// # Errors
/// The law that is broken.
pub fn critical_ratio_scales(graph: &LoopGraph, factor: i64) -> Result<(), String> {
    let mut scaled = graph.clone();
    scaled.edges.iter_mut().for_each(|e| e.latency = e.latency.saturating_mul(factor));
    scaled.values.iter_mut().for_each(|v| v.start = v.start.saturating_mul(factor));
    let (Ok(one), Ok(many)) = (validate(graph), validate(&scaled)) else { return Ok(()) };
    let wide = |(p, q): (i64, i64)| (i128::from(p), i128::from(q));
    let (one, many) = (bounds(&one).rec_ratio.map(wide), bounds(&many).rec_ratio.map(wide));
    match (one, many) {
        (None, None) => Ok(()),
        (Some((p, q)), Some((r, s))) if p * i128::from(factor) * s == r * q => Ok(()),
        other => Err(format!("the critical ratio, once and {factor} times: {other:?}")),
    }
}

/// Any text, as a loop and as a schedule of a loop: judged or refused, and what is written reads back.
///
/// # Errors
/// The law that is broken.
pub fn any_text_is_judged(text: &str) -> Result<(), String> {
    let mut fixed = LoopGraph::new("fixed");
    fixed.add_resource("U", 1).add_node("a", 1, &[("U", 0, 2)]);
    let _ = check::verdict(&fixed, text);
    for graph in read_graphs(text).into_iter().flatten() {
        text_reads_back(&graph)?;
        let small = graph.nodes.len() <= 30 && graph.edges.len() <= 200;
        if small {
            schedule_is_legal(&graph, &ScheduleOptions::default().steps(STEPS))?;
        }
    }
    Ok(())
}

/// What is written reads back.
///
/// # Errors
/// The law that is broken.
pub fn text_reads_back(graph: &LoopGraph) -> Result<(), String> {
    let back = read_graph(&to_line(graph)).map_err(|e| e.to_string())?;
    same("what is written reads back", &back, graph)
}
