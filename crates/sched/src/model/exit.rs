//! Loops whose exit is computed in the loop (S104).

use serde::{Deserialize, Serialize};

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
