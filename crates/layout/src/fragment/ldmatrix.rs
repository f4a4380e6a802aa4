//! `ldmatrix` and `stmatrix`: matrices of 8 rows of 16 bytes (C64, C67, E37).

use super::{COL, ROW};
use crate::dim::Dim;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;

/// `ldmatrix.m8n8.xN.b16`, and `stmatrix` likewise: registers (of `bits`-bit elements) and lanes onto row and column of
/// a matrix, and which matrix, [`Dim::Part`]. A row is what stands side by side in shared memory; `trans` needs 16-bit
/// elements.
///
/// ```
/// use warploom_layout::fragment::ldmatrix;
/// assert_eq!(
///     ldmatrix::matrices(4, 16, true)?.to_string(),
///     "(register: 1@dim0, 1@part, 2@part; lane: 2@dim0, 4@dim0, 1@dim1, 2@dim1, 4@dim1) \
///      -> (part: 4, dim0: 8, dim1: 8)"
/// );
/// # Ok::<(), warploom_layout::LayoutError>(())
/// ```
pub fn matrices(count: u64, bits: u64, trans: bool) -> Result<Layout> {
    let refuse = |what| Err(LayoutError::Instruction { instruction: "ldmatrix", what });
    if !matches!(count, 1 | 2 | 4) {
        return refuse(format!("{count} matrices"));
    }
    if !matches!(bits, 4 | 8 | 16 | 32) || trans && bits != 16 {
        let how = if trans { " transposed" } else { "" };
        return refuse(format!("elements of {bits} bits{how}"));
    }
    let (along, across) = if trans { (ROW, COL) } else { (COL, ROW) };
    Layout::of(&[
        (Dim::Register, along, 32 / bits),
        (Dim::Lane, along, 4),
        (Dim::Lane, across, 8),
        (Dim::Register, Dim::Part, count),
    ])
}

/// The lane whose address is taken for a row of a matrix: `8 j + r` for row `r` of matrix `j`.
pub fn addresses(count: u64) -> Result<Layout> {
    Layout::of(&[(Dim::Lane, ROW, 8), (Dim::Lane, Dim::Part, count)])
}
