//! Shared memory that no buffer takes, and that is needed all the same.

use crate::layout::SCRATCH_ALIGN;
use crate::select::Selection;
use crate::transports::made::MAP_BYTES;

/// Bytes of shared memory kept for the address of tensor memory, for the barriers of accumulators with several slots
/// (C20), for tensor maps while they are made, and for what the computing warps exchange, aligned (C16, C65).
pub(super) fn spare(selection: &Selection) -> u64 {
    let barriers: u64 = selection.accumulators.iter().map(|s| 16 * s.slots).sum();
    let address = if selection.accumulators.is_empty() { 0 } else { barriers + 16 };
    let maps = if selection.makes_maps() { 2 * MAP_BYTES } else { 0 };
    let scratch = if selection.scratch > 0 { selection.scratch.saturating_add(SCRATCH_ALIGN) } else { 0 };
    (address + maps).saturating_add(scratch)
}
