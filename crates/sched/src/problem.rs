//! A validated loop in the form the solvers work on: numbers instead of names.

use crate::digraph::{Arc, Digraph};
use crate::graph::LoopGraph;
use std::collections::HashMap;

/// A non-empty use of a unit (S4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnitUse {
    pub resource: u32,
    pub start: i64,
    pub duration: i64,
}

/// Operations, their uses, and all dependences: edges, the edges values imply (S8), and caps on depths (S55).
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub n: usize,
    pub latency: Vec<i64>,
    pub dependences: Digraph,
    uses: Vec<UnitUse>,
    use_at: Vec<u32>,
    /// Units per resource.
    pub count: Vec<i64>,
}

impl Problem {
    /// Builds the arrays. `caps` gives the largest depth of each value, by position; the graph's structure must
    /// have been validated.
    pub fn new(graph: &LoopGraph, caps: &[Option<u64>]) -> Self {
        let n = graph.nodes.len();
        let by_name: HashMap<&str, u32> =
            (0..).zip(&graph.resources).map(|(i, r)| (r.name.as_str(), i)).collect();
        let mut uses = Vec::new();
        let mut use_at = Vec::with_capacity(n + 1);
        use_at.push(0);
        for node in &graph.nodes {
            for u in node.uses.iter().filter(|u| u.duration > 0) {
                if let Some(&resource) = by_name.get(u.resource.as_str()) {
                    uses.push(UnitUse { resource, start: u.start as i64, duration: u.duration as i64 });
                }
            }
            use_at.push(uses.len() as u32);
        }
        Problem {
            n,
            latency: graph.nodes.iter().map(|v| v.latency).collect(),
            dependences: Digraph::new(n, arcs(graph, caps)),
            uses,
            use_at,
            count: graph.resources.iter().map(|r| r.count as i64).collect(),
        }
    }

    /// The same loop with other caps on depths.
    pub fn with_caps(&self, graph: &LoopGraph, caps: &[Option<u64>]) -> Self {
        Problem { dependences: Digraph::new(self.n, arcs(graph, caps)), ..self.clone() }
    }

    /// The non-empty uses of an operation.
    pub fn uses(&self, node: usize) -> &[UnitUse] {
        &self.uses[self.use_at[node] as usize..self.use_at[node + 1] as usize]
    }

    /// All non-empty uses, by operation.
    pub fn all_uses(&self) -> &[UnitUse] {
        &self.uses
    }
}

/// All dependences of the graph as arcs.
pub(crate) fn arcs(graph: &LoopGraph, caps: &[Option<u64>]) -> Vec<Arc> {
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
                let distance = cap as i64 - u.distance;
                arcs.push(Arc { src: node, dst: def, latency: u.end - v.start, distance });
            }
        }
    }
    arcs
}

/// The caps that the graph itself sets: `max_depth`, the least of a group (S58).
pub(crate) fn own_caps(graph: &LoopGraph) -> Vec<Option<u64>> {
    let mut caps: Vec<Option<u64>> = graph.values.iter().map(|v| v.max_depth).collect();
    if caps.iter().any(Option::is_some) {
        let mut group: HashMap<usize, u64> = HashMap::new();
        for v in &graph.values {
            if let (Some(g), Some(cap)) = (v.group, v.max_depth) {
                let least = group.entry(g).or_insert(cap);
                *least = cap.min(*least);
            }
        }
        for (cap, v) in caps.iter_mut().zip(&graph.values) {
            if let Some(g) = v.group {
                *cap = group.get(&g).copied();
            }
        }
    }
    caps
}
