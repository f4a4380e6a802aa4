//! Boxes that TMA copies, as they lie in shared memory (C13, C60).

use crate::dim::Dim;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::swizzle::Swizzle;
use crate::tile_op::row_major;

/// A box of a tensor, the innermost dimension last: offset in shared memory onto places of the box. With a swizzle the
/// innermost extent must not exceed its width; refuses that, and extents above 256.
pub fn shared(extents: &[u64], bits: u64, swizzle: Swizzle) -> Result<Layout> {
    let refuse = |what| Err(LayoutError::Instruction { instruction: "cp.async.bulk.tensor", what });
    if extents.is_empty() || extents.len() > 5 || extents.iter().any(|&extent| extent > 256) {
        return refuse(format!("a box of {extents:?}"));
    }
    let inner = extents.last().copied().unwrap_or(1).saturating_mul(bits) / 8;
    if swizzle.bits > 0 && inner > swizzle.width() {
        return refuse(format!("{inner} bytes in a row of {}", swizzle.width()));
    }
    let plain = row_major(extents)?.inverse();
    swizzle.map(plain.input_size(Dim::Offset), bits)?.then(&plain)
}
