//! What must hold of every loop and of every answer. Each law says in its error which one is broken, and how.

use super::alternatives::least_bound_ii;
use super::enumerate::least_length;
use super::planted::Planted;
use super::split::least_split;
use std::time::Duration;
use warploom_sched::{
    Algorithm, Answer, LoopGraph, LoopRemedy, LoopValue, MemoryBudget, PartitionModel, ScheduleError,
    ScheduleOptions, StageOptions, ValidGraph, bounds, check, loop_core, read_graph, read_graphs,
    relax_stages, schedule, schedule_unrolled, schedule_within, to_line, unroll, validate,
};

/// Small loops are enumerated up to this II.
const MOST_II: i64 = 8;
/// Assignments to partitions are enumerated up to this II.
const MOST_SPLIT_II: i64 = 10;
/// Search nodes per question: enough for small loops, little enough for a fuzzer. `exact` multiplies it.
const STEPS: u64 = 500;

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

fn answer_with(valid: &ValidGraph<'_>, options: &ScheduleOptions) -> Result<Option<Answer>, String> {
    let algorithm = options.algorithm;
    match schedule(valid, options) {
        Ok(answer) => {
            check::all(valid.graph(), &answer).map_err(|v| {
                format!("{algorithm}: {}", v.iter().map(|v| format!("{v}; ")).collect::<String>())
            })?;
            Ok(Some(answer))
        }
        Err(ScheduleError::Check(message)) => Err(format!("{algorithm}: {message}")),
        Err(_) => Ok(None),
    }
}

fn answer_of(valid: &ValidGraph<'_>, algorithm: Algorithm) -> Result<Option<Answer>, String> {
    let small = valid.graph().nodes.len() <= 5;
    let exact = if small { 10 } else { 1 };
    let options = ScheduleOptions::default().algorithm(algorithm);
    answer_with(valid, &options.steps(if algorithm == Algorithm::Exact { exact } else { STEPS }))
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
    let truth = (1..=most).find_map(|ii| Some((ii, least_length(graph, ii)?)));
    let found = answer_of(&valid, Algorithm::Exact)?;
    match (truth, &found) {
        (Some((ii, length)), Some(a)) => {
            same("II", &a.ii, &ii)?;
            if !a.optimal || !a.length_optimal {
                return Err(format!("a loop of {} operations is left undecided", graph.nodes.len()));
            }
            same("length", &a.length, &length)
        }
        (Some((ii, _)), None) => Err(format!("II {ii} exists, none was found")),
        (None, Some(a)) if a.ii <= most => Err(format!("II {} was found, none exists up to {most}", a.ii)),
        (None, _) => Ok(()),
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
    let truth = if small { least_split(graph, model, MOST_SPLIT_II) } else { None };
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
    let Some(ii) = least_bound_ii(graph, 7) else { return Ok(()) };
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
            let Some(ii) = (1..=6).find(|&ii| least_length(&two, ii).is_some()) else { continue };
            at_most("a bound for an iteration", cycles * k as i64, ii * iterations)?;
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

fn same<T: PartialEq + std::fmt::Debug>(law: &str, found: &T, expected: &T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{law}: {found:?}, expected {expected:?}")) }
}

fn at_most(law: &str, found: i64, limit: i64) -> Result<(), String> {
    if found <= limit { Ok(()) } else { Err(format!("{law}: {found} is above {limit}")) }
}
