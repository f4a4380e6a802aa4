//! Fragments of `mma.sync`, by one warp (C67; PTX ISA 9.7.14.5).
//!
//! Eight rows (columns of B) go to eight groups of four lanes; a lane of a group holds 32 bits of K (64 of f64), then
//! the same 8 rows further, then the next K. The legacy form of f16 with M = N = 8, K = 4 by quarter-warps is left out:
//! Volta's alone.

use super::{COL, ROW};
use crate::dim::Dim;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;

/// Elements of K that a lane holds side by side: those of a 32-bit register, or one of 64 bits.
fn packed(bits: u64) -> Result<u64> {
    match bits {
        1 | 4 | 8 | 16 | 32 => Ok(32 / bits),
        64 => Ok(1),
        _ => Err(refuse(format!("elements of {bits} bits"))),
    }
}

fn refuse(what: String) -> LayoutError {
    LayoutError::Instruction { instruction: "mma.sync", what }
}

/// Blocks of K that a lane's registers go through.
fn blocks(bits: u64, k: u64) -> Result<(u64, u64)> {
    let packed = packed(bits)?;
    if !k.is_power_of_two() || k < 4 * packed {
        return Err(refuse(format!("K = {k} of {bits} bits")));
    }
    Ok((packed, k / (4 * packed)))
}

/// Operand A, `m` x `k` elements of `bits` bits: M is 8 or 16. Types whose elements stand in a byte each count as 8 bits.
///
/// ```
/// use warploom_layout::fragment::mma_sync;
/// let a = mma_sync::a(16, 16, 16)?;
/// assert_eq!(
///     a.to_string(),
///     "(register: 1@dim1, 8@dim0, 8@dim1; lane: 2@dim1, 4@dim1, 1@dim0, 2@dim0, 4@dim0) -> (dim0: 16, dim1: 16)"
/// );
/// # Ok::<(), warploom_layout::LayoutError>(())
/// ```
pub fn a(m: u64, k: u64, bits: u64) -> Result<Layout> {
    if m != 8 && m != 16 {
        return Err(refuse(format!("M = {m}")));
    }
    let (packed, blocks) = blocks(bits, k)?;
    Layout::of(&[
        (Dim::Register, COL, packed),
        (Dim::Lane, COL, 4),
        (Dim::Lane, ROW, 8),
        (Dim::Register, ROW, m / 8),
        (Dim::Register, COL, blocks),
    ])
}

/// Operand B, `k` x 8 elements of `bits` bits.
pub fn b(k: u64, bits: u64) -> Result<Layout> {
    let (packed, blocks) = blocks(bits, k)?;
    Layout::of(&[
        (Dim::Register, ROW, packed),
        (Dim::Lane, ROW, 4),
        (Dim::Lane, COL, 8),
        (Dim::Register, ROW, blocks),
    ])
}

/// Accumulators C and D, `m` x 8 elements of any type: M is 8 or 16.
pub fn accumulator(m: u64) -> Result<Layout> {
    if m != 8 && m != 16 {
        return Err(refuse(format!("M = {m}")));
    }
    Layout::of(&[
        (Dim::Register, COL, 2),
        (Dim::Lane, COL, 4),
        (Dim::Lane, ROW, 8),
        (Dim::Register, ROW, m / 8),
    ])
}
