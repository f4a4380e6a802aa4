//! `mma.sync`: a product by one warp from registers (T12).

use crate::{Element, Feature, Target};

/// The shapes (m, n, k) the chip takes for operands of this type, smallest first; none if it takes no
/// such type.
///
/// ```
/// use warploom_chips::{Element, Target, mma::mma_sync};
/// let ampere = Target::named("sm_80").unwrap();
/// assert_eq!(mma_sync::shapes(&ampere, Element::Bf16), [(16, 8, 8), (16, 8, 16)]);
/// assert!(mma_sync::shapes(&ampere, Element::E4m3).is_empty());
/// ```
pub fn shapes(target: &Target, element: Element) -> &'static [(u32, u32, u32)] {
    const HALF: &[(u32, u32, u32)] = &[(16, 8, 8), (16, 8, 16)];
    const TF32: &[(u32, u32, u32)] = &[(16, 8, 4), (16, 8, 8)];
    const EIGHT_BIT: &[(u32, u32, u32)] = &[(16, 8, 16), (16, 8, 32)];
    const FOUR_BIT: &[(u32, u32, u32)] = &[(16, 8, 32), (16, 8, 64)];
    const NARROW_FLOAT: &[(u32, u32, u32)] = &[(16, 8, 32)];
    const F64: &[(u32, u32, u32)] = &[(8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)];
    const F64_BEFORE_HOPPER: &[(u32, u32, u32)] = &[(8, 8, 4)];
    const NONE: &[(u32, u32, u32)] = &[];
    match element {
        Element::F16 | Element::Bf16 => HALF,
        Element::Tf32 => TF32,
        Element::S8 | Element::U8 => EIGHT_BIT,
        Element::S4 | Element::U4 => FOUR_BIT,
        Element::E4m3 | Element::E5m2 if target.has(Feature::Fp8MmaSync) => EIGHT_BIT,
        Element::E2m1 | Element::E2m3 | Element::E3m2 if target.has(Feature::MmaSyncE2m1) => NARROW_FLOAT,
        Element::F64 if target.chip.capability >= 90 => F64,
        Element::F64 => F64_BEFORE_HOPPER,
        _ => NONE,
    }
}
