//! What the exit of a loop makes wait (S104), in the checker's own words.

use crate::model::graph::{LoopEdge, LoopGraph};
use std::borrow::Cow;

/// The loop with a dependence from its exit to every operation: of the next iteration for those that cannot be taken back,
/// of that after `speculation` more for the others.
pub(super) fn waited(graph: &LoopGraph) -> Cow<'_, LoopGraph> {
    let Some(exit) = graph.exit.as_ref() else { return Cow::Borrowed(graph) };
    let known = graph.nodes.iter().filter(|v| v.id == exit.node).map(|v| v.latency).max().unwrap_or(0);
    let mut all = LoopGraph { exit: None, ..graph.clone() };
    for v in &graph.nodes {
        let ahead = if exit.committed.contains(&v.id) { 0 } else { exit.speculation };
        let distance = 1 + i64::try_from(ahead).unwrap_or(i64::MAX - 1);
        all.edges.push(LoopEdge { src: exit.node, dst: v.id, latency: known, distance });
    }
    Cow::Owned(all)
}
