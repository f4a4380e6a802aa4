//! Swizzles and padding of shared memory (G3).

use crate::dim::Dim;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;

/// An exclusive-or of address bits: bits `row ..` of a byte's address are added to bits `chunk ..`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Swizzle {
    /// How many bits.
    pub bits: u32,
    /// The first bit that is changed: `log2` of the bytes of a chunk that stays together.
    pub chunk: u32,
    /// The first bit that is added.
    pub row: u32,
}

impl Swizzle {
    /// Addresses as they are.
    pub const NONE: Swizzle = Swizzle { bits: 0, chunk: 4, row: 7 };
    /// The 32-byte mode of TMA, wgmma and tcgen05 (C60).
    pub const B32: Swizzle = Swizzle { bits: 1, chunk: 4, row: 7 };
    /// The 64-byte mode.
    pub const B64: Swizzle = Swizzle { bits: 2, chunk: 4, row: 7 };
    /// The 128-byte mode.
    pub const B128: Swizzle = Swizzle { bits: 3, chunk: 4, row: 7 };
    /// The 128-byte mode with chunks of 32 bytes.
    pub const B128_ATOM_32: Swizzle = Swizzle { bits: 2, chunk: 5, row: 7 };

    /// Bytes of a row of the pattern: the widest that stays in place.
    pub fn width(self) -> u64 {
        1u64.checked_shl(self.chunk.saturating_add(self.bits)).unwrap_or(u64::MAX)
    }

    /// Offset onto offset, for `elements` of `bits` bits each. It is its own inverse. Bits of addresses beyond the
    /// elements count as zero: the base is aligned to the whole pattern. Refuses elements larger than a chunk, and bits
    /// that are added to themselves or lie beyond bit 60.
    ///
    /// ```
    /// use warploom_layout::{Dim, Swizzle};
    /// let map = Swizzle::B128.map(1024, 8)?;
    /// assert_eq!(map.apply(&[(Dim::Offset, 0x80)])?, [(Dim::Offset, 0x90)]);
    /// # Ok::<(), warploom_layout::LayoutError>(())
    /// ```
    pub fn map(self, elements: u64, bits: u64) -> Result<Layout> {
        let element = Layout::size_bits("an element's number of bits", bits)?;
        // Addresses of bits: a byte is 8 of them.
        let (chunk, row) = (self.chunk.saturating_add(3), self.row.saturating_add(3));
        if chunk < element || row < chunk.saturating_add(self.bits) || row > 63 {
            let what = format!("a swizzle of {self:?} for elements of {bits} bits");
            return Err(LayoutError::Shape { what });
        }
        let mut map = Layout::identity(&[(Dim::Offset, elements)])?;
        let total = map.images.len() as u32;
        for bit in 0..self.bits {
            let (from, to) = (row - element + bit, chunk - element + bit);
            if from < total {
                map.images[from as usize] ^= 1 << to;
            }
        }
        Ok(map)
    }
}

/// Where offsets go that have gaps between them: after every `every` elements, `extra` more are left free. It is no
/// linear map, and so stands beside one (G3). Both zero mean no gaps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Padding {
    /// Elements without a gap.
    pub every: u64,
    /// Elements left free.
    pub extra: u64,
}

impl Padding {
    /// The padded place of an offset; `None` beyond what a `u64` holds.
    pub fn place(self, offset: u64) -> Option<u64> {
        let gaps = offset.checked_div(self.every).unwrap_or(0);
        offset.checked_add(gaps.checked_mul(self.extra)?)
    }

    /// The offset at a padded place; `None` in a gap.
    pub fn offset(self, place: u64) -> Option<u64> {
        if self.every == 0 {
            return Some(place);
        }
        let period = self.every.checked_add(self.extra)?;
        let within = place % period;
        (within < self.every).then(|| place / period * self.every + within)
    }
}
