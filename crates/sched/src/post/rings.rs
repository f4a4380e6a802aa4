//! Values that share one depth, and what their depths cost (S51, S58).

use crate::model::graph::LoopGraph;
use crate::model::problem::{Cap, Problem};
use crate::post::depth::{depths_of, total_bytes};
use crate::post::order::body_order;
use std::collections::BTreeMap;

/// Values that share one depth: a group of peers (S58), or one value alone.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    /// Positions in the graph's values.
    pub values: Vec<usize>,
    /// Bytes of one slot of all of them.
    pub bytes: u64,
    /// RingDepth no schedule at this II goes below.
    pub least: u64,
    /// The least `max_depth` of its values.
    pub most: u64,
}

impl Ring {
    fn empty() -> Self {
        Ring { values: Vec::new(), bytes: 0, least: 1, most: u64::MAX }
    }
}

/// The rings of a graph, with the floors that hold at any II (S60).
pub(crate) fn rings(graph: &LoopGraph) -> Vec<Ring> {
    let mut by_group: BTreeMap<(usize, usize), Ring> = BTreeMap::new();
    for (i, v) in graph.values.iter().enumerate() {
        let key = v.group.map_or((1, i), |g| (0, g));
        let ring = by_group.entry(key).or_insert_with(Ring::empty);
        ring.values.push(i);
        ring.bytes = ring.bytes.saturating_add(v.bytes);
        // What an operation reads of its own earlier results is kept from its write on until then.
        let own = v.uses.iter().filter(|u| u.node == v.def && u.end >= v.start);
        let kept = own.filter_map(|u| u64::try_from(u.distance + i64::from(u.end > v.start)).ok()).max();
        ring.least = ring.least.max(v.min_depth.unwrap_or(1)).max(kept.unwrap_or(1));
        ring.most = ring.most.min(v.max_depth.unwrap_or(u64::MAX));
    }
    by_group.into_values().collect()
}

/// The caps that a depth per ring sets.
pub(crate) fn caps_of(graph: &LoopGraph, rings: &[Ring], depths: &[u64], strict: bool) -> Vec<Option<Cap>> {
    let mut caps = vec![None; graph.values.len()];
    for (ring, &slots) in rings.iter().zip(depths) {
        ring.values.iter().for_each(|&v| caps[v] = Some(Cap { slots, strict }));
    }
    caps
}

/// Bytes of the rings these times need.
pub(crate) fn bytes_at(problem: &Problem, graph: &LoopGraph, ii: i64, time: &[i64]) -> u64 {
    let order = body_order(problem, graph, ii, time);
    total_bytes(graph, &depths_of(graph, ii, time, &order))
}
