//! f32, packed f32 and f64 operations (E55).

use super::{F1, F2, F3, lanes, real};
use crate::isa::types::Ty;
use crate::number::float as n;

/// Qualifiers of a float instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Quals {
    pub ftz: bool,
    pub sat: bool,
    pub nan: bool,
    pub xorsign_abs: bool,
}

macro_rules! ftz1 {
    ($q:expr, |$a:ident| $e:expr) => {
        if $q.ftz {
            real!(|x| {
                let $a = n::flush(x);
                n::flush($e)
            })
        } else {
            real!(|$a| $e)
        }
    };
}

macro_rules! ftz_sat {
    ($q:expr, |$($a:ident),+| $e:expr) => {
        match ($q.ftz, $q.sat) {
            (false, false) => real!(|$($a),+| n::canonical($e)),
            (true, false) => real!(|$($a),+| {
                $(let $a = n::flush($a);)+
                n::flush(n::canonical($e))
            }),
            (false, true) => real!(|$($a),+| n::saturate($e)),
            (true, true) => real!(|$($a),+| {
                $(let $a = n::flush($a);)+
                n::saturate(n::flush($e))
            }),
        }
    };
}

/// Operations with one operand.
pub(crate) fn unary(name: &str, ty: Ty, q: Quals) -> Option<F1> {
    Some(match (name, ty) {
        ("neg", Ty::F32) => ftz1!(q, |a| -a),
        ("abs", Ty::F32) => ftz1!(q, |a| a.abs()),
        ("sqrt", Ty::F32) => ftz1!(q, |a| n::sqrt(a)),
        ("rcp", Ty::F32) => ftz1!(q, |a| n::reciprocal(a)),
        ("rsqrt", Ty::F32) => ftz1!(q, |a| n::rsqrt(a)),
        ("ex2", Ty::F32) => ftz1!(q, |a| n::exp2(a)),
        ("lg2", Ty::F32) => ftz1!(q, |a| n::log2(a)),
        ("sin", Ty::F32) => ftz1!(q, |a| n::sin(a)),
        ("cos", Ty::F32) => ftz1!(q, |a| n::cos(a)),
        ("tanh", Ty::F32) => real!(|a| n::tanh(a)),
        ("neg", Ty::F64) => lanes!(|a| a ^ 1 << 63),
        ("abs", Ty::F64) => lanes!(|a| a & !(1 << 63)),
        ("sqrt", Ty::F64) => lanes!(|a| f64::from_bits(a).sqrt().to_bits()),
        ("rcp", Ty::F64) => lanes!(|a| (1.0 / f64::from_bits(a)).to_bits()),
        ("rcp.rough", Ty::F64) => lanes!(|a| n::rough(a, |x| 1.0 / x)),
        ("rsqrt.rough", Ty::F64) => lanes!(|a| n::rough(a, |x| 1.0 / x.sqrt())),
        ("rsqrt", Ty::F64) => lanes!(|a| (1.0 / f64::from_bits(a).sqrt()).to_bits()),
        _ => return None,
    })
}

/// One of two magnitudes, with the product of the signs (`.xorsign.abs`). NaN has no sign.
pub(super) fn xorsign(a: f32, b: f32, f: fn(f32, f32) -> f32) -> f32 {
    let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
    let found = f(a.abs(), b.abs());
    if found.is_nan() { found } else { f32::from_bits(found.to_bits() | sign) }
}

/// The same f32 operation on both halves.
macro_rules! packed {
    (|$a:ident, $b:ident| $e:expr) => {
        lanes!(|x, y| {
            let half = |s: u32| {
                let ($a, $b) = (f32::from_bits((x >> s) as u32), f32::from_bits((y >> s) as u32));
                u64::from(n::canonical($e).to_bits()) << s
            };
            half(0) | half(32)
        })
    };
}

/// Operations with two operands.
pub(crate) fn binary(name: &str, ty: Ty, q: Quals) -> Option<F2> {
    Some(match (name, ty) {
        ("add", Ty::F32) => ftz_sat!(q, |a, b| a + b),
        ("sub", Ty::F32) => ftz_sat!(q, |a, b| a - b),
        ("mul", Ty::F32) => ftz_sat!(q, |a, b| a * b),
        ("div", Ty::F32) => ftz_sat!(q, |a, b| a / b),
        ("max", Ty::F32) => match (q.nan, q.xorsign_abs) {
            (false, false) => ftz_sat!(Quals { sat: false, ..q }, |a, b| n::max(a, b)),
            (true, false) => ftz_sat!(Quals { sat: false, ..q }, |a, b| n::max_nan(a, b)),
            (false, true) => ftz_sat!(Quals { sat: false, ..q }, |a, b| xorsign(a, b, n::max)),
            (true, true) => ftz_sat!(Quals { sat: false, ..q }, |a, b| xorsign(a, b, n::max_nan)),
        },
        ("min", Ty::F32) => match (q.nan, q.xorsign_abs) {
            (false, false) => ftz_sat!(Quals { sat: false, ..q }, |a, b| n::min(a, b)),
            (true, false) => ftz_sat!(Quals { sat: false, ..q }, |a, b| n::min_nan(a, b)),
            (false, true) => ftz_sat!(Quals { sat: false, ..q }, |a, b| xorsign(a, b, n::min)),
            (true, true) => ftz_sat!(Quals { sat: false, ..q }, |a, b| xorsign(a, b, n::min_nan)),
        },
        // copysign d, a, b: the sign of a on the magnitude of b.
        ("copysign", Ty::F32) => real!(|a, b| b.copysign(a)),
        ("copysign", Ty::F64) => lanes!(|a, b| b & !(1 << 63) | a & 1 << 63),
        ("add", Ty::F64) => lanes!(|a, b| (f64::from_bits(a) + f64::from_bits(b)).to_bits()),
        ("sub", Ty::F64) => lanes!(|a, b| (f64::from_bits(a) - f64::from_bits(b)).to_bits()),
        ("mul", Ty::F64) => lanes!(|a, b| (f64::from_bits(a) * f64::from_bits(b)).to_bits()),
        ("div", Ty::F64) => lanes!(|a, b| (f64::from_bits(a) / f64::from_bits(b)).to_bits()),
        ("max", Ty::F64) => lanes!(|a, b| n::max64(f64::from_bits(a), f64::from_bits(b)).to_bits()),
        ("min", Ty::F64) => lanes!(|a, b| n::min64(f64::from_bits(a), f64::from_bits(b)).to_bits()),
        ("add", Ty::F32x2) if q.ftz => packed!(|a, b| n::flush(n::flush(a) + n::flush(b))),
        ("add", Ty::F32x2) => packed!(|a, b| a + b),
        ("sub", Ty::F32x2) if q.ftz => packed!(|a, b| n::flush(n::flush(a) - n::flush(b))),
        ("sub", Ty::F32x2) => packed!(|a, b| a - b),
        ("mul", Ty::F32x2) if q.ftz => packed!(|a, b| n::flush(n::flush(a) * n::flush(b))),
        ("mul", Ty::F32x2) => packed!(|a, b| a * b),
        _ => return None,
    })
}

/// The larger or smaller magnitude (`redux.abs`).
pub(crate) fn absolute(name: &str, nan: bool) -> Option<F2> {
    Some(match (name, nan) {
        ("max", false) => real!(|a, b| n::max(a.abs(), b.abs())),
        ("min", false) => real!(|a, b| n::min(a.abs(), b.abs())),
        ("max", true) => real!(|a, b| n::max_nan(a.abs(), b.abs())),
        ("min", true) => real!(|a, b| n::min_nan(a.abs(), b.abs())),
        _ => return None,
    })
}

/// Operations with three operands.
pub(crate) fn ternary(name: &str, ty: Ty, q: Quals) -> Option<F3> {
    Some(match (name, ty) {
        ("fma", Ty::F32) => ftz_sat!(q, |a, b, c| a.mul_add(b, c)),
        ("fma", Ty::F64) => {
            lanes!(|a, b, c| f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)).to_bits())
        }
        ("max", Ty::F32) if q.nan => ftz_sat!(q, |a, b, c| n::max_nan(n::max_nan(a, b), c)),
        ("min", Ty::F32) if q.nan => ftz_sat!(q, |a, b, c| n::min_nan(n::min_nan(a, b), c)),
        ("max", Ty::F32) => ftz_sat!(q, |a, b, c| n::max(n::max(a, b), c)),
        ("min", Ty::F32) => ftz_sat!(q, |a, b, c| n::min(n::min(a, b), c)),
        ("fma", Ty::F32x2) if q.ftz => lanes!(|a, b, c| {
            let half = |s: u32| {
                let v = |x: u64| n::flush(f32::from_bits((x >> s) as u32));
                u64::from(n::flush(n::canonical(v(a).mul_add(v(b), v(c)))).to_bits()) << s
            };
            half(0) | half(32)
        }),
        ("fma", Ty::F32x2) => lanes!(|a, b, c| {
            let half = |s: u32| {
                let v = |x: u64| f32::from_bits((x >> s) as u32);
                u64::from(n::canonical(v(a).mul_add(v(b), v(c))).to_bits()) << s
            };
            half(0) | half(32)
        }),
        _ => return None,
    })
}
