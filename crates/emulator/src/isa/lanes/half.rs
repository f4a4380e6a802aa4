//! f16 and bf16 arithmetic, single and packed: computed in f32, which is wide enough to round once.

use super::float::{Quals, xorsign};
use super::{F1, F2, F3, lanes};
use crate::isa::types::Ty;
use crate::number::Rounding;
use crate::number::float as n;
use crate::number::minifloat::{BF16, F16, Format, bf16_of, bf16_value, f16_of, f16_value};

fn f16_bits(x: f32) -> u64 {
    u64::from(f16_of(x))
}

fn bf16_bits(x: f32) -> u64 {
    u64::from(bf16_of(x))
}

fn f16_at(x: u64, shift: u32) -> f32 {
    f16_value((x >> shift) as u16)
}

fn bf16_at(x: u64, shift: u32) -> f32 {
    bf16_value((x >> shift) as u16)
}

/// An f16 without subnormals (`.ftz`).
pub(super) fn flush(bits: u64) -> u64 {
    if bits & 0x7c00 == 0 { bits & 0x8000 } else { bits }
}

/// A bf16 without subnormals.
fn flush_bf16(bits: u64) -> u64 {
    if bits & 0x7f80 == 0 { bits & 0x8000 } else { bits }
}

/// The same on both halves of a word.
fn both(x: u64, f: impl Fn(u64) -> u64) -> u64 {
    f(x & 0xffff) | f(x >> 16 & 0xffff) << 16
}

/// Picks by type: one or two halves, f16 or bf16. bf16 has neither `.ftz` nor `.sat`.
macro_rules! by_half {
    ($ty:expr, $q:expr, |$($a:ident),+| $e:expr) => {
        match ($ty, $q.ftz, $q.sat) {
            (Ty::F16 | Ty::F16x2, false, false) => by_half!(@f16 $ty, |b| b, |x| x, |$($a),+| $e),
            (Ty::F16 | Ty::F16x2, true, false) => by_half!(@f16 $ty, |b| flush(b), |x| x, |$($a),+| $e),
            (Ty::F16 | Ty::F16x2, false, true) => by_half!(@f16 $ty, |b| b, |x| n::saturate(x), |$($a),+| $e),
            (Ty::F16 | Ty::F16x2, true, true) => by_half!(@f16 $ty, |b| flush(b), |x| n::saturate(x), |$($a),+| $e),
            (Ty::BF16, _, false) => lanes!(|$($a),+| {
                $(let $a = bf16_at($a, 0);)+
                bf16_bits($e)
            }),
            (Ty::BF16x2, _, false) => lanes!(|$($a),+| {
                let half = |s: u32| {
                    $(let $a = bf16_at($a, s);)+
                    bf16_bits($e) << s
                };
                half(0) | half(16)
            }),
            _ => return None,
        }
    };
    (@f16 $ty:expr, |$b:ident| $in:expr, |$x:ident| $out:expr, |$($a:ident),+| $e:expr) => {
        if $ty == Ty::F16 {
            lanes!(|$($a),+| {
                $(let $a = { let $b = $a & 0xffff; f16_at($in, 0) };)+
                let $x = $e;
                let $b = f16_bits($out);
                $in
            })
        } else {
            lanes!(|$($a),+| {
                let half = |s: u32| {
                    $(let $a = { let $b = $a >> s & 0xffff; f16_at($in, 0) };)+
                    let $x = $e;
                    let $b = f16_bits($out);
                    ($in) << s
                };
                half(0) | half(16)
            })
        }
    };
}

fn ex2_flushed(a: u64) -> u64 {
    flush_bf16(bf16_bits(n::exp2(bf16_at(flush_bf16(a), 0))))
}

/// Operations with one operand.
pub(crate) fn unary(name: &str, ty: Ty, q: Quals) -> Option<F1> {
    Some(match name {
        "neg" => match ty {
            Ty::F16 if q.ftz => lanes!(|a| flush(a & 0xffff) ^ 0x8000),
            Ty::F16x2 if q.ftz => lanes!(|a| both(a, flush) ^ 0x8000_8000),
            Ty::F16 | Ty::BF16 => lanes!(|a| a ^ 0x8000),
            Ty::F16x2 | Ty::BF16x2 => lanes!(|a| a ^ 0x8000_8000),
            _ => return None,
        },
        "abs" => match ty {
            Ty::F16 if q.ftz => lanes!(|a| flush(a & 0xffff) & 0x7fff),
            Ty::F16x2 if q.ftz => lanes!(|a| both(a, flush) & 0x7fff_7fff),
            Ty::F16 | Ty::BF16 => lanes!(|a| a & 0x7fff),
            Ty::F16x2 | Ty::BF16x2 => lanes!(|a| a & 0x7fff_7fff),
            _ => return None,
        },
        "ex2" if ty == Ty::BF16 && q.ftz => lanes!(|a| ex2_flushed(a & 0xffff)),
        "ex2" if ty == Ty::BF16x2 && q.ftz => lanes!(|a| both(a, ex2_flushed)),
        "ex2" => by_half!(ty, q, |a| n::exp2(a)),
        "tanh" => by_half!(ty, q, |a| n::tanh(a)),
        _ => return None,
    })
}

/// Operations with two operands.
pub(crate) fn binary(name: &str, ty: Ty, q: Quals) -> Option<F2> {
    Some(match (name, q.nan, q.xorsign_abs) {
        ("add", ..) => by_half!(ty, q, |a, b| a + b),
        ("sub", ..) => by_half!(ty, q, |a, b| a - b),
        ("mul", ..) => by_half!(ty, q, |a, b| a * b),
        ("max", false, false) => by_half!(ty, q, |a, b| n::max(a, b)),
        ("min", false, false) => by_half!(ty, q, |a, b| n::min(a, b)),
        ("max", true, false) => by_half!(ty, q, |a, b| n::max_nan(a, b)),
        ("min", true, false) => by_half!(ty, q, |a, b| n::min_nan(a, b)),
        ("max", false, true) => by_half!(ty, q, |a, b| xorsign(a, b, n::max)),
        ("min", false, true) => by_half!(ty, q, |a, b| xorsign(a, b, n::min)),
        ("max", true, true) => by_half!(ty, q, |a, b| xorsign(a, b, n::max_nan)),
        ("min", true, true) => by_half!(ty, q, |a, b| xorsign(a, b, n::min_nan)),
        _ => return None,
    })
}

/// What `fma` does with its result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Nothing,
    Relu,
    Saturate,
}

/// `a * b + c` rounded once to a short format: the f64 sum is rounded to odd, so that rounding it again is exact.
fn fma(a: f32, b: f32, c: f32, format: Format, then: Then) -> u64 {
    let (p, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = p + c;
    let back = sum - p;
    let sum = super::directed::to_odd(sum, (p - (sum - back)) + (c - back));
    let sum = if then == Then::Saturate { n::saturate64(sum) } else { sum };
    let code = format.encode(sum, Rounding::Even, false);
    if then == Then::Relu && code & 0x8000 != 0 && code != format.nan() { 0 } else { u64::from(code) }
}

/// `fma`.
pub(crate) fn ternary(ty: Ty, relu: bool, q: Quals) -> Option<F3> {
    macro_rules! f16 {
        ($then:expr, |$b:ident| $in:expr) => {
            if ty == Ty::F16 {
                lanes!(|a, b, c| {
                    let at = |$b: u64| {
                        let $b = $b & 0xffff;
                        f16_at($in, 0)
                    };
                    let $b = fma(at(a), at(b), at(c), F16, $then);
                    $in
                })
            } else {
                lanes!(|a, b, c| {
                    let at = |$b: u64| {
                        let $b = $b & 0xffff;
                        f16_at($in, 0)
                    };
                    let half = |s: u32| {
                        let $b = fma(at(a >> s), at(b >> s), at(c >> s), F16, $then);
                        ($in) << s
                    };
                    half(0) | half(16)
                })
            }
        };
    }
    macro_rules! bf16 {
        ($then:expr) => {
            if ty == Ty::BF16 {
                lanes!(|a, b, c| fma(bf16_at(a, 0), bf16_at(b, 0), bf16_at(c, 0), BF16, $then))
            } else {
                lanes!(|a, b, c| {
                    let half = |s: u32| fma(bf16_at(a, s), bf16_at(b, s), bf16_at(c, s), BF16, $then) << s;
                    half(0) | half(16)
                })
            }
        };
    }
    Some(match (ty, relu, q.sat, q.ftz) {
        (Ty::F16 | Ty::F16x2, false, false, false) => f16!(Then::Nothing, |x| x),
        (Ty::F16 | Ty::F16x2, false, false, true) => f16!(Then::Nothing, |x| flush(x)),
        (Ty::F16 | Ty::F16x2, true, false, false) => f16!(Then::Relu, |x| x),
        (Ty::F16 | Ty::F16x2, true, false, true) => f16!(Then::Relu, |x| flush(x)),
        (Ty::F16 | Ty::F16x2, false, true, false) => f16!(Then::Saturate, |x| x),
        (Ty::F16 | Ty::F16x2, false, true, true) => f16!(Then::Saturate, |x| flush(x)),
        (Ty::BF16 | Ty::BF16x2, false, false, _) => bf16!(Then::Nothing),
        (Ty::BF16 | Ty::BF16x2, true, false, _) => bf16!(Then::Relu),
        _ => return None,
    })
}

/// Mixed precision `add.rn.f32.bf16 d, a, c`: a half and an f32 (PTX 8.6).
pub(crate) fn mixed(name: &str, half: Ty, sat: bool) -> Option<F2> {
    macro_rules! of {
        ($at:ident $op:tt) => {
            match sat {
                true => lanes!(|a, b| word(n::saturate($at(a, 0) $op f32::from_bits(b as u32)))),
                false => lanes!(|a, b| word($at(a, 0) $op f32::from_bits(b as u32))),
            }
        };
    }
    Some(match (name, half) {
        ("add", Ty::F16) => of!(f16_at+),
        ("add", Ty::BF16) => of!(bf16_at+),
        ("sub", Ty::F16) => of!(f16_at -),
        ("sub", Ty::BF16) => of!(bf16_at -),
        _ => return None,
    })
}

/// Mixed precision `fma.rn.f32.bf16 d, a, b, c`.
pub(crate) fn mixed_fma(half: Ty, sat: bool) -> Option<F3> {
    macro_rules! of {
        ($at:ident, $then:expr) => {
            lanes!(|a, b, c| word($then($at(a, 0).mul_add($at(b, 0), f32::from_bits(c as u32)))))
        };
    }
    Some(match (half, sat) {
        (Ty::F16, false) => of!(f16_at, std::convert::identity),
        (Ty::F16, true) => of!(f16_at, n::saturate),
        (Ty::BF16, false) => of!(bf16_at, std::convert::identity),
        (Ty::BF16, true) => of!(bf16_at, n::saturate),
        _ => return None,
    })
}

fn word(x: f32) -> u64 {
    u64::from(n::canonical(x).to_bits())
}
