//! Named barriers of a CTA (E24).

use crate::race::clock::Clock;

/// One of the sixteen barriers.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamedBarrier {
    /// Threads expected in this generation; 0 when nobody has arrived.
    pub count: u32,
    /// Threads that have arrived: warps times 32.
    pub arrived: u32,
    /// Warps that arrived, and whether they wait.
    pub warps: Vec<(u32, bool)>,
    /// Completed generations.
    pub generation: u32,
    /// What the arrivals carry.
    pub clock: Clock,
    /// What everybody knew when the last generation completed (B04).
    pub last: Clock,
    /// Line of the first arrival of this generation.
    pub line: u32,
    /// Result of a reduction: popc, and, or.
    pub votes: (u32, bool, bool),
    /// Whether any thread count came from `n` being absent.
    pub whole: bool,
}
