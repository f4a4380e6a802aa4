//! Bit masks, and the video instructions on four bytes.

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

/// Four bytes, each computed apart; with `add` their sum is added to `c`, else they are put together.
fn four(a: u64, b: u64, c: u64, signed: bool, add: bool, f: fn(i32, i32) -> i32) -> u64 {
    let byte = |x: u64, i: u32| {
        let v = (x >> (8 * i)) as u8;
        if signed { i32::from(v as i8) } else { i32::from(v) }
    };
    let each = (0..4).map(|i| f(byte(a, i), byte(b, i)));
    if add {
        return u64::from(each.fold(c as u32, |s, x| s.wrapping_add(x as u32)));
    }
    each.enumerate().fold(0, |d, (i, x)| d | u64::from(x as u8) << (8 * i))
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

/// `vadd4`, `vsub4`, `vavrg4`, `vabsdiff4`, `vmin4`, `vmax4` on bytes of one sign, without selection.
pub(crate) fn bytes(name: &str, ty: (Ty, Ty), saturates: bool, add: bool) -> Option<F3> {
    macro_rules! by {
        ($f:expr) => {
            match (ty, add) {
                ((Ty::U32, Ty::U32), false) => lanes!(|a, b, c| four(a, b, c, false, false, $f)),
                ((Ty::U32, Ty::U32), true) => lanes!(|a, b, c| four(a, b, c, false, true, $f)),
                ((Ty::S32, Ty::S32), false) => lanes!(|a, b, c| four(a, b, c, true, false, $f)),
                ((Ty::S32, Ty::S32), true) => lanes!(|a, b, c| four(a, b, c, true, true, $f)),
                _ => return None,
            }
        };
    }
    if saturates {
        return None;
    }
    Some(match name {
        "vadd4" => by!(|x, y| x + y),
        "vsub4" => by!(|x, y| x - y),
        "vavrg4" => by!(|x, y| (x + y + 1) >> 1),
        "vabsdiff4" => by!(|x, y| (x - y).abs()),
        "vmin4" => by!(|x, y| x.min(y)),
        "vmax4" => by!(|x, y| x.max(y)),
        _ => return None,
    })
}
