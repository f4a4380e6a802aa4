//! What is ordered before what (B24, B25).
//!
//! Nodes are the issue I(o) and the completion C(o) of the ops of one region; an edge x -> y of
//! distance d says that x of iteration i comes before y of iteration i + d. With the issue times as
//! potential every edge of a legal schedule costs d*II + T(y) - T(x) >= 0, so shortest distances
//! need no negative-weight search, and a cycle of total distance 0 is a cycle of zero-cost edges.
//!
//! A partition issues its ops in one unrolled sequence, `(i + stage) * n + rank`. The earliest place of
//! each partition's sequence that a node precedes answers every later question in constant time, and
//! [`window`] keeps to the turns that a run has.

mod graph;
mod insert;
mod window;

pub(crate) use graph::Deadlock;

use crate::lifetime::Lifetimes;
use crate::model::Model;
use graph::{Graph, Node, STEP};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use window::Window;

const NEVER: i128 = i128::MAX;

/// Nodes whose place has changed, by [`Graph::reduced`].
type Queue = BinaryHeap<Reverse<(i128, usize)>>;

/// Turns between two events beyond which no order is looked for: no ring or stage reaches that far.
pub(crate) const MOST_TURNS: i64 = 32;

/// The order graph of one region, and what it says of every two nodes.
#[derive(Clone)]
pub(crate) struct Order {
    graph: Graph,
    /// reach[a][x]: earliest place in partition a's sequence that node x of iteration 0 precedes.
    reach: Vec<Vec<i128>>,
    /// Runs asked about so far, by their turns.
    windows: RefCell<BTreeMap<i64, Window>>,
    /// What insertions have changed since the last [`Order::keep`].
    log: Vec<Undo>,
}

/// A change to take back.
#[derive(Clone)]
enum Undo {
    /// An edge was added.
    Edge,
    /// A partition, a node and the place it had.
    Reach(usize, usize, i128),
    /// Turns of a run, a partition, an event and the place it had.
    Event(i64, usize, usize, i64),
}

impl Order {
    /// The graph of a region at the units' depths, or at `depth` where it says otherwise, with
    /// `extra` waits `(op that completes, op that issues, distance)`.
    pub fn build(
        model: &Model<'_>,
        life: &Lifetimes,
        region: usize,
        depth: &dyn Fn(usize) -> i64,
        extra: &[(usize, usize, i64)],
    ) -> Result<Order, Deadlock> {
        let mut graph = Graph::skeleton(model, region);
        graph.add_values(model, life, region, depth);
        for e in &model.edges {
            graph.link(Node::C(e.src), Node::I(e.dst), e.distance, None);
        }
        for &(src, dst, distance) in extra {
            graph.link(Node::C(src), Node::I(dst), distance, None);
        }
        graph.settle()?;
        let mut order = Order { graph, reach: Vec::new(), windows: RefCell::default(), log: Vec::new() };
        order.tabulate(None);
        Ok(order)
    }

    /// Fills the reach table, without the release edges of `skip`.
    fn tabulate(&mut self, skip: Option<usize>) {
        self.graph.skip = skip;
        self.windows.get_mut().clear();
        self.reach = (0..self.graph.partitions.len()).map(|a| self.earliest(a)).collect();
    }

    /// The earliest place of a partition that each node precedes, from all of its ops.
    fn earliest(&self, partition: usize) -> Vec<i128> {
        let mut best = vec![NEVER; self.graph.nodes()];
        let mut heap = BinaryHeap::new();
        for &op in &self.graph.partitions[partition] {
            let place = self.place(op, 0);
            best[STEP * op] = place;
            heap.push(Reverse((self.graph.reduced(partition, STEP * op, place), STEP * op)));
        }
        self.spread(partition, &mut best, heap, |_, _| {});
        best
    }

    /// Reverse Dijkstra from the queued nodes; `before` is told each node and the place it had.
    fn spread(
        &self,
        partition: usize,
        best: &mut [i128],
        mut heap: Queue,
        mut before: impl FnMut(usize, i128),
    ) {
        let size = i128::from(self.graph.size(partition));
        while let Some(Reverse((key, y))) = heap.pop() {
            let place = best[y];
            if key > self.graph.reduced(partition, y, place) {
                continue;
            }
            for (x, d) in self.graph.before(y) {
                let through = place + i128::from(d) * size;
                if through < best[x] {
                    before(x, best[x]);
                    best[x] = through;
                    heap.push(Reverse((self.graph.reduced(partition, x, through), x)));
                }
            }
        }
    }

    /// Whether the completion of `from` in iteration i precedes the issue of `to` in i + d, in every run
    /// that has both iterations.
    pub fn implied(&self, from: usize, to: usize, d: i64) -> bool {
        if d < -MOST_TURNS || !self.precedes(Node::C(from), to, d) {
            return false;
        }
        let g = &self.graph;
        let (Some(x), Some(y)) = (g.op(from), g.op(to)) else { return false };
        if g.sync[x] && g.seat[x].0 == g.seat[y].0 {
            // Program order alone says it.
            return true;
        }
        // What holds that many turns later holds ever after: `to` follows its own earlier turns.
        let d = d.min(MOST_TURNS);
        let turns = d.abs() + 1;
        let mut windows = self.windows.borrow_mut();
        let run = windows.entry(turns).or_insert_with(|| Window::new(g, turns));
        run.completes_before(g, x, y, d)
    }

    fn precedes(&self, from: Node, to: usize, d: i64) -> bool {
        let (Some(x), Some(y)) = (self.graph.node(from), self.graph.op(to)) else { return false };
        self.reach[self.graph.seat[y].0][x] <= self.place(y, d)
    }

    /// Place of a turn of an op (local) in its partition's sequence.
    fn place(&self, op: usize, turn: i64) -> i128 {
        let (partition, rank) = self.graph.seat[op];
        let size = i128::from(self.graph.size(partition));
        (i128::from(turn) + i128::from(self.graph.stage[op])) * size + i128::from(rank)
    }

    /// Places of one turn in the sequence of each partition.
    pub fn turns(&self) -> impl Iterator<Item = i128> + '_ {
        self.graph.partitions.iter().map(|ops| ops.len() as i128)
    }

    /// Partition and place of an op's issue in iteration 0.
    pub fn seat(&self, op: usize) -> Option<(usize, i128)> {
        let k = self.graph.op(op)?;
        // Without partitions nobody has a seat.
        (!self.graph.partitions.is_empty()).then(|| (self.graph.seat[k].0, self.place(k, 0)))
    }

    /// The earliest place in a partition's sequence that the completion of an op of iteration 0 precedes.
    pub fn freed(&self, op: usize, partition: usize) -> Option<i128> {
        let x = self.graph.node(Node::C(op))?;
        Some(self.reach[partition][x]).filter(|&place| place != NEVER)
    }

    /// Whether the edge C(from) -> I(to) at distance d may be added: no cycle of distance <= 0.
    pub fn insertable(&self, from: usize, to: usize, d: i64) -> bool {
        // A cycle would be C(from) -> I(to) -> .. -> C(from); every way into a completion is
        // through its issue.
        !self.precedes(Node::I(to), from, -d)
    }

    /// The same graph without the release edges of a unit.
    pub fn without_release(&self, unit: usize) -> Order {
        let mut g = self.clone();
        g.tabulate(Some(unit));
        g
    }
}
