//! Integer and bit operations.

use super::{F1, F2, F3, int, lanes};
use crate::isa::types::Ty;
use crate::number::float::flush;

/// Picks by the width and sign of a type.
macro_rules! by_type {
    ($ty:expr, |$($a:ident),+| $e:expr) => {
        match $ty {
            Ty::U8 | Ty::B8 => int!(u8 as u8, |$($a),+| $e),
            Ty::U16 | Ty::B16 => int!(u16 as u16, |$($a),+| $e),
            Ty::U32 | Ty::B32 => int!(u32 as u32, |$($a),+| $e),
            Ty::U64 | Ty::B64 => int!(u64 as u64, |$($a),+| $e),
            Ty::S8 => int!(i8 as u8, |$($a),+| $e),
            Ty::S16 => int!(i16 as u16, |$($a),+| $e),
            Ty::S32 => int!(i32 as u32, |$($a),+| $e),
            Ty::S64 => int!(i64 as u64, |$($a),+| $e),
            _ => return None,
        }
    };
}

/// `not`, `neg`, `abs`, `popc`, `clz`, `brev`, `cnot`, `bfind`.
pub(crate) fn unary(name: &str, ty: Ty) -> Option<F1> {
    Some(match name {
        "not" => by_type!(ty, |a| !a),
        "neg" => match ty {
            Ty::S16 => int!(i16 as u16, |a| a.wrapping_neg()),
            Ty::S32 => int!(i32 as u32, |a| a.wrapping_neg()),
            Ty::S64 => int!(i64 as u64, |a| a.wrapping_neg()),
            _ => return None,
        },
        "abs" => match ty {
            Ty::S16 => int!(i16 as u16, |a| a.wrapping_abs()),
            Ty::S32 => int!(i32 as u32, |a| a.wrapping_abs()),
            Ty::S64 => int!(i64 as u64, |a| a.wrapping_abs()),
            _ => return None,
        },
        "cnot" => by_type!(ty, |a| if a == 0 { 1 } else { 0 }),
        "popc" => by_type!(ty, |a| a.count_ones()),
        "clz" => by_type!(ty, |a| a.leading_zeros()),
        "brev" => by_type!(ty, |a| a.reverse_bits()),
        "bfind.shiftamt" => match ty {
            Ty::U32 => int!(u32 as u32, |a| if a == 0 { u32::MAX } else { a.leading_zeros() }),
            Ty::S32 => int!(i32 as u32, |a| {
                let a = if a < 0 { !a } else { a } as u32;
                if a == 0 { u32::MAX } else { a.leading_zeros() }
            }),
            Ty::U64 => int!(u64 as u32, |a| if a == 0 { u32::MAX } else { a.leading_zeros() }),
            Ty::S64 => int!(i64 as u32, |a| {
                let a = if a < 0 { !a } else { a } as u64;
                if a == 0 { u32::MAX } else { a.leading_zeros() }
            }),
            _ => return None,
        },
        "bfind" => match ty {
            Ty::U32 => int!(u32 as u32, |a| if a == 0 { u32::MAX } else { 31 - a.leading_zeros() }),
            Ty::S32 => int!(i32 as u32, |a| {
                let a = if a < 0 { !a } else { a } as u32;
                if a == 0 { u32::MAX } else { 31 - a.leading_zeros() }
            }),
            Ty::U64 => int!(u64 as u32, |a| if a == 0 { u32::MAX } else { 63 - a.leading_zeros() }),
            Ty::S64 => int!(i64 as u32, |a| {
                let a = if a < 0 { !a } else { a } as u64;
                if a == 0 { u32::MAX } else { 63 - a.leading_zeros() }
            }),
            _ => return None,
        },
        _ => return None,
    })
}

/// `slct`: `a` where `c` is not negative.
pub(crate) fn select(by: Ty, ftz: bool) -> Option<F3> {
    Some(match by {
        Ty::S32 if ftz => return None,
        Ty::F32 if ftz => lanes!(|a, b, c| if flush(f32::from_bits(c as u32)) >= 0.0 { a } else { b }),
        Ty::S32 => lanes!(|a, b, c| if c as u32 as i32 >= 0 { a } else { b }),
        Ty::F32 => lanes!(|a, b, c| if f32::from_bits(c as u32) >= 0.0 { a } else { b }),
        _ => return None,
    })
}

/// `add.sat.s32`, `sub.sat.s32`.
pub(crate) fn saturating(name: &str, ty: Ty) -> Option<F2> {
    Some(match (name, ty) {
        ("add", Ty::S32) => int!(i32 as u32, |a, b| a.saturating_add(b)),
        ("sub", Ty::S32) => int!(i32 as u32, |a, b| a.saturating_sub(b)),
        _ => return None,
    })
}

/// `mul24` and `mad24`: the low or high 32 of 48 bits, plus `c`.
pub(crate) fn multiply_24(part: &str, ty: Ty) -> Option<F3> {
    fn u(x: u64) -> u64 {
        x & 0xff_ffff
    }
    fn s(x: u64) -> i64 {
        i64::from((x as i32) << 8 >> 8)
    }
    Some(match (part, ty) {
        ("lo", Ty::U32) => lanes!(|a, b, c| u64::from(((u(a) * u(b)) as u32).wrapping_add(c as u32))),
        ("hi", Ty::U32) => lanes!(|a, b, c| u64::from((((u(a) * u(b)) >> 16) as u32).wrapping_add(c as u32))),
        ("lo", Ty::S32) => lanes!(|a, b, c| u64::from(((s(a) * s(b)) as u32).wrapping_add(c as u32))),
        ("hi", Ty::S32) => lanes!(|a, b, c| u64::from((((s(a) * s(b)) >> 16) as u32).wrapping_add(c as u32))),
        _ => return None,
    })
}

/// `cvt.pack.sat`: two saturated integers, b lowest, then a; 8-bit ones below what `c` holds.
pub(crate) fn pack(to: Ty) -> Option<F3> {
    macro_rules! two {
        ($t:ty, $bits:expr) => {
            lanes!(|a, b, c| {
                let cut = |x: u64| {
                    let x = (x as u32 as i32).clamp(<$t>::MIN.into(), <$t>::MAX.into());
                    x as u64 & ((1 << $bits) - 1)
                };
                (c << (2 * $bits) | cut(a) << $bits | cut(b)) & 0xffff_ffff
            })
        };
    }
    Some(match to {
        Ty::U8 => two!(u8, 8),
        Ty::S8 => two!(i8, 8),
        Ty::U16 => two!(u16, 16),
        Ty::S16 => two!(i16, 16),
        _ => return None,
    })
}

/// `prmt` with a mode, or by a selector of four nibbles.
pub(crate) fn permutation(mode: &str, ty: Ty) -> Option<F3> {
    if ty != Ty::B32 {
        return None;
    }
    fn pick(a: u64, b: u64, at: impl Fn(u64) -> u64) -> u64 {
        let bytes = (b << 32) | (a & 0xffff_ffff);
        (0..4).fold(0, |d, i| d | (bytes >> (8 * (at(i) & 7)) & 0xff) << (8 * i))
    }
    Some(match mode {
        "" => lanes!(|a, b, c| permute(a, b, c)),
        "f4e" => lanes!(|a, b, c| pick(a, b, |i| (c & 3) + i)),
        "b4e" => lanes!(|a, b, c| pick(a, b, |i| (c & 3).wrapping_sub(i))),
        "rc8" => lanes!(|a, b, c| pick(a, b, |_| c & 3)),
        "ecl" => lanes!(|a, b, c| pick(a, b, |i| i.max(c & 3))),
        "ecr" => lanes!(|a, b, c| pick(a, b, |i| i.min(c & 3))),
        "rc16" => lanes!(|a, b, c| pick(a, b, |i| 2 * (c & 1) + i % 2)),
        _ => return None,
    })
}

/// Two-operand arithmetic and logic without `mul` and shifts.
pub(crate) fn binary(name: &str, ty: Ty) -> Option<F2> {
    Some(match name {
        "add" if matches!(ty, Ty::U16x2 | Ty::S16x2) => lanes!(|a, b| pair(a, b, u16::wrapping_add)),
        "add" => by_type!(ty, |a, b| a.wrapping_add(b)),
        "sub" => by_type!(ty, |a, b| a.wrapping_sub(b)),
        // Division by zero gives no trap on the machine; PTX leaves the value open, and what `ptxas` makes gives ones.
        "div" => by_type!(ty, |a, b| if b == 0 { !0 } else { a.wrapping_div(b) }),
        "rem" => by_type!(ty, |a, b| if b == 0 { !0 } else { a.wrapping_rem(b) }),
        "min" if ty == Ty::U16x2 => lanes!(|a, b| pair(a, b, |x, y| x.min(y))),
        "max" if ty == Ty::U16x2 => lanes!(|a, b| pair(a, b, |x, y| x.max(y))),
        "min" if ty == Ty::S16x2 => lanes!(|a, b| pair(a, b, |x, y| (x as i16).min(y as i16) as u16)),
        "max" if ty == Ty::S16x2 => lanes!(|a, b| pair(a, b, |x, y| (x as i16).max(y as i16) as u16)),
        "min" => by_type!(ty, |a, b| a.min(b)),
        "max" => by_type!(ty, |a, b| a.max(b)),
        "min.relu" if ty == Ty::S32 => int!(i32 as u32, |a, b| a.min(b).max(0)),
        "max.relu" if ty == Ty::S32 => int!(i32 as u32, |a, b| a.max(b).max(0)),
        "min.relu" if ty == Ty::S16x2 => {
            lanes!(|a, b| pair(a, b, |x, y| (x as i16).min(y as i16).max(0) as u16))
        }
        "max.relu" if ty == Ty::S16x2 => {
            lanes!(|a, b| pair(a, b, |x, y| (x as i16).max(y as i16).max(0) as u16))
        }
        "and" => by_type!(ty, |a, b| a & b),
        "or" => by_type!(ty, |a, b| a | b),
        "xor" => by_type!(ty, |a, b| a ^ b),
        _ => return None,
    })
}

fn pair(a: u64, b: u64, f: fn(u16, u16) -> u16) -> u64 {
    u64::from(f(a as u16, b as u16)) | u64::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

/// Shifts; the amount is 32 bits and clamps at the width.
pub(crate) fn shift(left: bool, ty: Ty) -> Option<F2> {
    Some(match (left, ty) {
        (true, Ty::B16) => lanes!(|a, b| if b as u32 > 15 { 0 } else { u64::from((a as u16) << (b as u32)) }),
        (true, Ty::B32) => lanes!(|a, b| if b as u32 > 31 { 0 } else { u64::from((a as u32) << (b as u32)) }),
        (true, Ty::B64) => lanes!(|a, b| if b as u32 > 63 { 0 } else { a << (b as u32) }),
        (false, Ty::B16 | Ty::U16) => {
            lanes!(|a, b| if b as u32 > 15 { 0 } else { u64::from((a as u16) >> (b as u32)) })
        }
        (false, Ty::B32 | Ty::U32) => {
            lanes!(|a, b| if b as u32 > 31 { 0 } else { u64::from((a as u32) >> (b as u32)) })
        }
        (false, Ty::B64 | Ty::U64) => lanes!(|a, b| if b as u32 > 63 { 0 } else { a >> (b as u32) }),
        (false, Ty::S16) => lanes!(|a, b| u64::from(((a as i16) >> (b as u32).min(15)) as u16)),
        (false, Ty::S32) => lanes!(|a, b| u64::from(((a as i32) >> (b as u32).min(31)) as u32)),
        (false, Ty::S64) => lanes!(|a, b| ((a as i64) >> (b as u32).min(63)) as u64),
        _ => return None,
    })
}

/// `mul.lo`, `mul.hi`, `mul.wide`.
pub(crate) fn multiply(part: &str, ty: Ty) -> Option<F2> {
    Some(match (part, ty) {
        ("lo", _) => by_type!(ty, |a, b| a.wrapping_mul(b)),
        ("hi", Ty::U16) => {
            lanes!(|a, b| u64::from(((u32::from(a as u16) * u32::from(b as u16)) >> 16) as u16))
        }
        ("hi", Ty::S16) => {
            lanes!(|a, b| u64::from(((i32::from(a as i16) * i32::from(b as i16)) >> 16) as u16))
        }
        ("hi", Ty::U32) => lanes!(|a, b| (u64::from(a as u32) * u64::from(b as u32)) >> 32),
        ("hi", Ty::S32) => {
            lanes!(|a, b| u64::from(((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32))
        }
        ("hi", Ty::U64) => lanes!(|a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64),
        ("hi", Ty::S64) => lanes!(|a, b| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64),
        ("wide", Ty::U16) => lanes!(|a, b| u64::from(u32::from(a as u16) * u32::from(b as u16))),
        ("wide", Ty::S16) => lanes!(|a, b| u64::from((i32::from(a as i16) * i32::from(b as i16)) as u32)),
        ("wide", Ty::U32) => lanes!(|a, b| u64::from(a as u32) * u64::from(b as u32)),
        ("wide", Ty::S32) => lanes!(|a, b| (i64::from(a as i32) * i64::from(b as i32)) as u64),
        _ => return None,
    })
}

/// `mad.lo`, `mad.hi`, `mad.wide`.
pub(crate) fn multiply_add(part: &str, ty: Ty) -> Option<F3> {
    Some(match (part, ty) {
        ("lo", _) => by_type!(ty, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        ("hi", Ty::U16) => lanes!(|a, b, c| u64::from(
            (((u32::from(a as u16) * u32::from(b as u16)) >> 16) as u16).wrapping_add(c as u16)
        )),
        ("hi", Ty::S16) => lanes!(|a, b, c| u64::from(
            (((i32::from(a as i16) * i32::from(b as i16)) >> 16) as u16).wrapping_add(c as u16)
        )),
        ("hi", Ty::U32) => {
            lanes!(|a, b, c| u64::from(
                (((u64::from(a as u32) * u64::from(b as u32)) >> 32) as u32).wrapping_add(c as u32)
            ))
        }
        ("hi", Ty::S32) => lanes!(|a, b, c| u64::from(
            (((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32).wrapping_add(c as u32)
        )),
        ("hi", Ty::U64) => lanes!(|a, b, c| (((u128::from(a) * u128::from(b)) >> 64) as u64).wrapping_add(c)),
        ("hi", Ty::S64) => {
            lanes!(|a, b, c| (((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64).wrapping_add(c))
        }
        ("wide", Ty::U16) => {
            lanes!(|a, b, c| u64::from((u32::from(a as u16) * u32::from(b as u16)).wrapping_add(c as u32)))
        }
        ("wide", Ty::S16) => lanes!(|a, b, c| u64::from(
            ((i32::from(a as i16) * i32::from(b as i16)) as u32).wrapping_add(c as u32)
        )),
        ("wide", Ty::U32) => lanes!(|a, b, c| (u64::from(a as u32) * u64::from(b as u32)).wrapping_add(c)),
        ("wide", Ty::S32) => {
            lanes!(|a, b, c| ((i64::from(a as i32) * i64::from(b as i32)) as u64).wrapping_add(c))
        }
        _ => return None,
    })
}

/// `bfe`, `shf`, `prmt`, `dp4a`, `sad`.
pub(crate) fn ternary(name: &str, ty: Ty) -> Option<F3> {
    Some(match (name, ty) {
        ("bfe", Ty::U32) => lanes!(|a, b, c| extract(a & 0xffff_ffff, b, c, 32, false) & 0xffff_ffff),
        ("bfe", Ty::S32) => lanes!(|a, b, c| extract(a & 0xffff_ffff, b, c, 32, true) & 0xffff_ffff),
        ("bfe", Ty::U64) => lanes!(|a, b, c| extract(a, b, c, 64, false)),
        ("bfe", Ty::S64) => lanes!(|a, b, c| extract(a, b, c, 64, true)),
        ("shf.l.wrap", Ty::B32) => lanes!(|a, b, c| ((b << 32 | a & 0xffff_ffff) << (c & 31)) >> 32),
        ("shf.r.wrap", Ty::B32) => lanes!(|a, b, c| ((b << 32 | a & 0xffff_ffff) >> (c & 31)) & 0xffff_ffff),
        ("shf.l.clamp", Ty::B32) => {
            lanes!(|a, b, c| (u128::from(b << 32 | a & 0xffff_ffff) << (c as u32).min(32) >> 32) as u64
                & 0xffff_ffff)
        }
        ("shf.r.clamp", Ty::B32) => {
            lanes!(|a, b, c| ((b << 32 | a & 0xffff_ffff) >> (c as u32).min(32)) & 0xffff_ffff)
        }
        ("dp4a.u32", Ty::U32) => lanes!(|a, b, c| dot4(a, b, c, false, false)),
        ("dp4a.s32", Ty::S32) => lanes!(|a, b, c| dot4(a, b, c, true, true)),
        ("dp4a.u32", Ty::S32) => lanes!(|a, b, c| dot4(a, b, c, false, true)),
        ("dp4a.s32", Ty::U32) => lanes!(|a, b, c| dot4(a, b, c, true, false)),
        ("dp2alo.u32", Ty::U32) => lanes!(|a, b, c| dot2(a, b, c, (false, false), 0)),
        ("dp2alo.s32", Ty::S32) => lanes!(|a, b, c| dot2(a, b, c, (true, true), 0)),
        ("dp2alo.u32", Ty::S32) => lanes!(|a, b, c| dot2(a, b, c, (false, true), 0)),
        ("dp2alo.s32", Ty::U32) => lanes!(|a, b, c| dot2(a, b, c, (true, false), 0)),
        ("dp2ahi.u32", Ty::U32) => lanes!(|a, b, c| dot2(a, b, c, (false, false), 2)),
        ("dp2ahi.s32", Ty::S32) => lanes!(|a, b, c| dot2(a, b, c, (true, true), 2)),
        ("dp2ahi.u32", Ty::S32) => lanes!(|a, b, c| dot2(a, b, c, (false, true), 2)),
        ("dp2ahi.s32", Ty::U32) => lanes!(|a, b, c| dot2(a, b, c, (true, false), 2)),
        ("sad", Ty::U32) => int!(u32 as u32, |a, b, c| a.abs_diff(b).wrapping_add(c)),
        ("sad", Ty::S32) => int!(i32 as u32, |a, b, c| a.abs_diff(b).wrapping_add(c as u32)),
        ("sad", Ty::U64) => int!(u64 as u64, |a, b, c| a.abs_diff(b).wrapping_add(c)),
        ("sad", Ty::S64) => int!(i64 as u64, |a, b, c| a.abs_diff(b).wrapping_add(c as u64)),
        ("sad", Ty::U16) => int!(u16 as u16, |a, b, c| a.abs_diff(b).wrapping_add(c)),
        ("sad", Ty::S16) => int!(i16 as u16, |a, b, c| a.abs_diff(b).wrapping_add(c as u16)),
        ("fns", Ty::B32) => lanes!(|a, b, c| u64::from(nth_bit(a as u32, b as u32, c as u32 as i32))),
        ("min", _) => by_type!(ty, |a, b, c| a.min(b).min(c)),
        ("max", _) => by_type!(ty, |a, b, c| a.max(b).max(c)),
        _ => return None,
    })
}

/// Where bit number `offset` that is set stands, counted from `base`: upwards from 1, downwards from -1. All ones if there
/// is none (PTX 9.7.1, fns).
fn nth_bit(mask: u32, base: u32, offset: i32) -> u32 {
    let is_set = |at: &u32| mask >> at & 1 == 1;
    let count = (offset.unsigned_abs() as usize).saturating_sub(1);
    let found = match offset {
        0 => Some(base).filter(|at| *at < 32 && is_set(at)),
        1.. => (base..32).filter(is_set).nth(count),
        _ => (0..32).rev().filter(|at| base < 32 && *at <= base).filter(is_set).nth(count),
    };
    found.unwrap_or(u32::MAX)
}

fn extract(a: u64, pos: u64, len: u64, bits: u64, signed: bool) -> u64 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    if len == 0 {
        return 0;
    }
    let sign_at = (pos + len - 1).min(bits - 1);
    let sign = signed && a >> sign_at & 1 == 1;
    let mut d = if pos >= bits { 0 } else { a >> pos };
    let kept = len.min(bits.saturating_sub(pos));
    if kept < 64 {
        d &= (1 << kept) - 1;
        if sign {
            d |= u64::MAX << kept;
        }
    }
    d
}

/// `bfi`: the low bits of `a` into `b`.
pub(crate) fn insert(a: u64, b: u64, pos: u64, len: u64, bits: u64) -> u64 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    if len == 0 || pos >= bits {
        return b;
    }
    let len = len.min(bits - pos);
    let mask = if len >= 64 { u64::MAX } else { ((1 << len) - 1) << pos };
    (b & !mask) | ((a << pos) & mask)
}

fn permute(a: u64, b: u64, selector: u64) -> u64 {
    let bytes = (b << 32) | (a & 0xffff_ffff);
    (0..4).fold(0, |d, i| {
        let s = selector >> (4 * i);
        let byte = bytes >> (8 * (s & 7)) & 0xff;
        let byte = if s & 8 == 0 {
            byte
        } else if byte & 0x80 == 0 {
            0
        } else {
            0xff
        };
        d | byte << (8 * i)
    })
}

fn dot4(a: u64, b: u64, c: u64, a_signed: bool, b_signed: bool) -> u64 {
    let byte = |x: u64, i: u32, signed: bool| {
        let v = (x >> (8 * i)) as u8;
        if signed { i32::from(v as i8) } else { i32::from(v) }
    };
    let sum = (0..4).fold(c as i32, |s, i| s.wrapping_add(byte(a, i, a_signed) * byte(b, i, b_signed)));
    u64::from(sum as u32)
}

/// Halves of `a` times two bytes of `b` from number `first`, plus `c`.
fn dot2(a: u64, b: u64, c: u64, (a_signed, b_signed): (bool, bool), first: u32) -> u64 {
    let half = |i: u32| {
        let v = (a >> (16 * i)) as u16;
        if a_signed { i32::from(v as i16) } else { i32::from(v) }
    };
    let byte = |i: u32| {
        let v = (b >> (8 * (first + i))) as u8;
        if b_signed { i32::from(v as i8) } else { i32::from(v) }
    };
    let sum = (0..2).fold(c as i32, |s, i| s.wrapping_add(half(i).wrapping_mul(byte(i))));
    u64::from(sum as u32)
}
