//! f16 and bf16 arithmetic, single and packed: computed in f32, which is wide enough to round once.

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

/// Picks by type: one or two halves, f16 or bf16.
macro_rules! by_half {
    ($ty:expr, |$($a:ident),+| $e:expr) => {
        match $ty {
            Ty::F16 => lanes!(|$($a),+| {
                $(let $a = f16_at($a, 0);)+
                f16_bits($e)
            }),
            Ty::BF16 => lanes!(|$($a),+| {
                $(let $a = bf16_at($a, 0);)+
                bf16_bits($e)
            }),
            Ty::F16x2 => lanes!(|$($a),+| {
                let half = |s: u32| {
                    $(let $a = f16_at($a, s);)+
                    f16_bits($e) << s
                };
                half(0) | half(16)
            }),
            Ty::BF16x2 => lanes!(|$($a),+| {
                let half = |s: u32| {
                    $(let $a = bf16_at($a, s);)+
                    bf16_bits($e) << s
                };
                half(0) | half(16)
            }),
            _ => return None,
        }
    };
}

/// Operations with one operand.
pub(crate) fn unary(name: &str, ty: Ty) -> Option<F1> {
    Some(match name {
        "neg" => match ty {
            Ty::F16 | Ty::BF16 => lanes!(|a| a ^ 0x8000),
            Ty::F16x2 | Ty::BF16x2 => lanes!(|a| a ^ 0x8000_8000),
            _ => return None,
        },
        "abs" => match ty {
            Ty::F16 | Ty::BF16 => lanes!(|a| a & 0x7fff),
            Ty::F16x2 | Ty::BF16x2 => lanes!(|a| a & 0x7fff_7fff),
            _ => return None,
        },
        "ex2" => by_half!(ty, |a| n::exp2(a)),
        "tanh" => by_half!(ty, |a| n::tanh(a)),
        _ => return None,
    })
}

/// Operations with two operands.
pub(crate) fn binary(name: &str, ty: Ty, nan: bool) -> Option<F2> {
    Some(match (name, nan) {
        ("add", _) => by_half!(ty, |a, b| a + b),
        ("sub", _) => by_half!(ty, |a, b| a - b),
        ("mul", _) => by_half!(ty, |a, b| a * b),
        ("max", false) => by_half!(ty, |a, b| n::max(a, b)),
        ("min", false) => by_half!(ty, |a, b| n::min(a, b)),
        ("max", true) => by_half!(ty, |a, b| n::max_nan(a, b)),
        ("min", true) => by_half!(ty, |a, b| n::min_nan(a, b)),
        _ => return None,
    })
}

/// `a * b + c` rounded once to a short format: the f64 sum is rounded to odd, so that rounding it again is exact.
fn fma(a: f32, b: f32, c: f32, format: Format, relu: bool) -> u64 {
    let (p, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = p + c;
    let back = sum - p;
    let error = (p - (sum - back)) + (c - back);
    let mut bits = sum.to_bits();
    if error != 0.0 && sum.is_finite() && bits & 1 == 0 {
        let away = (error > 0.0) == (sum > 0.0);
        bits = if away { bits + 1 } else { bits - 1 };
    }
    let code = format.encode(f64::from_bits(bits), Rounding::Even, false);
    if relu && code & 0x8000 != 0 && code != format.nan() { 0 } else { u64::from(code) }
}

/// `fma`.
pub(crate) fn ternary(ty: Ty, relu: bool) -> Option<F3> {
    macro_rules! pick {
        ($relu:expr) => {
            match ty {
                Ty::F16 => lanes!(|a, b, c| fma(f16_at(a, 0), f16_at(b, 0), f16_at(c, 0), F16, $relu)),
                Ty::BF16 => lanes!(|a, b, c| fma(bf16_at(a, 0), bf16_at(b, 0), bf16_at(c, 0), BF16, $relu)),
                Ty::F16x2 => lanes!(|a, b, c| {
                    let half = |s: u32| fma(f16_at(a, s), f16_at(b, s), f16_at(c, s), F16, $relu) << s;
                    half(0) | half(16)
                }),
                Ty::BF16x2 => lanes!(|a, b, c| {
                    let half = |s: u32| fma(bf16_at(a, s), bf16_at(b, s), bf16_at(c, s), BF16, $relu) << s;
                    half(0) | half(16)
                }),
                _ => return None,
            }
        };
    }
    Some(if relu { pick!(true) } else { pick!(false) })
}

/// Mixed precision `add.rn.f32.bf16 d, a, c`: a half and an f32 (PTX 8.6).
pub(crate) fn mixed(name: &str, half: Ty) -> Option<F2> {
    Some(match (name, half) {
        ("add", Ty::F16) => lanes!(|a, b| word(f16_at(a, 0) + f32::from_bits(b as u32))),
        ("add", Ty::BF16) => lanes!(|a, b| word(bf16_at(a, 0) + f32::from_bits(b as u32))),
        ("sub", Ty::F16) => lanes!(|a, b| word(f16_at(a, 0) - f32::from_bits(b as u32))),
        ("sub", Ty::BF16) => lanes!(|a, b| word(bf16_at(a, 0) - f32::from_bits(b as u32))),
        _ => return None,
    })
}

/// Mixed precision `fma.rn.f32.bf16 d, a, b, c`.
pub(crate) fn mixed_fma(half: Ty) -> Option<F3> {
    Some(match half {
        Ty::F16 => lanes!(|a, b, c| word(f16_at(a, 0).mul_add(f16_at(b, 0), f32::from_bits(c as u32)))),
        Ty::BF16 => lanes!(|a, b, c| word(bf16_at(a, 0).mul_add(bf16_at(b, 0), f32::from_bits(c as u32)))),
        _ => return None,
    })
}

fn word(x: f32) -> u64 {
    u64::from(n::canonical(x).to_bits())
}
