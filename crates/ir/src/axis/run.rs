//! What is known of a tile along one dimension.

use smallvec::SmallVec;

use crate::types::Type;

/// A power of two no smaller than any that matters.
pub(super) const MOST: u64 = 1 << 30;

/// A tile along one of its dimensions. All numbers are powers of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Run {
    /// Elements of each aligned group of so many are consecutive numbers; pointers by their element.
    pub consecutive: u64,
    /// The first element of each such group is a multiple of this; pointers in bytes.
    pub multiple: u64,
    /// Elements of each aligned group of so many are equal.
    pub equal: u64,
    /// Of each aligned group of so many truth values, the true ones come first, as a comparison or a conjunction of
    /// comparisons says. Equal ones do, too: see [`Run::leading`].
    pub(super) prefix: u64,
}

/// What is known of a value along each dimension; scalars have one.
pub(super) type Runs = SmallVec<[Run; 2]>;

impl Run {
    /// Nothing is known.
    pub const UNKNOWN: Run = Run { consecutive: 1, multiple: 1, equal: 1, prefix: 1 };

    /// Of each aligned group of so many truth values, the true ones come first.
    pub fn leading(self) -> u64 {
        self.prefix.max(self.equal)
    }

    /// Equal elements that are multiples of a power of two.
    pub(super) fn constant(multiple: u64) -> Run {
        Run { multiple, equal: MOST, ..Run::UNKNOWN }
    }

    /// Equal in groups, nothing else.
    pub(super) fn equals(equal: u64) -> Run {
        Run { equal, ..Run::UNKNOWN }
    }

    /// What divides each element, where neighbours are `unit` apart.
    pub(super) fn each(self, unit: u64) -> u64 {
        if self.consecutive > 1 { self.multiple.min(unit) } else { self.multiple }
    }

    /// What divides the first elements of groups of this size.
    pub(super) fn first(self, group: u64, unit: u64) -> u64 {
        if self.consecutive > group { self.multiple.min(group.saturating_mul(unit)) } else { self.multiple }
    }

    /// What holds of both, in groups of at most so many elements that all come from the same one.
    pub(super) fn meet(self, other: Run, group: u64, unit: u64) -> Run {
        let consecutive = self.consecutive.min(other.consecutive).min(group);
        Run {
            consecutive,
            multiple: self.first(consecutive, unit).min(other.first(consecutive, unit)),
            equal: self.equal.min(other.equal).min(group),
            prefix: 1,
        }
    }

    /// In groups of at most so many.
    pub(super) fn within(self, group: u64, unit: u64) -> Run {
        let consecutive = self.consecutive.min(group);
        Run { consecutive, multiple: self.first(consecutive, unit), ..self }
    }
}

/// Largest power of two that divides a number.
pub(super) fn power(value: u64) -> u64 {
    if value == 0 { MOST } else { 1 << value.trailing_zeros().min(30) }
}

/// Bytes of what a pointer points to, where they are a power of two; 1 for numbers.
pub(super) fn unit(ty: &Type) -> u64 {
    match ty.elem() {
        Type::Ptr { pointee, .. } => {
            let bytes = pointee.elem_bits().map_or(1, |bits| u64::from(bits).div_ceil(8));
            if bytes.is_power_of_two() { bytes } else { 1 }
        }
        _ => 1,
    }
}
