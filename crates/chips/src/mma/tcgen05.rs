//! `tcgen05.mma`: a product issued by one thread, D in tensor memory (T12-T14).

use serde::{Deserialize, Serialize};

use super::{Major, OperandPlace};
use crate::{Element, Feature, Swizzle, Target};

/// The `.kind` of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// f16 and bf16.
    F16,
    /// tf32.
    Tf32,
    /// Floats of 8, 6 and 4 bits, each in a byte of its own.
    F8f6f4,
    /// Integers of 8 bits.
    I8,
    /// Block-scaled floats of 8, 6 and 4 bits.
    Mxf8f6f4,
    /// Block-scaled packed floats of 4 bits.
    Mxf4,
}

impl Kind {
    /// The kind that takes this type without block scales; `None` if there is none.
    pub fn of(element: Element) -> Option<Kind> {
        match element {
            Element::F16 | Element::Bf16 => Some(Kind::F16),
            Element::Tf32 => Some(Kind::Tf32),
            Element::E4m3 | Element::E5m2 | Element::E2m3 | Element::E3m2 | Element::E2m1 => {
                Some(Kind::F8f6f4)
            }
            Element::S8 | Element::U8 => Some(Kind::I8),
            _ => None,
        }
    }

    /// Whether the kind applies block scales.
    pub fn block_scaled(self) -> bool {
        matches!(self, Kind::Mxf8f6f4 | Kind::Mxf4)
    }

    /// Columns of A that one instruction reduces.
    pub fn k(self) -> u32 {
        match self {
            Kind::F16 => 16,
            Kind::Tf32 => 8,
            Kind::F8f6f4 | Kind::I8 | Kind::Mxf8f6f4 => 32,
            Kind::Mxf4 => 64,
        }
    }
}

/// How an instruction spreads over CTAs and warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Form {
    /// `.cta_group::1`.
    OneCta,
    /// `.cta_group::2`, a pair of CTAs.
    TwoCtas,
    /// `.ws`, weight-stationary.
    WeightStationary,
}

/// Whether the chip has one instruction for m rows and n columns of D, reducing k elements (T12).
pub fn shape_legal(target: &Target, kind: Kind, form: Form, m: u32, n: u32, k: u32) -> bool {
    let chip_has_kind = match kind {
        Kind::I8 => target.has(Feature::Tcgen05I8),
        _ => target.has(Feature::Tcgen05),
    };
    let rows: &[u32] = match form {
        Form::OneCta if kind.block_scaled() => &[128],
        Form::OneCta => &[64, 128],
        Form::TwoCtas => &[128, 256],
        Form::WeightStationary if kind.block_scaled() => &[],
        Form::WeightStationary => &[32, 64, 128],
    };
    let columns = match (form, kind) {
        (Form::WeightStationary, _) => matches!(n, 64 | 128 | 256),
        (Form::OneCta, Kind::I8) => n <= 32 && n.is_multiple_of(8) || n.is_multiple_of(16),
        (Form::OneCta, _) => n.is_multiple_of(8),
        (Form::TwoCtas, Kind::I8) => n.is_multiple_of(32),
        (Form::TwoCtas, _) => n.is_multiple_of(16),
    };
    // The deeper mxf4 instruction is sm_103a's own.
    let deep = kind == Kind::Mxf4 && form == Form::TwoCtas && k == 96 && target.chip.capability == 103;
    let in_range = (8..=256).contains(&n);
    chip_has_kind && rows.contains(&m) && columns && in_range && (k == kind.k() || deep)
}

/// Whether operands of this type can lie so (T13): A in shared or tensor memory, B in shared memory;
/// MN-major for 8 and 16 bits, for 32 bits only with 32-byte atoms.
pub fn operands_legal(
    element: Element,
    a: OperandPlace,
    (a_major, a_swizzle): (Major, Swizzle),
    (b_major, b_swizzle): (Major, Swizzle),
) -> bool {
    let legal = |major, swizzle| match (major, element.bits()) {
        (Major::K, _) | (Major::Mn, 8 | 16) => true,
        (Major::Mn, 32) => swizzle == Swizzle::B128Atom32,
        (Major::Mn, _) => false,
    };
    let a_legal = match a {
        OperandPlace::Shared => legal(a_major, a_swizzle),
        OperandPlace::TensorMemory => a_major == Major::K,
        OperandPlace::Registers => false,
    };
    Kind::of(element).is_some() && a_legal && legal(b_major, b_swizzle)
}

/// Columns to allocate for `columns` columns in use: a power of two from `min_alloc` to all of them
/// (T14); `None` if the chip has no such allocation.
pub fn allocation(target: &Target, columns: u32) -> Option<u32> {
    let tmem = target.tmem.as_ref()?;
    let size = columns.max(tmem.min_alloc).checked_next_power_of_two()?;
    (columns > 0 && size <= tmem.columns).then_some(size)
}

/// Columns that an accumulator of `n` 32-bit columns takes (T14): one each, whatever its rows.
pub fn accumulator_columns(n: u32) -> u32 {
    n
}
