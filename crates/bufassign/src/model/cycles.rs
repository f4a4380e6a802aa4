//! Data that runs in a circle.

use super::types::Model;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// Ops on a cycle of data at total distance 0.
pub(crate) fn zero_distance_cycles(model: &Model<'_>) -> Vec<bool> {
    let mut data = DiGraph::<(), ()>::with_capacity(model.ops.len(), model.values.len());
    model.ops.iter().for_each(|_| {
        data.add_node(());
    });
    for (k, v) in model.values.iter().enumerate() {
        // A view's producer is its owner's.
        let Some((p, _)) = owner(model, k).and_then(|o| model.values[o].producer) else { continue };
        for u in v.uses.iter().filter(|u| u.distance == 0) {
            data.add_edge(NodeIndex::new(p), NodeIndex::new(u.op), ());
        }
    }
    let mut cyclic = vec![false; model.ops.len()];
    for part in kosaraju_scc(&data) {
        let many = part.len() > 1;
        part.iter().for_each(|&op| cyclic[op.index()] = many || data.contains_edge(op, op));
    }
    cyclic
}

/// The value at the end of the `view_of` links, `None` if they loop.
pub(crate) fn owner(model: &Model<'_>, v: usize) -> Option<usize> {
    let mut at = v;
    for _ in 0..=model.values.len() {
        match model.values[at].view_of {
            Some(next) => at = next,
            None => return Some(at),
        }
    }
    None
}
