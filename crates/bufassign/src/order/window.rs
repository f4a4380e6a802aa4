//! Runs of a few turns (B25 at the ends of a loop).
//!
//! A chain of orders may lead through a turn that a run does not have: at the head of a loop nothing comes
//! before turn 0. So an order from turn i to turn i + d counts only if it holds in the shortest run that has
//! both turns; every longer run contains that one wherever the two turns stand.

use super::{Order, STEP};

const NEVER: i64 = i64::MAX;

/// Which op of which agent each event of a run of `turns` turns comes before.
#[derive(Clone)]
pub(super) struct Window {
    /// For each agent and event: the earliest place in the agent's sequence behind the event.
    earliest: Vec<Vec<i64>>,
    turns: i64,
    /// The op and turn before each in its agent's sequence, where there is one: `turn * ops + op`.
    before: Vec<Option<u32>>,
    /// Edges the graph had when the run was laid out.
    pub edges: usize,
}

/// Place of an op's turn in the sequence of its agent.
fn place(g: &Order, op: usize, turn: i64) -> i64 {
    let (agent, rank) = g.seat[op];
    (turn + g.stage[op]).saturating_mul(g.agents[agent].len() as i64).saturating_add(rank)
}

impl Window {
    /// The run of `turns` turns, without the release edges that the graph leaves out.
    pub fn new(g: &Order, turns: i64) -> Window {
        let nodes = g.out.len();
        let count = nodes / STEP;
        let mut before = vec![None; count * turns as usize];
        let event = |node: usize, turn: i64| turn as usize * nodes + node;
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); nodes * turns as usize];
        for (x, edges) in g.out.iter().enumerate() {
            for &(y, d, _) in edges.iter().filter(|e| e.2.is_none() || e.2 != g.skip) {
                for turn in (-d).max(0)..turns.min(turns.saturating_sub(d)) {
                    next[event(x, turn)].push(event(y, turn + d));
                }
            }
        }
        // An agent goes from each op to the next that the run has, whatever stands between.
        for ops in &g.agents {
            let mut sequence: Vec<(i64, usize, i64)> = Vec::with_capacity(ops.len() * turns as usize);
            for &op in ops {
                sequence.extend((0..turns).map(|turn| (place(g, op, turn), op, turn)));
            }
            sequence.sort_unstable();
            for w in sequence.windows(2) {
                let ((_, x, tx), (_, y, ty)) = (w[0], w[1]);
                before[ty as usize * count + y] = Some((tx as usize * count + x) as u32);
                next[event(2 * x, tx)].push(event(2 * y, ty));
                if g.sync[x] {
                    next[event(2 * x + 1, tx)].push(event(2 * y, ty));
                }
            }
        }
        let order = topological(&next);
        let mut earliest = vec![vec![NEVER; next.len()]; g.agents.len()];
        for (agent, row) in earliest.iter_mut().enumerate() {
            for &x in order.iter().rev() {
                let (node, turn) = (x % nodes, (x / nodes) as i64);
                let own = node.is_multiple_of(STEP) && g.seat[node / STEP].0 == agent;
                // The agent's later ops are behind its own, so its own place is the earliest.
                row[x] = if own {
                    place(g, node / STEP, turn)
                } else {
                    next[x].iter().map(|&y| row[y]).min().unwrap_or(NEVER)
                };
            }
        }
        Window { earliest, turns, before, edges: g.edges }
    }

    /// Takes in a new edge of the graph, from node to node at a distance; `note` is told the agent, the event
    /// and its place before.
    pub fn insert(
        &mut self,
        g: &Order,
        (x, y, d): (usize, usize, i64),
        mut note: impl FnMut(usize, usize, i64),
    ) {
        let nodes = g.out.len();
        for turn in (-d).max(0)..self.turns.min(self.turns.saturating_sub(d)) {
            let (from, to) = (turn as usize * nodes + x, (turn + d) as usize * nodes + y);
            for agent in 0..self.earliest.len() {
                let place = self.earliest[agent][to];
                let mut open = vec![from];
                // Whatever comes before `from` now comes before that place.
                while let Some(event) = open.pop() {
                    let own = &mut self.earliest[agent][event];
                    if place < *own {
                        note(agent, event, *own);
                        *own = place;
                        self.behind(g, event, &mut open);
                    }
                }
            }
        }
    }

    /// Adds the events that come right before one.
    fn behind(&self, g: &Order, event: usize, out: &mut Vec<usize>) {
        let nodes = g.out.len();
        let (node, turn) = (event % nodes, (event / nodes) as i64);
        let edges = g.into[node].iter().filter(|e| e.2.is_none() || e.2 != g.skip);
        let at = edges.map(|&(x, d, _)| (x, turn - d)).filter(|e| (0..self.turns).contains(&e.1));
        out.extend(at.map(|(x, turn)| turn as usize * nodes + x));
        if node.is_multiple_of(STEP)
            && let Some(before) = self.before[turn as usize * (nodes / STEP) + node / STEP]
        {
            let (op, turn) = (before as usize % (nodes / STEP), before as usize / (nodes / STEP));
            out.push(turn * nodes + STEP * op);
            if g.sync[op] {
                out.push(turn * nodes + STEP * op + 1);
            }
        }
    }

    /// For each agent and event, the place that the event comes before.
    #[cfg(test)]
    pub fn places(&self) -> &[Vec<i64>] {
        &self.earliest
    }

    /// Gives an event the place it had.
    pub fn restore(&mut self, agent: usize, event: usize, place: i64) {
        self.earliest[agent][event] = place;
    }

    /// Whether the completion of `from` comes before the issue of `to`, `d` turns later.
    pub fn completes_before(&self, g: &Order, from: usize, to: usize, d: i64) -> bool {
        let (first, last) = ((-d).max(0), d.max(0));
        let event = first as usize * g.out.len() + 2 * from + 1;
        self.earliest[g.seat[to].0][event] <= place(g, to, last)
    }
}

/// Events in an order that agrees with all edges; a sound graph has one.
fn topological(next: &[Vec<usize>]) -> Vec<usize> {
    let mut waits = vec![0u32; next.len()];
    next.iter().flatten().for_each(|&y| waits[y] += 1);
    let mut order: Vec<usize> = (0..next.len()).filter(|&x| waits[x] == 0).collect();
    let mut at = 0;
    while let Some(&x) = order.get(at) {
        at += 1;
        for &y in &next[x] {
            waits[y] -= 1;
            if waits[y] == 0 {
                order.push(y);
            }
        }
    }
    order
}
