//! Registers per agent (S63).

use super::AgentModel;
use crate::answer::Answer;
use crate::error::ScheduleError;
use crate::graph::{Agent, LoopGraph};

/// Gives every agent the registers its live tiles need, and the rest to the one that needs most (S63).
pub(super) fn registers(
    graph: &LoopGraph,
    model: &AgentModel,
    answer: &Answer,
    agent_of: &[usize],
    agents: &mut [Agent],
) -> Result<u64, ScheduleError> {
    let mut live = vec![0u64; agents.len()];
    for (agent, bytes) in agents.iter().zip(&mut live) {
        *bytes = live_bytes(graph, &model.register_space, answer, |v| agent_of[v] == agent.id);
    }
    for (agent, bytes) in agents.iter_mut().zip(&live) {
        let need =
            bytes.div_ceil(u64::from(agent.warps) * 32 * 4).max(u64::from(agent.regs)).next_multiple_of(8);
        if need > 256 {
            let message =
                format!("agent {} has {bytes} live register bytes in {} warps", agent.id, agent.warps);
            return Err(ScheduleError::Agents(message));
        }
        agent.regs = need as u32;
    }
    let total = |agents: &[Agent]| -> u64 {
        agents.iter().map(|a| u64::from(a.warps.max(4)) * 32 * u64::from(a.regs)).sum()
    };
    let used = total(agents);
    if used > model.registers {
        let message = format!("{used} registers, there are {}", model.registers);
        return Err(ScheduleError::Agents(message));
    }
    let neediest = (0..agents.len()).max_by_key(|&i| (live[i], std::cmp::Reverse(i)));
    while let Some(i) = neediest.filter(|&i| agents[i].regs + 8 <= 248) {
        agents[i].regs += 8;
        if total(agents) > model.registers {
            agents[i].regs -= 8;
            break;
        }
    }
    Ok(used)
}

/// The most register bytes live at once among the values that these operations write, folded modulo II.
fn live_bytes(graph: &LoopGraph, space: &str, answer: &Answer, own: impl Fn(usize) -> bool) -> u64 {
    let ii = answer.ii.max(1);
    let (mut always, mut events) = (0u64, Vec::new());
    for (v, d) in graph.values.iter().zip(&answer.values) {
        if v.space != space || !own(v.def) {
            continue;
        }
        let lifetime = d.lifetime.max(0);
        always = always.saturating_add(v.bytes.saturating_mul((lifetime / ii) as u64));
        let (rest, start) = (lifetime % ii, answer.nodes.get(v.def).map_or(0, |n| n.time) + v.start);
        let from = start.rem_euclid(ii);
        if rest > 0 {
            events.push((from, v.bytes as i64));
            events.push(((from + rest) % ii, -(v.bytes as i64)));
            if from + rest >= ii {
                events.push((0, v.bytes as i64));
            }
        }
    }
    for node in graph.nodes.iter().filter(|n| own(n.id)) {
        always = always.saturating_add(node.reg_bytes.unwrap_or(0));
    }
    events.sort_unstable();
    let (mut load, mut most) = (0i64, 0i64);
    for (_, step) in events {
        load += step;
        most = most.max(load);
    }
    always.saturating_add(most.unsigned_abs())
}
