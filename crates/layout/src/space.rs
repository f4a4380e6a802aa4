//! The numbers that the inputs, or the outputs, of a layout take together.

use smallvec::SmallVec;

use crate::bits::log2;
use crate::dim::Dim;
use crate::error::{LayoutError, Result};

/// Dimensions with their bits, in canonical order. A dimension of size 1 has no bits and is not held, so that two
/// spaces are equal where their numbers are (G1). A point is a `u64`, the first dimension in its low bits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Space {
    dims: SmallVec<[(Dim, u8); 4]>,
}

/// The most bits of a point, so that every shift by a bit number is defined.
pub(crate) const MOST_BITS: u32 = 63;

impl Space {
    /// Dimensions by size; one named twice has the product of its sizes.
    pub fn of_sizes(sizes: &[(Dim, u64)], what: &'static str) -> Result<Space> {
        let mut space = Space::default();
        for &(dim, size) in sizes {
            let bits = log2(size).ok_or_else(|| LayoutError::Size { what: dim.to_string(), size })?;
            space = space.widened(dim, bits, what)?;
        }
        Ok(space)
    }

    /// The same with more bits of one dimension.
    pub fn widened(&self, dim: Dim, bits: u32, what: &'static str) -> Result<Space> {
        let total = self.total() + bits;
        if total > MOST_BITS {
            return Err(LayoutError::TooLarge { what, bits: total });
        }
        let mut dims = self.dims.clone();
        match dims.binary_search_by_key(&dim, |&(dim, _)| dim) {
            Ok(at) => dims[at].1 += bits as u8,
            Err(_) if bits == 0 => {}
            Err(at) => dims.insert(at, (dim, bits as u8)),
        }
        Ok(Space { dims })
    }

    pub fn iter(&self) -> impl Iterator<Item = (Dim, u32)> + '_ {
        self.dims.iter().map(|&(dim, bits)| (dim, u32::from(bits)))
    }

    pub fn bits(&self, dim: Dim) -> u32 {
        self.iter().find(|&(d, _)| d == dim).map_or(0, |(_, bits)| bits)
    }

    pub fn total(&self) -> u32 {
        self.iter().map(|(_, bits)| bits).sum()
    }

    /// The bit of a point that is bit 0 of the dimension.
    pub fn shift(&self, dim: Dim) -> u32 {
        self.iter().take_while(|&(d, _)| d < dim).map(|(_, bits)| bits).sum()
    }

    /// The bits of a point that belong to the dimension.
    pub fn mask(&self, dim: Dim) -> u64 {
        ((1 << self.bits(dim)) - 1) << self.shift(dim)
    }

    /// The bits of a point that belong to any of these.
    pub fn masks(&self, dims: &[Dim]) -> u64 {
        dims.iter().fold(0, |mask, &dim| mask | self.mask(dim))
    }

    /// The number that a point has in the dimension.
    pub fn part(&self, point: u64, dim: Dim) -> u64 {
        point >> self.shift(dim) & ((1 << self.bits(dim)) - 1)
    }

    /// Numbers as a point; a number beyond its dimension is refused.
    pub fn point(&self, parts: &[(Dim, u64)]) -> Result<u64> {
        parts.iter().try_fold(0, |point, &(dim, value)| {
            let bits = self.bits(dim);
            if value >> bits != 0 {
                return Err(LayoutError::Outside { dim, value, size: 1 << bits });
            }
            Ok(point ^ value << self.shift(dim))
        })
    }

    /// A point as numbers, one for each dimension that has bits.
    pub fn parts(&self, point: u64) -> Vec<(Dim, u64)> {
        self.iter().map(|(dim, _)| (dim, self.part(point, dim))).collect()
    }

    /// The dimension of a bit of a point, and its number there.
    pub fn bit(&self, bit: u32) -> Option<(Dim, u32)> {
        let mut below = 0;
        for (dim, bits) in self.iter() {
            if bit < below + bits {
                return Some((dim, bit - below));
            }
            below += bits;
        }
        None
    }

    /// A point of this space as a point of another; what the other has no room for is lost.
    pub fn carry(&self, point: u64, other: &Space) -> u64 {
        self.iter().fold(0, |sum, (dim, _)| {
            sum | (self.part(point, dim) & ((1 << other.bits(dim)) - 1)) << other.shift(dim)
        })
    }
}
