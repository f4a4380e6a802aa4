//! The containment-preserving index map (A31) and its slot form (A34, A35).

use serde::Serialize;
use smallvec::SmallVec;

use crate::error::{AliasError, Result};

/// Where each buffer of a leaf lies: `base + (i / P) * strides[0] + sum digit_j * strides[j]`, the digits of
/// `i mod P` in the mixed radix `radices`, outermost first. Normal form: no radix is 1, and no level could be
/// merged with the one around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IndexMap {
    /// Position of buffer 0, in units.
    pub base: u64,
    /// Group sizes, outermost first.
    pub radices: SmallVec<[u64; 4]>,
    /// Distance of groups, then of the cells of each level; one more than `radices`.
    pub strides: SmallVec<[u64; 5]>,
}

impl IndexMap {
    /// The map of a path of group sizes and strides, outermost first, under a group stride.
    pub fn new(base: u64, group_stride: u64, path: &[(u64, u64)]) -> IndexMap {
        let mut radices = SmallVec::new();
        let mut strides: SmallVec<[u64; 5]> = SmallVec::from_slice(&[group_stride]);
        for &(radix, stride) in path.iter().filter(|(radix, _)| *radix > 1) {
            radices.push(radix);
            strides.push(stride);
        }
        // From the innermost level outwards: a level that goes on where its last cell ends is no level.
        let mut level = radices.len();
        while level > 0 {
            let outer = strides.get(level - 1).copied();
            let inner = strides.get(level).copied();
            let radix = radices.get(level - 1).copied();
            if let (Some(outer), Some(inner), Some(radix)) = (outer, inner, radix)
                && inner.checked_mul(radix) == Some(outer)
            {
                strides.remove(level - 1);
                radices.remove(level - 1);
                if let Some(around) = level.checked_sub(2).and_then(|n| radices.get_mut(n)) {
                    *around = around.saturating_mul(radix);
                }
            }
            level -= 1;
        }
        IndexMap { base, radices, strides }
    }

    /// Position of buffer `index`, in units; `None` when it does not fit 64 bits.
    pub fn position(&self, index: u64) -> Option<u64> {
        mixed(index, self.base, &self.radices, &self.strides)
    }
}

fn mixed(index: u64, base: u64, radices: &[u64], strides: &[u64]) -> Option<u64> {
    let mut rest = index;
    let mut position = base;
    for (radix, stride) in radices.iter().zip(strides.get(1..)?).rev() {
        let digit = rest.checked_rem(*radix)?;
        rest /= radix;
        position = position.checked_add(digit.checked_mul(*stride)?)?;
    }
    position.checked_add(rest.checked_mul(*strides.first()?)?)
}

/// An index map in multiples of the buffer size: what indexing an expanded alias computes (A35).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlotMap {
    /// Slot of buffer 0.
    pub offset: u64,
    /// Group sizes, outermost first.
    pub radices: SmallVec<[u64; 4]>,
    /// Steps in slots; one more than `radices`.
    pub steps: SmallVec<[u64; 5]>,
    /// Dimension 0 of the expanded alias: the largest slot and one.
    pub slots: u64,
}

impl SlotMap {
    /// The slot form of a map.
    ///
    /// # Errors
    /// A34 when a stride of the path or the base is no multiple of the buffer size; checked from the outside
    /// in, as TLX does.
    pub fn new(
        map: &IndexMap,
        group_stride: u64,
        path: &[(u64, u64)],
        unit: u64,
        count: u64,
    ) -> Result<SlotMap> {
        let odd = |what: &str, value: u64| {
            AliasError::new(
                "A34",
                format!("{what} ({value}) must be a multiple of the original buffer size ({unit})"),
            )
            .help("drop strict slots, which only need a base and a stride, or pad the buffer")
        };
        let levels = path.iter().filter(|(radix, _)| *radix > 1).map(|(_, stride)| *stride);
        for stride in std::iter::once(group_stride).chain(levels) {
            if stride.checked_rem(unit) != Some(0) {
                return Err(odd("units_between_buffer_groups", stride));
            }
        }
        if !map.base.is_multiple_of(unit) {
            return Err(odd("buffer_offset", map.base));
        }
        let mut slots = SlotMap {
            offset: map.base / unit,
            radices: map.radices.clone(),
            steps: map.strides.iter().map(|s| s / unit).collect(),
            slots: 0,
        };
        let last = count.checked_sub(1).and_then(|last| slots.slot(last));
        slots.slots = last
            .and_then(|last| last.checked_add(1))
            .ok_or_else(|| AliasError::overflow("an expanded allocation"))?;
        Ok(slots)
    }

    /// Slot of buffer `index`.
    pub fn slot(&self, index: u64) -> Option<u64> {
        mixed(index, self.offset, &self.radices, &self.steps)
    }

    /// Whether slot and index are the same number.
    pub fn is_identity(&self) -> bool {
        self.offset == 0 && self.radices.is_empty() && self.steps.first() == Some(&1)
    }
}
