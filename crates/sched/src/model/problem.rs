//! A validated loop in the form the solvers work on: numbers instead of names.

use crate::model::digraph::{Arc, Digraph};
use crate::model::graph::{LoopGraph, LoopValue};
use hashbrown::HashMap;

/// A non-empty use of a unit (S4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnitUse {
    pub resource: u32,
    pub start: i64,
    pub duration: i64,
}

/// The largest depth a value may have (S55).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cap {
    pub slots: u64,
    /// Readers come a cycle before the rewriting, so that no order within a cycle is needed (S22, S53).
    pub strict: bool,
}

/// Operations, their uses, and all dependences: edges, the edges values imply (S8), and caps on depths (S55).
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub n: usize,
    pub latency: Vec<i64>,
    pub dependences: Digraph,
    /// What is held in a row.
    held: Uses,
    /// What is taken in turn, of interleaved resources: it bounds the II and is placed nowhere.
    taken: Uses,
    /// Units per resource.
    pub count: Vec<i64>,
}

/// Non-empty uses, by operation.
#[derive(Clone, Debug)]
struct Uses {
    all: Vec<UnitUse>,
    at: Vec<u32>,
}

impl Uses {
    fn with_room_for(operations: usize) -> Self {
        let mut at = Vec::with_capacity(operations + 1);
        at.push(0);
        Uses { all: Vec::new(), at }
    }

    /// What was added since the last operation is this one's.
    fn end_operation(&mut self) {
        self.at.push(self.all.len() as u32);
    }

    fn of(&self, node: usize) -> &[UnitUse] {
        &self.all[self.at[node] as usize..self.at[node + 1] as usize]
    }

    fn only(&self, operations: &[usize]) -> Self {
        let mut uses = Uses::with_room_for(operations.len());
        for &v in operations {
            uses.all.extend(self.of(v));
            uses.end_operation();
        }
        uses
    }
}

impl Problem {
    /// Builds the arrays. `caps` gives the largest depth of each value, by position; the graph's structure must
    /// have been validated.
    pub fn new(graph: &LoopGraph, caps: &[Option<Cap>]) -> Self {
        let n = graph.nodes.len();
        let by_name: HashMap<&str, u32> =
            (0..).zip(&graph.resources).map(|(i, r)| (r.name.as_str(), i)).collect();
        let (mut held, mut taken) = (Uses::with_room_for(n), Uses::with_room_for(n));
        for node in &graph.nodes {
            for u in node.uses.iter().filter(|u| u.duration > 0) {
                if let Some(&resource) = by_name.get(u.resource.as_str()) {
                    let interleaved = graph.resources[resource as usize].interleaved;
                    let uses = if interleaved { &mut taken } else { &mut held };
                    uses.all.push(UnitUse { resource, start: u.start as i64, duration: u.duration as i64 });
                }
            }
            held.end_operation();
            taken.end_operation();
        }
        Problem {
            n,
            latency: graph.nodes.iter().map(|v| v.latency).collect(),
            dependences: Digraph::new(n, arcs(graph, caps)),
            held,
            taken,
            count: graph.resources.iter().map(|r| r.count as i64).collect(),
        }
    }

    /// The same loop with other caps on depths.
    pub fn with_caps(&self, graph: &LoopGraph, caps: &[Option<Cap>]) -> Self {
        Problem { dependences: Digraph::new(self.n, arcs(graph, caps)), ..self.clone() }
    }

    /// The loop of these operations alone, with these dependences.
    pub fn only(&self, operations: &[usize], dependences: Digraph) -> Self {
        Problem {
            n: operations.len(),
            latency: operations.iter().map(|&v| self.latency[v]).collect(),
            dependences,
            held: self.held.only(operations),
            taken: self.taken.only(operations),
            count: self.count.clone(),
        }
    }

    /// The non-empty uses of an operation that are held in a row.
    pub fn uses(&self, node: usize) -> &[UnitUse] {
        self.held.of(node)
    }

    /// What an operation takes of interleaved resources.
    pub fn taken(&self, node: usize) -> &[UnitUse] {
        self.taken.of(node)
    }

    /// The cycles that one iteration holds, or takes in turn, of each resource.
    pub fn held(&self) -> Vec<i64> {
        let mut held = vec![0; self.count.len()];
        let all = self.held.all.iter().chain(&self.taken.all);
        all.for_each(|u| held[u.resource as usize] += u.duration);
        held
    }

    /// Cycles from the first start to the last result (S23).
    pub fn length(&self, time: &[i64]) -> i64 {
        let end = time.iter().zip(&self.latency).map(|(t, l)| t + l).max().unwrap_or(0);
        end - time.iter().copied().min().unwrap_or(0)
    }

    /// All non-empty uses that are held in a row, by operation.
    pub fn all_uses(&self) -> &[UnitUse] {
        &self.held.all
    }
}

/// All dependences of the graph as arcs.
pub(crate) fn arcs(graph: &LoopGraph, caps: &[Option<Cap>]) -> Vec<Arc> {
    let mut arcs: Vec<Arc> = graph
        .edges
        .iter()
        .map(|e| Arc { src: e.src as u32, dst: e.dst as u32, latency: e.latency, distance: e.distance })
        .collect();
    for (i, v) in graph.values.iter().enumerate() {
        for u in &v.uses {
            let (def, node) = (v.def as u32, u.node as u32);
            arcs.push(Arc { src: def, dst: node, latency: v.start, distance: u.distance });
            if let Some(cap) = caps.get(i).copied().flatten() {
                let distance = cap.slots as i64 - u.distance;
                // Below 0 the law of S51 would hold and that of S52 not: the reader must also come first. One that
                // rewrites what it read has no order to keep with itself.
                let latency = (u.end - v.start).max(i64::from(cap.strict && node != def));
                arcs.push(Arc { src: node, dst: def, latency, distance });
            }
        }
    }
    arcs
}

/// The caps that the graph itself sets: `max_depth`, the least of a group (S58).
pub(crate) fn own_caps(graph: &LoopGraph) -> Vec<Option<Cap>> {
    let cap = |slots| Cap { slots, strict: false };
    let mut group: HashMap<usize, u64> = HashMap::new();
    for v in &graph.values {
        if let (Some(g), Some(most)) = (v.group, v.max_depth) {
            let least = group.entry(g).or_insert(most);
            *least = most.min(*least);
        }
    }
    let peers = |v: &LoopValue| v.group.and_then(|g| group.get(&g).copied());
    graph.values.iter().map(|v| peers(v).or(v.max_depth).map(cap)).collect()
}
