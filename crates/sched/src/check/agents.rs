//! S81: who issues what, registers, and the dependences and rings again with the costs of crossing.

use super::{Report, Violation, ViolationKind as Kind, ceil_div, times_by_id};
use crate::agents::AgentModel;
use crate::answer::Answer;
use crate::graph::{AgentKind, LoopGraph};
use std::collections::BTreeMap;

/// Checks the agents of an answer against S61-S63, and S73, S74 and S79 with issue streams and crossings
/// (S64-S66). The node-wide `reg_bytes` and values in registers are counted as live for their whole lifetime.
///
/// # Errors
/// All violations found.
pub fn agents(graph: &LoopGraph, model: &AgentModel, answer: &Answer) -> Result<(), Vec<Violation>> {
    let mut report = Report::default();
    if super::schedule::check_shape(graph, answer, &mut report) {
        let mut agent_of = vec![usize::MAX; graph.nodes.len()];
        for v in &answer.nodes {
            match v.agent.filter(|a| answer.agents.iter().any(|b| b.id == *a)) {
                Some(agent) => agent_of[v.id] = agent,
                None => report.add(Kind::Agent, format!("node {}", v.id), "belongs to no listed agent"),
            }
        }
        if report.0.is_empty() {
            check_kinds(graph, answer, &agent_of, &mut report);
            check_limits(model, answer, &mut report);
            check_streams(graph, answer, &agent_of, &mut report);
            check_crossings(graph, model, answer, &agent_of, &mut report);
        }
    }
    report.verdict()
}

fn check_kinds(graph: &LoopGraph, answer: &Answer, agent_of: &[usize], report: &mut Report) {
    for node in &graph.nodes {
        let Some(agent) = answer.agents.iter().find(|a| a.id == agent_of[node.id]) else { continue };
        let at = format!("node {}", node.id);
        if node.agent.is_some_and(|given| given != agent.id) {
            report.add(Kind::Agent, &at, format!("agent {} instead of the given {:?}", agent.id, node.agent));
        }
        let view = node.latency == 0 && node.uses.iter().all(|u| u.duration == 0);
        let fits = if node.kinds.is_empty() {
            view || agent.kind == AgentKind::Compute
        } else {
            node.kinds.contains(&agent.kind)
        };
        if !fits {
            report.add(
                Kind::Agent,
                &at,
                format!("kinds {:?}, agent {} is {:?}", node.kinds, agent.id, agent.kind),
            );
        }
        if node.min_warps.is_some_and(|least| agent.warps < least) {
            report.add(Kind::Agent, &at, format!("needs {:?} warps, has {}", node.min_warps, agent.warps));
        }
    }
}

fn check_limits(model: &AgentModel, answer: &Answer, report: &mut Report) {
    let (mut warps, mut registers) = (0u64, 0u64);
    for a in &answer.agents {
        let at = format!("agent {}", a.id);
        if ![1, 2, 4, 8].contains(&a.warps) {
            report.add(Kind::Agent, &at, format!("{} warps, expected 1, 2, 4 or 8", a.warps));
        }
        if !(24..=256).contains(&a.regs) || a.regs % 8 != 0 {
            report.add(Kind::Agent, &at, format!("{} registers, expected 24..256 in multiples of 8", a.regs));
        }
        warps += u64::from(a.warps);
        registers += u64::from(a.warps.max(4)) * 32 * u64::from(a.regs);
    }
    if warps > u64::from(model.max_warps) {
        report.add(Kind::Agent, "agents", format!("{warps} warps, at most {}", model.max_warps));
    }
    if registers > model.registers {
        report.add(Kind::Agent, "agents", format!("{registers} registers, at most {}", model.registers));
    }
}

/// Every agent issues one operation at a time (S65).
fn check_streams(graph: &LoopGraph, answer: &Answer, agent_of: &[usize], report: &mut Report) {
    let (ii, time) = (i128::from(answer.ii), times_by_id(answer));
    for agent in &answer.agents {
        let mut change: BTreeMap<i128, i128> = BTreeMap::new();
        let mut load = 0;
        for node in graph.nodes.iter().filter(|v| agent_of[v.id] == agent.id) {
            let longest = node.uses.iter().map(|u| u.duration).max().unwrap_or(0);
            let cycles = i128::from(node.issue_latency.unwrap_or(longest));
            load += cycles / ii;
            let (from, rest) = (time[node.id].rem_euclid(ii), cycles % ii);
            if rest > 0 {
                *change.entry(from).or_default() += 1;
                *change.entry((from + rest) % ii).or_default() -= 1;
                if from + rest >= ii {
                    *change.entry(0).or_default() += 1;
                }
            }
        }
        for (cycle, step) in change {
            load += step;
            if load > 1 {
                let at = format!("agent {} at cycle {cycle}", agent.id);
                report.add(Kind::Agent, at, format!("issues {load} operations, at most 1"));
            }
        }
    }
}

fn check_crossings(
    graph: &LoopGraph,
    model: &AgentModel,
    answer: &Answer,
    agent_of: &[usize],
    report: &mut Report,
) {
    let (ii, time) = (i128::from(answer.ii), times_by_id(answer));
    let cost = |src: usize, dst: usize| -> i128 {
        let mut bytes = 0i128;
        for v in graph.values.iter().filter(|v| v.def == src && v.space == model.register_space) {
            if v.uses.iter().any(|u| u.node == dst) {
                bytes += i128::from(v.bytes);
            }
        }
        let payload =
            i128::from(model.payload) + ceil_div(i128::from(model.payload_per_10240) * bytes, 10_240);
        i128::from(model.barrier) + if bytes > 0 { payload } else { 0 }
    };
    for (i, e) in graph.edges.iter().enumerate().filter(|(_, e)| agent_of[e.src] != agent_of[e.dst]) {
        let have = time[e.dst] + ii * i128::from(e.distance);
        let need = time[e.src] + i128::from(e.latency) + cost(e.src, e.dst);
        if have < need {
            let message = format!("{} -> {} crosses agents: {have} is before {need}", e.src, e.dst);
            report.add(Kind::Agent, format!("edge {i}"), message);
        }
    }
    for v in &graph.values {
        let depth = answer.values.iter().find(|d| d.id == v.id).map_or(0, |d| d.depth);
        for u in v.uses.iter().filter(|u| agent_of[u.node] != agent_of[v.def]) {
            let (have, from) =
                (time[u.node] + ii * i128::from(u.distance), time[v.def] + i128::from(v.start));
            if have < from + cost(v.def, u.node) {
                let message = format!("{} reads it in another agent at {have}, too early", u.node);
                report.add(Kind::Agent, format!("value {}", v.id), message);
            }
            let end = time[u.node] + ii * i128::from(u.distance) + i128::from(u.end) + cost(v.def, u.node);
            let need = ceil_div(end - (time[v.def] + i128::from(v.start)), ii);
            if i128::from(depth) < need {
                let message = format!("depth {depth}, its reader {} in another agent needs {need}", u.node);
                report.add(Kind::Agent, format!("value {}", v.id), message);
            }
        }
    }
}
