//! All assignments of a few clusters to agents (S68), cut off where a part is already worse than the best.

use super::{Assignment, Candidate, is_view};
use crate::bounds::bounds_of;
use crate::validate::validate;

/// Assignments looked at; beyond, the search gives way to single moves.
const MOST_VISITS: usize = 20_000;

/// The best of all assignments; `None` when there are too many, or the graph names agents of its own.
pub(super) fn best(search: &mut Assignment<'_, '_>, first: Option<&Candidate>) -> Option<Candidate> {
    let graph = search.graph;
    if !graph.agents.is_empty() || graph.nodes.iter().any(|v| v.agent.is_some()) {
        return None;
    }
    let g = &search.valid.problem.dependences;
    let clusters: Vec<Vec<usize>> = g
        .components_in_order()
        .map(|m| m.iter().map(|&v| v as usize).filter(|&v| !is_view(&graph.nodes[v])).collect())
        .filter(|c: &Vec<usize>| !c.is_empty())
        .collect();
    if clusters.len() > search.model.exhaustive {
        return None;
    }
    let mut walk = Walk {
        least_ii: bounds_of(&search.valid.problem).mii,
        clusters,
        agent_of: vec![0; graph.nodes.len()],
        known: vec![false; graph.nodes.len()],
        best: first.cloned(),
        visits: 0,
        search,
    };
    let complete = walk.place(0, 0);
    if complete { walk.best } else { None }
}

struct Walk<'s, 'g, 'a> {
    search: &'s mut Assignment<'g, 'a>,
    clusters: Vec<Vec<usize>>,
    agent_of: Vec<usize>,
    /// Operations placed so far.
    known: Vec<bool>,
    best: Option<Candidate>,
    /// No assignment has a smaller II.
    least_ii: i64,
    visits: usize,
}

impl Walk<'_, '_, '_> {
    /// Places the clusters from this one on; agents are numbered as they come up, so that no assignment comes twice.
    /// False when the visits are used up.
    fn place(&mut self, cluster: usize, used: usize) -> bool {
        self.visits += 1;
        if self.visits > MOST_VISITS {
            return false;
        }
        if self.hopeless() {
            return true;
        }
        let Some(members) = self.clusters.get(cluster).cloned() else {
            self.evaluate();
            return true;
        };
        for agent in 0..(used + 1).min(self.search.model.max_agents) {
            for &v in &members {
                (self.agent_of[v], self.known[v]) = (agent, true);
            }
            let complete = self.place(cluster + 1, used.max(agent + 1));
            members.iter().for_each(|&v| self.known[v] = false);
            if !complete {
                return false;
            }
        }
        true
    }

    /// The best has the least II there is, and what is placed crosses more than it does in all.
    fn hopeless(&self) -> bool {
        let Some(best) = &self.best else { return false };
        if best.cost.0 > self.least_ii {
            return false;
        }
        let graph = self.search.graph;
        let mut pairs: Vec<(usize, usize)> = graph
            .edges
            .iter()
            .filter(|e| {
                self.known[e.src] && self.known[e.dst] && self.agent_of[e.src] != self.agent_of[e.dst]
            })
            .map(|e| (e.src, e.dst))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let crossings = pairs.into_iter().map(|(s, d)| self.search.model.crossing(graph, s, d));
        crossings.fold(0, i64::saturating_add) > best.cost.1
    }

    fn evaluate(&mut self) {
        let mut agent_of = self.agent_of.clone();
        self.search.views_follow(&mut agent_of);
        // A bound first: most assignments need no schedule.
        if let Some(best) = &self.best {
            let Ok(agents) = self.search.agents(&agent_of) else { return };
            let placed = self.search.placed(&agent_of, &agents);
            let Ok(valid) = validate(&placed) else { return };
            let bound = (bounds_of(&valid.problem).mii, self.search.crossings(&agent_of));
            if bound > (best.cost.0, best.cost.1) {
                return;
            }
        }
        if let Ok(candidate) = self.search.evaluate(agent_of)
            && self.best.as_ref().is_none_or(|best| candidate.cost < best.cost)
        {
            self.best = Some(candidate);
        }
    }
}
