//! What is known of a tile along one dimension, and how far a question may go.

use hashbrown::HashMap;
use warploom_ir::{Module, Type, ValueId};

/// A power of two no smaller than any that matters.
pub(super) const MOST: u64 = 1 << 30;

/// Deepest chain of operations that is followed, and most operations for one question.
pub(super) const DEEPEST: u32 = 200;

pub(super) const MOST_STEPS: u32 = 20_000;

/// A tile along one of its dimensions. All numbers are powers of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    /// Elements of each aligned group of so many are consecutive numbers; pointers by their element.
    pub consecutive: u64,
    /// The first element of each such group is a multiple of this; pointers in bytes.
    pub multiple: u64,
    /// Elements of each aligned group of so many are equal.
    pub equal: u64,
    /// Of each aligned group of so many truth values, the true ones come first. Equal ones do, too: see
    /// [`Run::leading`].
    pub(super) prefix: u64,
}

impl Run {
    pub(super) const UNKNOWN: Run = Run { consecutive: 1, multiple: 1, equal: 1, prefix: 1 };

    /// Of each aligned group of so many truth values, the true ones come first.
    pub fn leading(self) -> u64 {
        self.prefix.max(self.equal)
    }

    /// Equal elements that are multiples of a power of two.
    pub(super) fn constant(multiple: u64) -> Run {
        Run { multiple, equal: MOST, ..Run::UNKNOWN }
    }

    /// What divides each element, where neighbours are `unit` apart.
    pub(super) fn each(self, unit: u64) -> u64 {
        if self.consecutive > 1 { self.multiple.min(unit) } else { self.multiple }
    }

    /// What divides the first elements of groups of this size.
    pub(super) fn first(self, group: u64, unit: u64) -> u64 {
        if self.consecutive > group { self.multiple.min(group.saturating_mul(unit)) } else { self.multiple }
    }
}

/// Largest power of two that divides a number.
pub(super) fn power(value: u64) -> u64 {
    if value == 0 { MOST } else { (1 << value.trailing_zeros().min(30)).min(MOST) }
}

/// Answers about the values of one module.
pub(crate) struct Runs<'m> {
    pub(super) module: &'m Module,
    pub(super) known: HashMap<(ValueId, usize), Run>,
    pub(super) divisors: HashMap<ValueId, u64>,
}

/// What is left of one question's work.
pub(super) struct Budget {
    pub(super) steps: u32,
    pub(super) depth: u32,
    /// Scalars whose divisor is being looked for: a loop's own value adds nothing to what it starts from.
    pub(super) open: Vec<ValueId>,
}

/// Bytes of what a pointer points to, where they are a power of two; 1 for numbers.
pub(super) fn pointee(ty: &Type) -> u64 {
    match ty.elem() {
        Type::Ptr { pointee, .. } => {
            let bytes = pointee.elem_bits().map_or(1, |bits| u64::from(bits).div_ceil(8));
            if bytes.is_power_of_two() { bytes } else { 1 }
        }
        _ => 1,
    }
}
