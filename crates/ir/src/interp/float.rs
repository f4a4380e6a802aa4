//! Floating-point formats: exact decoding and correctly rounded encoding.
//!
//! The interpreter holds every floating-point value as an `f64`. All formats up to `f32` are subsets of it,
//! so that decoding is exact and `f64` arithmetic followed by one rounding is correctly rounded for
//! `+ - * /` and square roots (53 bits are at least 2 * 24 + 2). NaN payloads survive decoding and
//! encoding, so that any bit pattern that is loaded and stored, or bit-cast, comes back unchanged.

use crate::types::FloatKind;

/// How a value between two representable ones is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Rounding {
    /// To nearest, ties to the even code (`cvt.rn`).
    NearestEven,
    /// Towards zero (`cvt.rz`).
    TowardsZero,
}

/// What becomes of a value beyond the largest finite one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Overflow {
    /// Infinity where the format has one, else NaN.
    Infinity,
    /// The largest finite value, for infinities too (`cvt.satfinite`, C68).
    Saturate,
}

/// Geometry of a format narrower than `f64`.
struct Geometry {
    /// Mantissa bits behind the point.
    mantissa: u32,
    /// Exponent of the smallest normal value.
    min_exponent: i32,
    /// Code of the largest finite value, without sign.
    max_finite: u64,
    /// Code of infinity; `None` where the format has no infinities.
    infinity: Option<u64>,
    /// Bits without the sign.
    magnitude_bits: u32,
}

fn geometry(kind: FloatKind) -> Geometry {
    let (mantissa, min_exponent, max_finite, infinity, magnitude_bits) = match kind {
        FloatKind::F8E4M3FN => (3, -6, 0x7E, None, 7),
        FloatKind::F8E5M2 => (2, -14, 0x7B, Some(0x7C), 7),
        FloatKind::F16 => (10, -14, 0x7BFF, Some(0x7C00), 15),
        FloatKind::BF16 => (7, -126, 0x7F7F, Some(0x7F80), 15),
        FloatKind::F32 => (23, -126, 0x7F7F_FFFF, Some(0x7F80_0000), 31),
        FloatKind::F64 => (52, -1022, 0x7FEF_FFFF_FFFF_FFFF, Some(0x7FF0_0000_0000_0000), 63),
    };
    Geometry { mantissa, min_exponent, max_finite, infinity, magnitude_bits }
}

const F64_MANTISSA: u64 = (1 << 52) - 1;
const F64_INFINITY: u64 = 0x7FF << 52;

/// The value of a code of this format; bits above the format's width are ignored.
pub fn decode(kind: FloatKind, code: u64) -> f64 {
    match kind {
        FloatKind::F64 => return f64::from_bits(code),
        FloatKind::F32 => {
            let value = f32::from_bits(code as u32);
            if !value.is_nan() {
                return f64::from(value);
            }
        }
        _ => {}
    }
    let g = geometry(kind);
    let sign = (code >> g.magnitude_bits & 1) << 63;
    let magnitude = code & ((1 << g.magnitude_bits) - 1);
    let payload = (magnitude & ((1 << g.mantissa) - 1)) << (52 - g.mantissa);
    let exponent = magnitude >> g.mantissa;
    let bits = if magnitude > g.max_finite {
        if g.infinity == Some(magnitude) { F64_INFINITY } else { F64_INFINITY | payload }
    } else if exponent == 0 {
        // Subnormal: the mantissa counts steps of the smallest value.
        let step = f64::from_bits(((g.min_exponent - g.mantissa as i32 + 1023) as u64) << 52);
        (magnitude as f64 * step).to_bits()
    } else {
        let rebias = (g.min_exponent - 1 + 1023) as u64;
        ((exponent + rebias) << 52) | payload
    };
    f64::from_bits(sign | bits)
}

/// The code of this format nearest to `value`.
///
/// A NaN keeps its sign and the leading bits of its payload; where none are left it becomes the quiet NaN.
pub fn encode(kind: FloatKind, value: f64, rounding: Rounding, overflow: Overflow) -> u64 {
    if kind == FloatKind::F64 {
        return value.to_bits();
    }
    if kind == FloatKind::F32 && rounding == Rounding::NearestEven && value.is_finite() {
        let narrow = value as f32;
        if narrow.is_finite() {
            return u64::from(narrow.to_bits());
        }
    }
    let g = geometry(kind);
    let bits = value.to_bits();
    let sign = (bits >> 63) << g.magnitude_bits;
    let magnitude = bits & !(1 << 63);
    if magnitude > F64_INFINITY {
        let payload = (bits & F64_MANTISSA) >> (52 - g.mantissa);
        let quiet = 1 << (g.mantissa - 1);
        return sign
            | match g.infinity {
                Some(infinity) => infinity | if payload == 0 { quiet } else { payload },
                None => g.max_finite + 1,
            };
    }
    let code = if magnitude == F64_INFINITY { u64::MAX } else { finite_code(&g, magnitude, rounding) };
    let code = match (code > g.max_finite, overflow, rounding) {
        (false, ..) => code,
        (true, Overflow::Infinity, Rounding::TowardsZero) if magnitude < F64_INFINITY => g.max_finite,
        (true, Overflow::Saturate, _) => g.max_finite,
        (true, Overflow::Infinity, _) => g.infinity.unwrap_or(g.max_finite + 1),
    };
    sign | code
}

/// The rounded code of a finite magnitude, as if the exponent range had no upper end.
fn finite_code(g: &Geometry, magnitude: u64, rounding: Rounding) -> u64 {
    let biased = (magnitude >> 52) as i32;
    if biased == 0 {
        // Zero and the subnormals of f64 lie far below half the smallest value of every narrower format.
        return 0;
    }
    let exponent = biased - 1023;
    let significand = (magnitude & F64_MANTISSA) | (1 << 52);
    // One unit in the last place of the result is 2^unit.
    let unit = exponent.max(g.min_exponent) - g.mantissa as i32;
    let shift = (unit - (exponent - 52)) as u32;
    let count = match (shift, rounding) {
        (54.., _) => 0,
        (_, Rounding::TowardsZero) => significand >> shift,
        (0, _) => significand,
        (_, Rounding::NearestEven) => {
            let floor = significand >> shift;
            let rest = significand & ((1 << shift) - 1);
            let half = 1 << (shift - 1);
            floor + u64::from(rest > half || (rest == half && floor & 1 == 1))
        }
    };
    // A carry out of the mantissa moves into the exponent by itself.
    let steps = (exponent - g.min_exponent).max(0) as u64;
    (steps << g.mantissa) + count
}

/// `value` rounded to nearest even in this format, infinity beyond its range.
pub fn round(kind: FloatKind, value: f64) -> f64 {
    match kind {
        FloatKind::F64 => value,
        FloatKind::F32 if !value.is_nan() => f64::from(value as f32),
        _ => decode(kind, encode(kind, value, Rounding::NearestEven, Overflow::Infinity)),
    }
}

/// What casts do on overflow (C68): 8-bit formats saturate, all others go to infinity.
pub fn cast_overflow(kind: FloatKind) -> Overflow {
    match kind {
        FloatKind::F8E4M3FN | FloatKind::F8E5M2 => Overflow::Saturate,
        _ => Overflow::Infinity,
    }
}

/// An `f32` as tensor cores read it in tf32: the low 13 bits of its pattern dropped.
pub fn tf32(value: f32) -> f32 {
    f32::from_bits(value.to_bits() & !0x1FFF)
}

/// `a * b + c` with one rounding to `kind`.
///
/// The product of two values of at most 24 bits is exact in `f64`; their sum with `c` is rounded to odd,
/// after which rounding to the narrow format is as from the exact value.
pub fn fused_multiply_add(kind: FloatKind, a: f64, b: f64, c: f64) -> f64 {
    if kind == FloatKind::F64 {
        return libm::fma(a, b, c);
    }
    let product = a * b;
    let sum = product + c;
    if !sum.is_finite() {
        return round(kind, sum);
    }
    let virtual_c = sum - product;
    let error = (product - (sum - virtual_c)) + (c - virtual_c);
    let odd = if error == 0.0 || sum.to_bits() & 1 == 1 {
        sum
    } else if (error > 0.0) == (sum > 0.0) {
        f64::from_bits(sum.to_bits() + 1)
    } else {
        f64::from_bits(sum.to_bits() - 1)
    };
    round(kind, odd)
}

#[cfg(test)]
mod tests;
