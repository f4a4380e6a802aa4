//! What it costs to cross from one partition to another (S66).

use crate::model::graph::LoopGraph;
use crate::model::int::div_ceil;
use crate::model::partition::PartitionModel;

/// Synchronisation cost: the cycles that a crossing adds to an edge from `src` to `dst` (S66).
pub(super) fn crossing(model: &PartitionModel, graph: &LoopGraph, src: usize, dst: usize) -> i64 {
    let in_registers = graph
        .values
        .iter()
        .filter(|v| v.def == src && v.space == model.register_space && v.uses.iter().any(|u| u.node == dst));
    let bytes = in_registers.map(|v| v.bytes).fold(0, u64::saturating_add);
    if bytes == 0 {
        return model.barrier;
    }
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX / 1024);
    model.barrier + model.payload + div_ceil(model.payload_per_10240.saturating_mul(bytes), 10_240)
}

/// The pairs of operations of which one waits for the other, each once (S69).
pub(super) fn handovers(graph: &LoopGraph) -> Vec<(usize, usize)> {
    let edges = graph.edges.iter().map(|e| (e.src, e.dst));
    let reads = graph.values.iter().flat_map(|v| v.uses.iter().map(|u| (v.def, u.node)));
    let mut pairs: Vec<(usize, usize)> = edges.chain(reads).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
