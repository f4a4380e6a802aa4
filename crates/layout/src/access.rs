//! Accesses to memory: how many of a lane's registers one instruction moves (G13), and what it costs in shared memory.

use crate::bits::{Echelon, rank};
use crate::dim::Dim;
use crate::error::Result;
use crate::layout::Layout;
use crate::tile_op::in_order;

/// The registers of a lane as pieces for one instruction each. Numbers of registers are added (xor): piece `i` starts at
/// the sum of those `repeats` whose bit of `i` is set, and element `j` of a piece is that plus the sum of those `vector`
/// whose bit of `j` is set. Registers that hold copies of others are left out.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Access {
    /// What tells the elements of a piece apart, the lowest address bit first.
    pub vector: Vec<u64>,
    /// What tells the pieces apart.
    pub repeats: Vec<u64>,
}

impl Access {
    /// Elements of a piece.
    pub fn width(&self) -> u64 {
        1 << self.vector.len()
    }

    /// Pieces of a lane.
    pub fn pieces(&self) -> u64 {
        1 << self.repeats.len()
    }

    /// The first register of a piece.
    pub fn first(&self, piece: u64) -> u64 {
        crate::bits::apply(&self.repeats, piece)
    }

    /// The register of element `j` of the piece that starts at `first`.
    pub fn element(&self, first: u64, j: u64) -> u64 {
        first ^ crate::bits::apply(&self.vector, j)
    }
}

/// The widest pieces of a layout onto [`Dim::Offset`] of at most `most` elements: those low bits of the offset that the
/// registers alone have.
pub fn pieces(to: &Layout, most: u64) -> Access {
    let offset = to.outputs.shift(Dim::Offset);
    let low = |image: u64| to.outputs.part(image, Dim::Offset);
    let registers = to.inputs.bits(Dim::Register) as usize;
    let mut echelon = Echelon::new();
    for (bit, &image) in to.images_of(Dim::Register).iter().enumerate() {
        echelon.insert(image, 1 << bit);
    }
    // A piece starts at a multiple of its size in every lane.
    let others = to.images[registers..].iter().fold(0, |all, &image| all | low(image));
    let widest = most.max(1).ilog2().min(to.outputs.bits(Dim::Offset)).min(others.trailing_zeros());
    let vector: Vec<u64> = (0..widest).map_while(|bit| echelon.solve(1 << (offset + bit))).collect();
    let repeats = repeats(to, &vector, &[]);
    Access { vector, repeats }
}

/// What is left of the registers beside a vector: starts of pieces, each at a multiple of the vector. `aside` are
/// register masks that are counted apart.
pub(crate) fn repeats(to: &Layout, vector: &[u64], aside: &[u64]) -> Vec<u64> {
    let mut taken = Echelon::new();
    for &mask in vector.iter().chain(aside) {
        taken.insert(to.point(mask), 0);
    }
    let aligned = |mask: u64| {
        let low = to.outputs.part(to.point(mask), Dim::Offset);
        mask ^ crate::bits::apply(vector, low & ((1 << vector.len()) - 1))
    };
    let units = (0..to.inputs.bits(Dim::Register)).map(|bit| 1u64 << bit);
    units.filter(|&unit| taken.insert(to.point(unit), 0).is_none()).map(aligned).collect()
}

/// Pieces of an access to global memory that runs through a tile of this shape with the dimensions from the fastest to
/// the slowest, and may take up to `most` neighbours at once (see [`crate::neighbours`]).
///
/// ```
/// use warploom_layout::{fragment::mma_sync, global_pieces};
/// // A lane of an accumulator has two neighbours in a row.
/// let access = global_pieces(&mma_sync::accumulator(16)?, &[16, 8], &[1, 0], 8)?;
/// assert_eq!((access.width(), access.pieces()), (2, 2));
/// # Ok::<(), warploom_layout::LayoutError>(())
/// ```
pub fn global_pieces(layout: &Layout, shape: &[u64], fastest_first: &[usize], most: u64) -> Result<Access> {
    let to = layout.then(&in_order(shape, fastest_first)?)?;
    let row = fastest_first.first().and_then(|&i| shape.get(i)).copied().unwrap_or(1);
    Ok(pieces(&to, most.min(row)))
}

/// Bytes that shared memory moves in one wavefront: 32 banks of 4 bytes.
pub(crate) const WAVEFRONT: u32 = 7;
/// `log2` of the bytes of a bank.
pub(crate) const BANK: u32 = 2;

/// Wavefronts of one access to shared memory by a warp: `lanes` are the images of the lanes' bits, in elements of
/// `2^element` bytes, each lane moves `2^vector` neighbours. Lanes go in phases of as many as fill 128 bytes, lowest
/// first; lanes of a phase that want other words of one bank wait for each other.
pub(crate) fn wavefronts(lanes: &[u64], vector: u32, element: u32) -> u64 {
    let width = vector + element;
    let together = (WAVEFRONT.saturating_sub(width) as usize).min(lanes.len());
    let phases = 1u64 << (lanes.len() - together);
    let words = |image: u64| image << element >> BANK;
    let inside = (0..width.saturating_sub(BANK)).map(|bit| 1u64 << bit);
    let all: Vec<u64> = lanes[..together].iter().map(|&image| words(image)).chain(inside).collect();
    let banks = (1 << (WAVEFRONT - BANK)) - 1;
    phases << (rank(all.iter().copied()) - rank(all.iter().map(|word| word & banks)))
}
