//! `wgmma`: a product by a warpgroup, B from shared memory, D in registers (T12, T13).

use super::{Major, OperandPlace};
use crate::Element;

/// Rows of D of one instruction.
pub const M: u32 = 64;
/// Most columns of D of one instruction.
pub const N_MAX: u32 = 256;

/// Columns of A that one instruction reduces, 32 bytes of them; `None` for a type it does not take.
pub fn k(element: Element) -> Option<u32> {
    match element {
        Element::F16 | Element::Bf16 => Some(16),
        Element::Tf32 => Some(8),
        Element::E4m3 | Element::E5m2 | Element::S8 | Element::U8 => Some(32),
        Element::B1 => Some(256),
        _ => None,
    }
}

/// Whether one instruction can make `n` columns of D from operands of this type.
///
/// ```
/// use warploom_chips::{Element, mma::wgmma};
/// assert!(wgmma::n_legal(Element::Bf16, 40) && !wgmma::n_legal(Element::S8, 40));
/// assert!(!wgmma::n_legal(Element::Bf16, 12));
/// ```
pub fn n_legal(element: Element, n: u32) -> bool {
    let step = match element {
        // 8, 16, 24, 32, then in steps of 16.
        Element::S8 | Element::U8 | Element::B1 if n > 32 => 16,
        _ => 8,
    };
    k(element).is_some() && n.is_multiple_of(step) && (8..=N_MAX).contains(&n)
}

/// The most columns one instruction can make so that equal instructions cover `n`; `None` if none do.
pub fn n_dividing(element: Element, n: u32) -> Option<u32> {
    (1..=N_MAX / 8)
        .rev()
        .map(|eighth| eighth * 8)
        .find(|&piece| n_legal(element, piece) && n.is_multiple_of(piece))
}

/// Whether operands of this type can lie so (T13): B is in shared memory, A there or in registers, and
/// only 16-bit operands in shared memory can be MN-major.
pub fn operands_legal(element: Element, a: OperandPlace, a_major: Major, b_major: Major) -> bool {
    let sixteen_bit = matches!(element, Element::F16 | Element::Bf16);
    let a_legal = match a {
        OperandPlace::Registers => a_major == Major::K,
        OperandPlace::Shared => a_major == Major::K || sixteen_bit,
        OperandPlace::TensorMemory => false,
    };
    k(element).is_some() && a_legal && (b_major == Major::K || sixteen_bit)
}
