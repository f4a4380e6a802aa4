//! Fragments of `wgmma`, by a warpgroup: 64 rows (C61).

use super::{COL, ROW};
use crate::dim::Dim;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;

/// Accumulators of 64 x `n`, N from 8 to 256. An N that is no power of two is several of these side by side.
pub fn accumulator(n: u64) -> Result<Layout> {
    if !n.is_power_of_two() || !(8..=256).contains(&n) {
        let what = format!("N = {n} as one layout");
        return Err(LayoutError::Instruction { instruction: "wgmma", what });
    }
    Layout::of(&[
        (Dim::Register, COL, 2),
        (Dim::Lane, COL, 4),
        (Dim::Lane, ROW, 8),
        (Dim::Register, ROW, 2),
        (Dim::Register, COL, n / 8),
        (Dim::Warp, ROW, 4),
    ])
}

/// Operand A in registers: 64 rows by 32 bytes of K, of elements of 8, 16 or 32 bits.
pub fn a(bits: u64) -> Result<Layout> {
    if !matches!(bits, 8 | 16 | 32) {
        let what = format!("operands of {bits} bits in registers");
        return Err(LayoutError::Instruction { instruction: "wgmma", what });
    }
    let warp = super::mma_sync::a(16, 256 / bits, bits)?;
    warp.times(&Layout::of(&[(Dim::Warp, ROW, 4)])?)
}
