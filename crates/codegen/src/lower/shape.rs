//! Extents of tiles.

use smallvec::SmallVec;

/// Extents that are not 1: a reshape that keeps them moves nothing.
pub(super) fn squeezed(shape: &[u64]) -> SmallVec<[u64; 5]> {
    shape.iter().copied().filter(|&n| n != 1).collect()
}
