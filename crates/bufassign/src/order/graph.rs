//! The order graph of one region as it is given: nodes, links, and each partition's sequence (B24).

use crate::lifetime::Lifetimes;
use crate::model::{Model, is_accumulation};
use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::{EdgeFiltered, EdgeRef};
use petgraph::{Direction, Incoming, Outgoing};
use std::collections::BTreeMap;

/// Nodes of an op: its issue and its completion.
pub(super) const STEP: usize = 2;

/// An edge: how many turns later, and for a release edge the unit it is of.
#[derive(Clone, Copy)]
pub(super) struct Link {
    pub distance: i64,
    pub owner: Option<usize>,
}

/// The graph is unsound: some op waits for itself.
#[derive(Debug)]
pub(crate) struct Deadlock;

/// The issue or the completion of an op of the model.
#[derive(Clone, Copy)]
pub(super) enum Node {
    I(usize),
    C(usize),
}

#[derive(Clone)]
pub(super) struct Graph {
    ii: i64,
    /// Op index in the model -> index here.
    local: BTreeMap<usize, usize>,
    pub stage: Vec<i64>,
    /// Partition (local) of each op and its rank in that partition's sequence.
    pub seat: Vec<(usize, i64)>,
    /// Ops whose partition waits for their completion.
    pub sync: Vec<bool>,
    /// Ops of each partition.
    pub partitions: Vec<Vec<usize>>,
    /// Nodes 2*op (issue) and 2*op + 1 (completion), each with its potential in cycles.
    links: DiGraph<i64, Link>,
    /// Unit whose release edges count for nothing.
    pub skip: Option<usize>,
}

impl Graph {
    /// Program order and completions.
    pub fn skeleton(model: &Model<'_>, region: usize) -> Graph {
        let r = &model.regions[region];
        let n = r.ops.len();
        let local: BTreeMap<usize, usize> = r.ops.iter().enumerate().map(|(k, &o)| (o, k)).collect();
        let mut g = Graph {
            ii: r.ii,
            local,
            stage: vec![0; n],
            sync: vec![false; n],
            seat: vec![(0, 0); n],
            partitions: Vec::new(),
            links: DiGraph::with_capacity(STEP * n, 4 * n),
            skip: None,
        };
        let mut seats: BTreeMap<usize, usize> = BTreeMap::new();
        for (k, &o) in r.ops.iter().enumerate() {
            let op = &model.ops[o];
            let t = op.at.map_or(0, |at| at.t);
            let (issue, completion) = (g.links.add_node(t), g.links.add_node(t));
            let Some(at) = op.at else { continue };
            g.stage[k] = at.stage;
            g.sync[k] = !op.is_async;
            g.links.add_edge(issue, completion, Link { distance: 0, owner: None });
            let partition = *seats.entry(op.partition).or_insert_with(|| {
                g.partitions.push(Vec::new());
                g.partitions.len() - 1
            });
            g.seat[k] = (partition, g.partitions[partition].len() as i64);
            g.partitions[partition].push(k);
        }
        let mut program = Vec::new();
        for ops in &g.partitions {
            for (i, &x) in ops.iter().enumerate() {
                let (y, turn) = match ops.get(i + 1) {
                    Some(&y) => (y, 0),
                    None if r.is_loop => (ops[0], 1),
                    None => continue,
                };
                let d = g.stage[x] - g.stage[y] + turn;
                program.push((STEP * x, STEP * y, d));
                if g.sync[x] {
                    program.push((STEP * x + 1, STEP * y, d));
                }
            }
        }
        for (x, y, d) in program {
            g.edge(x, y, d, None);
        }
        g
    }

    /// Data edges C(p) -> I(u) at the use's distance, release edges C(u) -> I(p) at D minus it.
    pub fn add_values(
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
                        .any(|m| m.op == u.op && is_accumulation(model, p, role, m));
                    let from = if forwarded { Node::I(p) } else { Node::C(p) };
                    self.link(from, Node::I(u.op), u.distance, None);
                }
                if let Some(p) = unit.producer.filter(|_| !u.carries) {
                    self.link(Node::C(u.op), Node::I(p), depth(k) - u.distance, Some(k));
                }
            }
        }
    }

    /// Index of an op of the model.
    pub fn op(&self, op: usize) -> Option<usize> {
        self.local.get(&op).copied()
    }

    pub fn node(&self, n: Node) -> Option<usize> {
        match n {
            Node::I(o) => self.op(o).map(|k| STEP * k),
            Node::C(o) => self.op(o).map(|k| STEP * k + 1),
        }
    }

    pub fn link(&mut self, from: Node, to: Node, distance: i64, owner: Option<usize>) {
        if let (Some(x), Some(y)) = (self.node(from), self.node(to)) {
            self.edge(x, y, distance, owner);
        }
    }

    pub fn edge(&mut self, x: usize, y: usize, distance: i64, owner: Option<usize>) {
        self.links.add_edge(NodeIndex::new(x), NodeIndex::new(y), Link { distance, owner });
    }

    /// Takes the edge added last away.
    pub fn pop_edge(&mut self) {
        if let Some(last) = self.edges().checked_sub(1) {
            self.links.remove_edge(EdgeIndex::new(last));
        }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.links.node_count()
    }

    /// How many edges there are.
    pub fn edges(&self) -> usize {
        self.links.edge_count()
    }

    pub fn potential(&self, node: usize) -> i64 {
        self.links[NodeIndex::new(node)]
    }

    /// What a node leads to, with the distances; release edges of `skip` left out.
    pub fn after(&self, node: usize) -> impl Iterator<Item = (usize, i64)> + '_ {
        self.beside(node, Outgoing).map(|e| (e.1, e.2))
    }

    /// What leads to a node, likewise.
    pub fn before(&self, node: usize) -> impl Iterator<Item = (usize, i64)> + '_ {
        self.beside(node, Incoming).map(|e| (e.0, e.2))
    }

    fn beside(&self, node: usize, to: Direction) -> impl Iterator<Item = (usize, usize, i64)> + '_ {
        let counts = |l: &Link| l.owner.is_none() || l.owner != self.skip;
        let edges = self.links.edges_directed(NodeIndex::new(node), to);
        edges
            .filter(move |e| counts(e.weight()))
            .map(|e| (e.source().index(), e.target().index(), e.weight().distance))
    }

    /// Places of one turn in the sequence of a partition.
    pub fn size(&self, partition: usize) -> i64 {
        self.partitions[partition].len() as i64
    }

    fn cost(&self, x: NodeIndex, y: NodeIndex, d: i64) -> i64 {
        d.saturating_mul(self.ii) + self.links[y] - self.links[x]
    }

    /// What a queue of places is sorted by: places times II, less the potential.
    pub fn reduced(&self, partition: usize, node: usize, place: i128) -> i128 {
        let size = i128::from(self.size(partition));
        place * i128::from(self.ii) - size * i128::from(self.potential(node))
    }

    /// Makes every edge's cost non-negative, then looks for cycles of zero cost.
    pub fn settle(&mut self) -> Result<(), Deadlock> {
        let mut shift = vec![0i64; self.nodes()];
        let mut changed = true;
        for _ in 0..=shift.len() {
            if !changed {
                break;
            }
            changed = false;
            for e in self.links.edge_references() {
                let (x, y) = (e.source(), e.target());
                let through = shift[x.index()].saturating_add(self.cost(x, y, e.weight().distance));
                if through < shift[y.index()] {
                    shift[y.index()] = through;
                    changed = true;
                }
            }
        }
        if changed {
            return Err(Deadlock);
        }
        for (p, s) in self.links.node_weights_mut().zip(&shift) {
            *p -= s;
        }
        let tight = EdgeFiltered::from_fn(&self.links, |e| {
            self.cost(e.source(), e.target(), e.weight().distance) == 0
        });
        toposort(&tight, None).map(|_| ()).map_err(|_| Deadlock)
    }
}
