//! Runs of a few turns (B25 at the ends of a loop).
//!
//! A chain of orders may lead through a turn that a run does not have: at the head of a loop nothing comes
//! before turn 0. So an order from turn i to turn i + d counts only if it holds in the shortest run that has
//! both turns; every longer run contains that one wherever the two turns stand.

use super::graph::{Graph, STEP};
use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, NodeIndex};

const NEVER: i64 = i64::MAX;

/// Which op of which partition each event of a run of `turns` turns comes before.
#[derive(Clone)]
pub(super) struct Window {
    /// For each partition and event: the earliest place in the partition's sequence behind the event.
    earliest: Vec<Vec<i64>>,
    turns: i64,
    /// The op and turn before each in its partition's sequence, where there is one: `turn * ops + op`.
    before: Vec<Option<u32>>,
    /// Edges the graph had when the run was laid out.
    pub edges: usize,
}

/// Place of an op's turn in the sequence of its partition.
fn place(g: &Graph, op: usize, turn: i64) -> i64 {
    let (partition, rank) = g.seat[op];
    (turn + g.stage[op]).saturating_mul(g.size(partition)).saturating_add(rank)
}

impl Window {
    /// The run of `turns` turns, without the release edges that the graph leaves out.
    pub fn new(g: &Graph, turns: i64) -> Window {
        let nodes = g.nodes();
        let count = nodes / STEP;
        let mut before = vec![None; count * turns as usize];
        let event = |node: usize, turn: i64| turn as usize * nodes + node;
        let mut links: Vec<(u32, u32)> = Vec::with_capacity((g.edges() + nodes) * turns as usize);
        for x in 0..nodes {
            for (y, d) in g.after(x) {
                for turn in (-d).max(0)..turns.min(turns.saturating_sub(d)) {
                    links.push((event(x, turn) as u32, event(y, turn + d) as u32));
                }
            }
        }
        // A partition goes from each op to the next that the run has, whatever stands between.
        for ops in &g.partitions {
            let mut sequence: Vec<(i64, usize, i64)> = Vec::with_capacity(ops.len() * turns as usize);
            for &op in ops {
                sequence.extend((0..turns).map(|turn| (place(g, op, turn), op, turn)));
            }
            sequence.sort_unstable();
            for w in sequence.windows(2) {
                let ((_, x, tx), (_, y, ty)) = (w[0], w[1]);
                before[ty as usize * count + y] = Some((tx as usize * count + x) as u32);
                links.push((event(STEP * x, tx) as u32, event(STEP * y, ty) as u32));
                if g.sync[x] {
                    links.push((event(STEP * x + 1, tx) as u32, event(STEP * y, ty) as u32));
                }
            }
        }
        let mut events = DiGraph::<(), ()>::with_capacity(nodes * turns as usize, links.len());
        (0..nodes * turns as usize).for_each(|_| {
            events.add_node(());
        });
        events.extend_with_edges(links);
        // A sound graph has an order of events that agrees with all edges.
        let order = toposort(&events, None).unwrap_or_default();
        let mut earliest = vec![vec![NEVER; events.node_count()]; g.partitions.len()];
        for (partition, row) in earliest.iter_mut().enumerate() {
            for &at in order.iter().rev() {
                let x = at.index();
                let (node, turn) = (x % nodes, (x / nodes) as i64);
                let own = node.is_multiple_of(STEP) && g.seat[node / STEP].0 == partition;
                // The partition's later ops are behind its own, so its own place is the earliest.
                row[x] = if own {
                    place(g, node / STEP, turn)
                } else {
                    events.neighbors(at).map(|y: NodeIndex| row[y.index()]).min().unwrap_or(NEVER)
                };
            }
        }
        Window { earliest, turns, before, edges: g.edges() }
    }

    /// Takes in a new edge of the graph, from node to node at a distance; `note` is told the partition, the event
    /// and its place before.
    pub fn insert(
        &mut self,
        g: &Graph,
        (x, y, d): (usize, usize, i64),
        mut note: impl FnMut(usize, usize, i64),
    ) {
        let nodes = g.nodes();
        for turn in (-d).max(0)..self.turns.min(self.turns.saturating_sub(d)) {
            let (from, to) = (turn as usize * nodes + x, (turn + d) as usize * nodes + y);
            for partition in 0..self.earliest.len() {
                let place = self.earliest[partition][to];
                let mut open = vec![from];
                // Whatever comes before `from` now comes before that place.
                while let Some(event) = open.pop() {
                    let own = &mut self.earliest[partition][event];
                    if place < *own {
                        note(partition, event, *own);
                        *own = place;
                        self.behind(g, event, &mut open);
                    }
                }
            }
        }
    }

    /// Adds the events that come right before one.
    fn behind(&self, g: &Graph, event: usize, out: &mut Vec<usize>) {
        let nodes = g.nodes();
        let (node, turn) = (event % nodes, (event / nodes) as i64);
        let at = g.before(node).map(|(x, d)| (x, turn - d)).filter(|e| (0..self.turns).contains(&e.1));
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

    /// For each partition and event, the place that the event comes before.
    #[cfg(test)]
    pub fn places(&self) -> &[Vec<i64>] {
        &self.earliest
    }

    /// Gives an event the place it had.
    pub fn restore(&mut self, partition: usize, event: usize, place: i64) {
        self.earliest[partition][event] = place;
    }

    /// Whether the completion of `from` comes before the issue of `to`, `d` turns later.
    pub fn completes_before(&self, g: &Graph, from: usize, to: usize, d: i64) -> bool {
        let (first, last) = ((-d).max(0), d.max(0));
        let event = first as usize * g.nodes() + 2 * from + 1;
        self.earliest[g.seat[to].0][event] <= place(g, to, last)
    }
}
