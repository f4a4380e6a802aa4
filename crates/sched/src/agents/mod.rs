//! Which agent (warp group) issues what (S61-S69).

mod exhaustive;
mod model;
mod registers;

pub use model::AgentModel;

use crate::answer::Answer;
use crate::bounds::bounds_of;
use crate::depth::depths;
use crate::error::ScheduleError;
use crate::graph::{Agent, AgentKind, Edge, LoopGraph, Node, Use};
use crate::options::Options;
use crate::schedule::schedule;
use crate::validate::{ValidGraph, validate};
use std::collections::BTreeSet;
use std::time::Instant;

/// Cycles for which an operation holds its agent's issue stream (S65).
fn issue_cycles(node: &Node) -> u64 {
    node.issue_latency.unwrap_or_else(|| node.uses.iter().map(|u| u.duration).max().unwrap_or(0))
}

/// Assigns every operation to an agent and schedules the result; the answer names the agents.
///
/// Up to [`AgentModel::exhaustive`] clusters every assignment is looked at that could still be better. Beyond, from
/// the usual seed (copies to a producer, instructions that need no registers to an mma agent, the rest to a
/// compute agent) single operations and whole components move to other or new agents, first improvement of
/// `(II, crossings, bytes, length, registers)` in fixed order, each candidate by a full run (S68, S69). Agents
/// that the graph gives an operation are kept. `lower_bound` is that of the loop without agents.
///
/// # Errors
/// [`ScheduleError::Agents`] when no assignment keeps the limits of S61-S63, and those of [`schedule`].
pub fn assign_agents(
    graph: &ValidGraph<'_>,
    model: &AgentModel,
    options: &Options,
) -> Result<Answer, ScheduleError> {
    let mut search = Assignment::new(graph, model, options);
    let seed = search.seed();
    let first = search.evaluate(seed);
    if let Some(best) = exhaustive::best(&mut search, first.as_ref().ok()) {
        return Ok(best.answer);
    }
    let mut best = first?;
    let moves = search.clusters();
    let mut improved = true;
    while improved && search.tried < model.max_candidates {
        improved = false;
        for cluster in &moves {
            for target in 0..model.max_agents {
                if search.tried >= model.max_candidates {
                    break;
                }
                let Some(agent_of) = search.moved(&best.agent_of, cluster, target) else { continue };
                match search.evaluate(agent_of) {
                    Ok(candidate) if candidate.cost < best.cost => {
                        best = candidate;
                        improved = true;
                    }
                    _ => {}
                }
            }
        }
    }
    Ok(best.answer)
}

/// The keys of S69, in order.
type Cost = (i64, i64, u64, i64, u64);

#[derive(Clone)]
struct Candidate {
    agent_of: Vec<usize>,
    answer: Answer,
    cost: Cost,
}

struct Assignment<'g, 'a> {
    valid: &'g ValidGraph<'a>,
    graph: &'a LoopGraph,
    model: &'g AgentModel,
    options: &'g Options,
    tried: usize,
    start: Instant,
}

/// Positions of the agents that seeds use.
const PRODUCER: usize = 0;
const MMA: usize = 1;
const COMPUTE: usize = 2;

impl<'g, 'a> Assignment<'g, 'a> {
    fn new(valid: &'g ValidGraph<'a>, model: &'g AgentModel, options: &'g Options) -> Self {
        Assignment { valid, graph: valid.graph(), model, options, tried: 0, start: Instant::now() }
    }

    fn seed(&self) -> Vec<usize> {
        let mut agent_of: Vec<usize> = self
            .graph
            .nodes
            .iter()
            .map(|v| match v.agent {
                Some(agent) => agent,
                None if v.kinds.contains(&AgentKind::Producer) => PRODUCER,
                None if v.kinds.contains(&AgentKind::Mma) => MMA,
                None => COMPUTE,
            })
            .collect();
        self.views_follow(&mut agent_of);
        self.numbered(agent_of)
    }

    /// Operations that hold nothing and take no time go where their first consumer is (S61).
    fn views_follow(&self, agent_of: &mut [usize]) {
        for v in self.graph.nodes.iter().rev() {
            if v.agent.is_none() && is_view(v) {
                let first =
                    self.graph.edges.iter().filter(|e| e.src == v.id && e.dst != v.id).map(|e| e.dst).min();
                if let Some(consumer) = first {
                    agent_of[v.id] = agent_of[consumer];
                }
            }
        }
    }

    /// Agents without operations disappear, unless the graph declares its own.
    fn numbered(&self, agent_of: Vec<usize>) -> Vec<usize> {
        if !self.graph.agents.is_empty() {
            return agent_of;
        }
        let used: BTreeSet<usize> = agent_of.iter().copied().collect();
        let rank: Vec<usize> = used.into_iter().collect();
        agent_of.iter().map(|a| rank.binary_search(a).unwrap_or(0)).collect()
    }

    /// What moves together: every component, then every single operation; views follow.
    fn clusters(&self) -> Vec<Vec<usize>> {
        let g = &self.valid.problem.dependences;
        let free = |v: &usize| self.graph.nodes.get(*v).is_some_and(|n| n.agent.is_none() && !is_view(n));
        let components = g.components_in_order().filter(|m| m.len() > 1);
        let mut all: Vec<Vec<usize>> =
            components.map(|m| m.iter().map(|&v| v as usize).filter(free).collect()).collect();
        all.extend((0..g.n).filter(free).map(|v| vec![v]));
        all.retain(|c: &Vec<usize>| !c.is_empty());
        all
    }

    fn moved(&self, from: &[usize], cluster: &[usize], target: usize) -> Option<Vec<usize>> {
        let mut agent_of = from.to_vec();
        cluster.iter().for_each(|&v| agent_of[v] = target);
        self.views_follow(&mut agent_of);
        let agent_of = self.numbered(agent_of);
        (agent_of != from).then_some(agent_of)
    }

    fn evaluate(&mut self, agent_of: Vec<usize>) -> Result<Candidate, ScheduleError> {
        self.tried += 1;
        let mut agents = self.agents(&agent_of)?;
        let placed = self.placed(&agent_of, &agents);
        let valid = validate(&placed).map_err(ScheduleError::Graph)?;
        // The time limit is for all candidates together.
        let left = self.options.time_limit.map(|limit| limit.saturating_sub(self.start.elapsed()));
        let answer = schedule(&valid, &self.options.clone().time_limit(left))?;
        let registers = registers::registers(self.graph, self.model, &answer, &agent_of, &mut agents)?;
        let crossings = self.crossings(&agent_of);
        let cost = (answer.ii, crossings, answer.bytes.unwrap_or(0), answer.length, registers);
        let answer = self.plain(answer, &agent_of, agents);
        Ok(Candidate { agent_of, answer, cost })
    }

    /// The agents in use, with the kind and warps that their operations ask for.
    fn agents(&self, agent_of: &[usize]) -> Result<Vec<Agent>, ScheduleError> {
        if !self.graph.agents.is_empty() {
            let known: BTreeSet<usize> = self.graph.agents.iter().map(|a| a.id).collect();
            if let Some(unknown) = agent_of.iter().find(|a| !known.contains(a)) {
                return Err(ScheduleError::Agents(format!("agent {unknown} is not declared")));
            }
            for v in &self.graph.nodes {
                let agent = self.graph.agents.iter().find(|a| a.id == agent_of[v.id]);
                if let Some(agent) = agent.filter(|a| !may_issue(v, a.kind, a.warps)) {
                    return Err(ScheduleError::Agents(format!(
                        "agent {} may not issue node {}",
                        agent.id, v.id
                    )));
                }
            }
            return self.within_limits(self.graph.agents.clone());
        }
        let mut agents = Vec::new();
        for id in 0..=agent_of.iter().copied().max().unwrap_or(0) {
            let own = || self.graph.nodes.iter().filter(|v| agent_of[v.id] == id);
            let warps = own().filter_map(|v| v.min_warps).max().unwrap_or(1);
            let kinds = [AgentKind::Producer, AgentKind::Mma, AgentKind::Compute];
            let kind = kinds.into_iter().find(|&kind| {
                let warps = if kind == AgentKind::Compute { warps.max(4) } else { warps };
                own().all(|v| may_issue(v, kind, warps))
            });
            let Some(kind) = kind else {
                return Err(ScheduleError::Agents(format!("no kind of agent may issue all of agent {id}")));
            };
            let warps = if kind == AgentKind::Compute { warps.max(4) } else { warps };
            agents.push(Agent { id, kind, warps: warps.next_power_of_two(), regs: 24 });
        }
        self.within_limits(agents)
    }

    fn within_limits(&self, agents: Vec<Agent>) -> Result<Vec<Agent>, ScheduleError> {
        let warps: u32 = agents.iter().map(|a| a.warps).fold(0, u32::saturating_add);
        if warps > self.model.max_warps || agents.len() > self.model.max_agents.max(self.graph.agents.len()) {
            let message =
                format!("{} agents with {warps} warps, at most {}", agents.len(), self.model.max_warps);
            return Err(ScheduleError::Agents(message));
        }
        Ok(agents)
    }

    /// The loop as this assignment sees it: issue streams, and dearer crossings (S65, S66).
    fn placed(&self, agent_of: &[usize], agents: &[Agent]) -> LoopGraph {
        let mut g = self.graph.clone();
        let stream = |agent: usize| format!("issue of agent {agent}");
        agents.iter().for_each(|a| _ = g.add_resource(stream(a.id), 1));
        for node in &mut g.nodes {
            let duration = issue_cycles(node);
            node.uses.push(Use { resource: stream(agent_of[node.id]), start: 0, duration });
        }
        for e in &mut g.edges {
            if agent_of[e.src] != agent_of[e.dst] {
                e.latency = e.latency.saturating_add(self.model.crossing(self.graph, e.src, e.dst));
            }
        }
        for v in &mut g.values {
            let (def, own) = (v.def, agent_of[v.def]);
            for u in v.uses.iter_mut().filter(|u| agent_of[u.node] != own) {
                let cost = self.model.crossing(self.graph, def, u.node);
                u.end = u.end.saturating_add(cost);
                let latency = v.start.saturating_add(cost);
                g.edges.push(Edge { src: def, dst: u.node, latency, distance: u.distance });
            }
        }
        g
    }

    fn crossings(&self, agent_of: &[usize]) -> i64 {
        let pairs: BTreeSet<(usize, usize)> = self
            .graph
            .edges
            .iter()
            .filter(|e| agent_of[e.src] != agent_of[e.dst])
            .map(|e| (e.src, e.dst))
            .collect();
        pairs.into_iter().map(|(s, d)| self.model.crossing(self.graph, s, d)).fold(0, i64::saturating_add)
    }

    /// The answer in terms of the loop without agents, whose bounds hold for every assignment.
    fn plain(&self, mut answer: Answer, agent_of: &[usize], agents: Vec<Agent>) -> Answer {
        let bounds = bounds_of(&self.valid.problem);
        answer.nodes.iter_mut().for_each(|v| v.agent = agent_of.get(v.id).copied());
        let laws = depths(self.valid, &answer);
        for (d, law) in answer.values.iter_mut().zip(laws) {
            d.lifetime = law.lifetime;
            d.depth = d.depth.max(law.depth);
        }
        answer.length_optimal = false;
        answer.lower_bound = bounds.mii;
        answer.optimal = answer.ii == bounds.mii;
        answer.outcome = if answer.optimal { crate::Outcome::ProvenOptimal } else { crate::Outcome::Best };
        answer.mii = bounds.mii;
        answer.res_mii = bounds.res_mii;
        answer.rec_mii = bounds.rec_mii;
        answer.rec_ratio = bounds.rec_ratio.map(|(p, q)| [p, q]);
        answer.critical_circuit = bounds.critical_circuit;
        answer.critical_resource =
            bounds.critical_resource.and_then(|r| Some(self.graph.resources.get(r)?.name.clone()));
        answer.agents = agents;
        answer
    }
}

fn is_view(node: &Node) -> bool {
    node.latency == 0 && node.uses.iter().all(|u| u.duration == 0) && node.kinds.is_empty()
}

/// Whether an agent of this kind and size may issue the operation (S62).
fn may_issue(node: &Node, kind: AgentKind, warps: u32) -> bool {
    let kind_fits = if node.kinds.is_empty() {
        kind == AgentKind::Compute || is_view(node)
    } else {
        node.kinds.contains(&kind)
    };
    kind_fits && node.min_warps.is_none_or(|least| warps >= least)
}
