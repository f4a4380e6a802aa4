//! Exact branch and bound (B60).

use super::PackOptions;
use super::prepare::Prepared;

/// What a search found out.
pub(super) enum Answer {
    /// Offsets of blocks within the capacity.
    Found(Vec<u64>),
    /// There are none; these blocks cannot be placed together.
    None(Vec<usize>),
    /// The budget ran out.
    Unknown,
}

/// Looks for a plan within `capacity`; takes visited nodes off `budget`.
pub(super) fn search(_p: &Prepared, _capacity: u64, _options: &PackOptions, _budget: &mut u64) -> Answer {
    Answer::Unknown
}
