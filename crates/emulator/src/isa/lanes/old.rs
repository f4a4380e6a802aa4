//! Bit masks, and multiplications of old.

use super::{F2, F3, lanes};
use crate::isa::types::Ty;

/// `bmsk`: ones from bit `a`, `b` of them. `szext`: `a` cut to `b` bits and extended. Positions beyond the word count
/// modulo 32 with `.wrap`, else as 32.
pub(crate) fn masked(name: &str, wrap: bool, ty: Ty) -> Option<F2> {
    fn ones(n: u64) -> u64 {
        if n >= 32 { 0xffff_ffff } else { (1 << n) - 1 }
    }
    fn mask(from: u64, n: u64) -> u64 {
        if from >= 32 { 0 } else { ones(n) << from & 0xffff_ffff }
    }
    fn extended(a: u64, n: u64, signed: bool) -> u64 {
        let negative = signed && n > 0 && a >> (n.min(32) - 1) & 1 == 1;
        a & ones(n) | if negative { 0xffff_ffff & !ones(n) } else { 0 }
    }
    fn clamped(n: u64) -> u64 {
        (n & 0xffff_ffff).min(32)
    }
    Some(match (name, wrap, ty) {
        ("bmsk", false, Ty::B32) => lanes!(|a, b| mask(clamped(a), clamped(b))),
        ("bmsk", true, Ty::B32) => lanes!(|a, b| mask(a & 31, b & 31)),
        ("szext", false, Ty::U32) => lanes!(|a, b| extended(a, clamped(b), false)),
        ("szext", false, Ty::S32) => lanes!(|a, b| extended(a, clamped(b), true)),
        ("szext", true, Ty::U32) => lanes!(|a, b| extended(a, b & 31, false)),
        ("szext", true, Ty::S32) => lanes!(|a, b| extended(a, b & 31, true)),
        _ => return None,
    })
}

/// `mad.hi.sat.s32`: the sum of the high half and `c` stays in range.
pub(crate) fn multiply_saturating(ty: Ty) -> Option<F3> {
    (ty == Ty::S32).then_some(lanes!(|a, b, c| {
        let high = ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as i32;
        u64::from(high.saturating_add(c as i32) as u32)
    }))
}

/// `mad24.hi.sat.s32`: as that, of the upper 32 of the 48 bits of the product of two numbers of 24 bits.
pub(crate) fn multiply_24_saturating(ty: Ty) -> Option<F3> {
    (ty == Ty::S32).then_some(lanes!(|a, b, c| {
        let product = i64::from((a as i32) << 8 >> 8) * i64::from((b as i32) << 8 >> 8);
        u64::from(((product >> 16) as i32).saturating_add(c as i32) as u32)
    }))
}
