//! Loops whose exit is computed in the loop (S104).

use crate::model::graph::{LoopEdge, LoopGraph};
use hashbrown::HashSet;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What decides whether there is another iteration, and how many may start before it is known (S104).
///
/// Operations of iteration `i` start when the exit of iteration `i - 1 - speculation` is known. Those in
/// [`committed`](Self::committed) cannot be taken back, such as stores, and wait for that of iteration `i - 1`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopExit {
    /// The operation whose result says whether the loop goes on.
    pub node: usize,
    /// Iterations that may start before it is known: 0 waits for each.
    #[serde(default)]
    pub speculation: u64,
    /// Operations that are never started for an iteration that may not be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub committed: Vec<usize>,
}

impl LoopGraph {
    /// The same loop with the waits of its exit as edges, after its own.
    pub(crate) fn with_exit_edges(&self) -> Cow<'_, LoopGraph> {
        let Some(exit) = &self.exit else { return Cow::Borrowed(self) };
        let latency = self.nodes.get(exit.node).map_or(0, |v| v.latency);
        let mut graph = self.clone();
        graph.exit = None;
        let committed: HashSet<usize> = exit.committed.iter().copied().collect();
        graph.edges.extend((0..self.nodes.len()).map(|dst| {
            let speculation = if committed.contains(&dst) { 0 } else { exit.speculation as i64 };
            LoopEdge { src: exit.node, dst, latency, distance: speculation + 1 }
        }));
        Cow::Owned(graph)
    }
}
