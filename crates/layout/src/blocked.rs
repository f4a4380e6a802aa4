//! Layouts chosen for accesses to global memory (G13).

use crate::bits::log2;
use crate::dim::Dim;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::tile_op::in_order;

/// The lanes of a warp.
pub const LANES: u64 = 32;

/// A tile spread for an access of `vector` neighbours per lane along the fastest dimension: the lanes of a warp go along
/// the fastest dimensions, so that their pieces stand side by side in memory; the warps along the slowest, so that a row
/// stays in one warp where it can; registers take what is left. A tile smaller than that has copies: of fewer elements
/// in a vector first, then of lanes and warps, in their high bits.
///
/// `fastest_first` orders the dimensions as memory does. Sizes, `vector` and `warps` are powers of two.
///
/// ```
/// use warploom_layout::blocked;
/// let rows_of_64_halves = blocked(&[32, 64], &[1, 0], 8, 4)?;
/// assert_eq!(
///     rows_of_64_halves.to_string(),
///     "(register: 1@dim1, 2@dim1, 4@dim1, 4@dim0; lane: 8@dim1, 16@dim1, 32@dim1, 1@dim0, 2@dim0; \
///      warp: 8@dim0, 16@dim0) -> (dim0: 32, dim1: 64)"
/// );
/// # Ok::<(), warploom_layout::LayoutError>(())
/// ```
pub fn blocked(shape: &[u64], fastest_first: &[usize], vector: u64, warps: u64) -> Result<Layout> {
    // Refuses orders and extents.
    let order = in_order(shape, fastest_first)?;
    let mut left: Vec<(Dim, u32)> = fastest_first
        .iter()
        .map(|&i| {
            let dim = Dim::Axis(i as u8);
            (dim, order.inputs.bits(dim))
        })
        .collect();
    let mut pieces = Vec::new();
    let mut take = |input: Dim, wanted: u32, from: &mut (Dim, u32)| {
        let bits = wanted.min(from.1);
        from.1 -= bits;
        if bits > 0 {
            pieces.push((input, from.0, 1 << bits));
        }
        wanted - bits
    };
    let mut lanes = log2(LANES).unwrap_or(0);
    let mut wanted_warps = Layout::size_bits("warps", warps)?;
    let wanted = Layout::size_bits("a vector", vector)?;
    if let Some(first) = left.first_mut() {
        take(Dim::Register, wanted, first);
    }
    for dim in &mut left {
        lanes = take(Dim::Lane, lanes, dim);
    }
    // The warps' pieces are as far apart as they can be: what registers take lies below.
    let mut above: Vec<(Dim, u64)> = Vec::new();
    for dim in left.iter_mut().rev() {
        let bits = wanted_warps.min(dim.1);
        wanted_warps -= bits;
        dim.1 -= bits;
        above.push((dim.0, 1 << bits));
    }
    for dim in &mut left {
        take(Dim::Register, dim.1, dim);
    }
    pieces.extend(above.into_iter().rev().map(|(dim, size)| (Dim::Warp, dim, size)));
    Layout::of(&pieces)?
        .times(&Layout::copies(Dim::Lane, 1 << lanes)?)?
        .times(&Layout::copies(Dim::Warp, 1 << wanted_warps)?)
}

/// How many neighbours one access may take: `contiguity` elements stand side by side and the first at a multiple of
/// that, of `bits` bits each, and no access has more than `widest` bits.
pub fn neighbours(contiguity: u64, bits: u64, widest: u64) -> Result<u64> {
    if bits == 0 {
        return Err(LayoutError::Size { what: "an element".into(), size: bits });
    }
    let most = (widest / bits).max(1);
    let aligned = 1 << contiguity.max(1).trailing_zeros();
    Ok(aligned.min(1 << most.ilog2()))
}
