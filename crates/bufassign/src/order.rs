//! What is ordered before what (B24, B25).
//!
//! Nodes are the issue I(o) and the completion C(o) of the ops of one region; an edge x -> y of
//! distance d says that x of iteration i comes before y of iteration i + d. With the issue times as
//! potential every edge of a legal schedule costs d*II + T(y) - T(x) >= 0, so shortest distances
//! need no negative-weight search, and a cycle of total distance 0 is a cycle of zero-cost edges.
//!
//! An agent issues its ops in one unrolled sequence, `(i + stage) * n + rank`. The earliest place of
//! each agent's sequence that a node precedes answers every later question in constant time, and
//! [`window`] keeps to the turns that a run has.

mod insert;
mod window;

use self::insert::Undo;
use self::window::Window;
use crate::lifetime::Lifetimes;
use crate::model::{Model, components_with_cycle};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

const NEVER: i128 = i128::MAX;

/// Nodes whose place has changed, by [`Order::reduced`].
type Queue = BinaryHeap<Reverse<(i128, usize)>>;

/// Nodes of an op: its issue and its completion.
const STEP: usize = 2;

/// Turns between two events beyond which no order is looked for: no ring or stage reaches that far.
pub(crate) const MOST_TURNS: i64 = 32;

/// The order graph of one region.
#[derive(Clone)]
pub(crate) struct Order {
    ii: i64,
    /// Op index in the model -> index here.
    local: BTreeMap<usize, usize>,
    stage: Vec<i64>,
    /// Agent (local) of each op and its rank in that agent's sequence.
    seat: Vec<(usize, i64)>,
    /// Ops whose agent waits for their completion.
    sync: Vec<bool>,
    /// Ops of each agent.
    agents: Vec<Vec<usize>>,
    /// Out-edges of nodes 2*op (issue) and 2*op + 1 (completion), `(to, distance, owner)`; the
    /// owner of a release edge is its unit.
    out: Vec<Vec<(usize, i64, Option<usize>)>>,
    /// The same edges at their ends, `(from, distance, owner)`.
    into: Vec<Vec<(usize, i64, Option<usize>)>>,
    /// How many they are.
    edges: usize,
    potential: Vec<i64>,
    /// reach[a][x]: earliest place in agent a's sequence that node x of iteration 0 precedes.
    reach: Vec<Vec<i128>>,
    /// Unit whose release edges the tables leave out.
    skip: Option<usize>,
    /// Runs asked about so far, by their turns.
    windows: RefCell<BTreeMap<i64, Window>>,
    /// What insertions have changed since the last [`Order::keep`].
    log: Vec<Undo>,
}

/// The graph is unsound: some op waits for itself.
#[derive(Debug)]
pub(crate) struct Deadlock;

impl Order {
    /// The graph of a region at the units' depths, or at `depth` where it says otherwise, with
    /// `extra` release edges `(unit of the release, op that completes, op that issues, distance)`.
    pub fn build(
        model: &Model<'_>,
        life: &Lifetimes,
        region: usize,
        depth: &dyn Fn(usize) -> i64,
        extra: &[(usize, usize, i64)],
    ) -> Result<Order, Deadlock> {
        let mut g = Order::skeleton(model, region);
        g.add_values(model, life, region, depth);
        for e in &model.edges {
            g.link(Node::C(e.src), Node::I(e.dst), e.distance, None);
        }
        for &(src, dst, distance) in extra {
            g.link(Node::C(src), Node::I(dst), distance, None);
        }
        g.settle()?;
        g.tabulate(None);
        Ok(g)
    }

    /// Program order and completions.
    fn skeleton(model: &Model<'_>, region: usize) -> Order {
        let r = &model.regions[region];
        let n = r.ops.len();
        let local: BTreeMap<usize, usize> = r.ops.iter().enumerate().map(|(k, &o)| (o, k)).collect();
        let mut g = Order {
            ii: r.ii,
            local,
            stage: vec![0; n],
            sync: vec![false; n],
            seat: vec![(0, 0); n],
            agents: Vec::new(),
            out: vec![Vec::new(); 2 * n],
            into: vec![Vec::new(); 2 * n],
            edges: 0,
            potential: vec![0; 2 * n],
            reach: Vec::new(),
            skip: None,
            windows: RefCell::default(),
            log: Vec::new(),
        };
        let mut seats: BTreeMap<usize, usize> = BTreeMap::new();
        for (k, &o) in r.ops.iter().enumerate() {
            let op = &model.ops[o];
            let Some(at) = op.at else { continue };
            g.stage[k] = at.stage;
            g.sync[k] = !op.is_async;
            g.potential[2 * k] = at.t;
            g.potential[2 * k + 1] = at.t;
            g.edge(2 * k, 2 * k + 1, 0, None);
            let agent = *seats.entry(op.agent).or_insert_with(|| {
                g.agents.push(Vec::new());
                g.agents.len() - 1
            });
            g.seat[k] = (agent, g.agents[agent].len() as i64);
            g.agents[agent].push(k);
        }
        let mut links = Vec::new();
        for ops in &g.agents {
            for (i, &x) in ops.iter().enumerate() {
                let (y, turn) = match ops.get(i + 1) {
                    Some(&y) => (y, 0),
                    None if r.is_loop => (ops[0], 1),
                    None => continue,
                };
                let d = g.stage[x] - g.stage[y] + turn;
                links.push((2 * x, 2 * y, d));
                if g.sync[x] {
                    links.push((2 * x + 1, 2 * y, d));
                }
            }
        }
        for (x, y, d) in links {
            g.edge(x, y, d, None);
        }
        g
    }

    /// Data edges C(p) -> I(u) at the use's distance, release edges C(u) -> I(p) at D minus it.
    fn add_values(
        &mut self,
        model: &Model<'_>,
        life: &Lifetimes,
        region: usize,
        depth: &dyn Fn(usize) -> i64,
    ) {
        for (k, unit) in life.units.iter().enumerate().filter(|(_, u)| u.region == region) {
            for u in &unit.uses {
                let value = &model.values[life.owner[u.value]];
                if let Some((p, role)) = value.producer {
                    let forwarded = model.values[u.value]
                        .uses
                        .iter()
                        .any(|m| m.op == u.op && crate::model::is_accumulation(model, p, role, m));
                    let from = if forwarded { Node::I(p) } else { Node::C(p) };
                    self.link(from, Node::I(u.op), u.distance, None);
                }
                if let Some(p) = unit.producer.filter(|_| !u.carries) {
                    self.link(Node::C(u.op), Node::I(p), depth(k) - u.distance, Some(k));
                }
            }
        }
    }

    fn node(&self, n: Node) -> Option<usize> {
        match n {
            Node::I(o) => self.local.get(&o).map(|k| 2 * k),
            Node::C(o) => self.local.get(&o).map(|k| 2 * k + 1),
        }
    }

    fn link(&mut self, from: Node, to: Node, distance: i64, owner: Option<usize>) {
        if let (Some(x), Some(y)) = (self.node(from), self.node(to)) {
            self.edge(x, y, distance, owner);
        }
    }

    fn edge(&mut self, x: usize, y: usize, distance: i64, owner: Option<usize>) {
        self.edges += 1;
        self.out[x].push((y, distance, owner));
        self.into[y].push((x, distance, owner));
    }

    fn cost(&self, x: usize, y: usize, d: i64) -> i64 {
        d.saturating_mul(self.ii) + self.potential[y] - self.potential[x]
    }

    /// Makes every edge's cost non-negative, then looks for cycles of zero cost.
    fn settle(&mut self) -> Result<(), Deadlock> {
        let n = self.out.len();
        let mut shift = vec![0i64; n];
        let mut changed = true;
        for _ in 0..=n {
            if !changed {
                break;
            }
            changed = false;
            for x in 0..n {
                for k in 0..self.out[x].len() {
                    let (y, d, _) = self.out[x][k];
                    let through = shift[x].saturating_add(self.cost(x, y, d));
                    if through < shift[y] {
                        shift[y] = through;
                        changed = true;
                    }
                }
            }
        }
        if changed {
            return Err(Deadlock);
        }
        for (p, s) in self.potential.iter_mut().zip(&shift) {
            *p -= s;
        }
        let tight: Vec<Vec<usize>> = (0..n)
            .map(|x| self.out[x].iter().filter(|e| self.cost(x, e.0, e.1) == 0).map(|e| e.0).collect())
            .collect();
        if components_with_cycle(&tight).contains(&true) { Err(Deadlock) } else { Ok(()) }
    }

    /// Fills the reach table, without the release edges of `skip`.
    fn tabulate(&mut self, skip: Option<usize>) {
        self.skip = skip;
        self.windows.get_mut().clear();
        self.reach = (0..self.agents.len()).map(|a| self.earliest(a)).collect();
    }

    /// The earliest place of an agent that each node precedes, from all of its ops.
    fn earliest(&self, agent: usize) -> Vec<i128> {
        let mut best = vec![NEVER; self.out.len()];
        let mut heap = BinaryHeap::new();
        for &op in &self.agents[agent] {
            let place = self.place(op, 0);
            best[2 * op] = place;
            heap.push(Reverse((self.reduced(agent, 2 * op, place), 2 * op)));
        }
        self.spread(agent, &mut best, heap, |_, _| {});
        best
    }

    /// What the queue is sorted by: places times II, less the potential.
    fn reduced(&self, agent: usize, node: usize, place: i128) -> i128 {
        let size = self.agents[agent].len() as i128;
        place * i128::from(self.ii) - size * i128::from(self.potential[node])
    }

    /// Reverse Dijkstra from the queued nodes; `before` is told each node and the place it had.
    fn spread(&self, agent: usize, best: &mut [i128], mut heap: Queue, mut before: impl FnMut(usize, i128)) {
        let size = self.agents[agent].len() as i128;
        while let Some(Reverse((key, y))) = heap.pop() {
            let place = best[y];
            if key > self.reduced(agent, y, place) {
                continue;
            }
            for &(x, d, owner) in &self.into[y] {
                let through = place + i128::from(d) * size;
                if through < best[x] && (owner.is_none() || owner != self.skip) {
                    before(x, best[x]);
                    best[x] = through;
                    heap.push(Reverse((self.reduced(agent, x, through), x)));
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
        let (Some(&x), Some(&y)) = (self.local.get(&from), self.local.get(&to)) else { return false };
        if self.sync[x] && self.seat[x].0 == self.seat[y].0 {
            // Program order alone says it.
            return true;
        }
        // What holds that many turns later holds ever after: `to` follows its own earlier turns.
        let d = d.min(MOST_TURNS);
        let turns = d.abs() + 1;
        let mut windows = self.windows.borrow_mut();
        let run = windows.entry(turns).or_insert_with(|| Window::new(self, turns));
        run.completes_before(self, x, y, d)
    }

    fn precedes(&self, from: Node, to: usize, d: i64) -> bool {
        let (Some(x), Some(&y)) = (self.node(from), self.local.get(&to)) else { return false };
        self.reach[self.seat[y].0][x] <= self.place(y, d)
    }

    /// Place of a turn of an op (local) in its agent's sequence.
    fn place(&self, op: usize, turn: i64) -> i128 {
        let (agent, rank) = self.seat[op];
        let size = self.agents[agent].len() as i128;
        (i128::from(turn) + i128::from(self.stage[op])) * size + i128::from(rank)
    }

    /// Places of one turn in the sequence of each agent.
    pub fn turns(&self) -> impl Iterator<Item = i128> + '_ {
        self.agents.iter().map(|ops| ops.len() as i128)
    }

    /// Agent and place of an op's issue in iteration 0.
    pub fn seat(&self, op: usize) -> Option<(usize, i128)> {
        let &k = self.local.get(&op)?;
        // Without agents nobody has a seat.
        (!self.agents.is_empty()).then(|| (self.seat[k].0, self.place(k, 0)))
    }

    /// The earliest place in an agent's sequence that the completion of an op of iteration 0 precedes.
    pub fn freed(&self, op: usize, agent: usize) -> Option<i128> {
        let x = self.node(Node::C(op))?;
        Some(self.reach[agent][x]).filter(|&place| place != NEVER)
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

#[derive(Clone, Copy)]
enum Node {
    I(usize),
    C(usize),
}
