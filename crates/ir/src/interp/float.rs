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
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    const NARROW: [FloatKind; 5] =
        [FloatKind::F8E4M3FN, FloatKind::F8E5M2, FloatKind::F16, FloatKind::BF16, FloatKind::F32];

    fn nearest(kind: FloatKind, value: f64) -> u64 {
        encode(kind, value, Rounding::NearestEven, Overflow::Infinity)
    }

    /// The definition of an 8-bit value, written with powers of two instead of bit fields.
    fn defined(code: u64, mantissa: i32, bias: i32) -> f64 {
        let sign = if code & 0x80 != 0 { -1.0 } else { 1.0 };
        let exponent = (code as i32 & 0x7F) >> mantissa;
        let fraction = f64::from(code as i32 & ((1 << mantissa) - 1)) / f64::from(1 << mantissa);
        match exponent {
            0 => sign * fraction * 2f64.powi(1 - bias),
            e => sign * (1.0 + fraction) * 2f64.powi(e - bias),
        }
    }

    #[test]
    fn every_8_bit_code_has_the_value_of_its_definition() {
        for code in 0..256u64 {
            let e4m3 = decode(FloatKind::F8E4M3FN, code);
            match code & 0x7F {
                0x7F => assert!(e4m3.is_nan(), "{code:#x}"),
                _ => assert_eq!(e4m3.to_bits(), defined(code, 3, 7).to_bits(), "{code:#x}"),
            }
            let e5m2 = decode(FloatKind::F8E5M2, code);
            match code & 0x7F {
                0x7C => assert!(e5m2.is_infinite() && (e5m2 < 0.0) == (code > 0x80), "{code:#x}"),
                0x7D..=0x7F => assert!(e5m2.is_nan(), "{code:#x}"),
                _ => assert_eq!(e5m2.to_bits(), defined(code, 2, 15).to_bits(), "{code:#x}"),
            }
        }
    }

    #[test]
    fn e5m2_is_the_upper_half_of_f16() {
        for code in 0..256u64 {
            let via_f16 = half::f16::from_bits((code as u16) << 8).to_f64();
            let ours = decode(FloatKind::F8E5M2, code);
            assert!(ours == via_f16 || (ours.is_nan() && via_f16.is_nan()), "{code:#x}");
        }
    }

    #[test]
    fn every_code_of_8_and_16_bits_survives_the_round_trip() {
        for kind in [FloatKind::F8E4M3FN, FloatKind::F8E5M2, FloatKind::F16, FloatKind::BF16] {
            for code in 0..1u64 << kind.bits() {
                assert_eq!(nearest(kind, decode(kind, code)), code, "{} {code:#x}", kind.name());
            }
        }
    }

    #[test]
    fn f16_and_bf16_decode_as_the_half_crate_does() {
        for code in 0..=u16::MAX {
            let pairs = [
                (decode(FloatKind::F16, u64::from(code)), half::f16::from_bits(code).to_f64()),
                (decode(FloatKind::BF16, u64::from(code)), half::bf16::from_bits(code).to_f64()),
            ];
            for (ours, theirs) in pairs {
                assert!(
                    ours == theirs && ours.is_sign_positive() == theirs.is_sign_positive()
                        || ours.is_nan() && theirs.is_nan()
                );
            }
        }
    }

    /// Rounding to 8 bits by search: the finite neighbour at the least distance, ties to the even code.
    fn by_search(kind: FloatKind, value: f64) -> u64 {
        let g = geometry(kind);
        let magnitude = value.abs();
        let best = (0..=g.max_finite)
            .min_by(|&x, &y| {
                let (dx, dy) = ((decode(kind, x) - magnitude).abs(), (decode(kind, y) - magnitude).abs());
                dx.total_cmp(&dy).then((x & 1).cmp(&(y & 1)))
            })
            .unwrap_or(0);
        best | u64::from(value.is_sign_negative()) << 7
    }

    #[test]
    fn encoding_8_bits_finds_the_nearest_value_at_and_around_every_midpoint() {
        for kind in [FloatKind::F8E4M3FN, FloatKind::F8E5M2] {
            for code in 0..geometry(kind).max_finite {
                let (low, high) = (decode(kind, code), decode(kind, code + 1));
                let middle = (low + high) / 2.0;
                for value in [low, middle, middle.next_up(), middle.next_down(), high] {
                    for value in [value, -value] {
                        assert_eq!(nearest(kind, value), by_search(kind, value), "{} {value}", kind.name());
                    }
                }
            }
        }
    }

    #[test]
    fn overflow_saturates_or_leaves_the_range() {
        let encode_with = |kind, value, overflow| encode(kind, value, Rounding::NearestEven, overflow);
        // 464 is the midpoint between 448 and the missing 480.
        for (value, infinite) in
            [(448.0, 0x7E), (464.0, 0x7E), (464.0f64.next_up(), 0x7F), (f64::INFINITY, 0x7F)]
        {
            assert_eq!(encode_with(FloatKind::F8E4M3FN, value, Overflow::Infinity), infinite, "{value}");
            assert_eq!(encode_with(FloatKind::F8E4M3FN, value, Overflow::Saturate), 0x7E, "{value}");
            assert_eq!(encode_with(FloatKind::F8E4M3FN, -value, Overflow::Saturate), 0xFE, "{value}");
        }
        assert_eq!(encode_with(FloatKind::F8E5M2, 61440.0, Overflow::Infinity), 0x7C);
        assert_eq!(encode_with(FloatKind::F8E5M2, f64::INFINITY, Overflow::Saturate), 0x7B);
        assert_eq!(encode_with(FloatKind::F8E4M3FN, f64::NAN, Overflow::Saturate) & 0x7F, 0x7F);
        assert_eq!(nearest(FloatKind::F16, 65519.9), 0x7BFF);
        assert_eq!(nearest(FloatKind::F16, 65520.0), 0x7C00);
        assert_eq!(encode(FloatKind::F16, 65535.0, Rounding::TowardsZero, Overflow::Infinity), 0x7BFF);
    }

    #[test]
    fn tf32_drops_thirteen_bits() {
        assert_eq!(tf32(f32::from_bits(0x3F80_1FFF)), 1.0);
        assert_eq!(tf32(f32::from_bits(0x3F80_2000)).to_bits(), 0x3F80_2000);
    }

    #[test]
    fn double_rounding_is_avoided() {
        // Through f32 this would first become a tie and then go up.
        let value = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
        assert_eq!(nearest(FloatKind::BF16, value), 0x3F81);
        let value = 1.0 + 2f64.powi(-8) - 2f64.powi(-40);
        assert_eq!(nearest(FloatKind::BF16, value), 0x3F80);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn f32_values_encode_as_the_half_crate_does(bits: u32) {
            let value = f32::from_bits(bits);
            prop_assume!(!value.is_nan());
            let wide = f64::from(value);
            prop_assert_eq!(nearest(FloatKind::F16, wide), u64::from(half::f16::from_f32(value).to_bits()));
            prop_assert_eq!(nearest(FloatKind::BF16, wide), u64::from(half::bf16::from_f32(value).to_bits()));
            prop_assert_eq!(nearest(FloatKind::F32, wide), u64::from(bits));
        }

        #[test]
        fn f64_values_encode_to_f32_as_the_processor_does(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(!value.is_nan());
            prop_assert_eq!(nearest(FloatKind::F32, value), u64::from((value as f32).to_bits()));
        }

        #[test]
        fn f32_patterns_survive_whatever_they_are(bits: u32) {
            let pattern = u64::from(bits);
            prop_assert_eq!(nearest(FloatKind::F32, decode(FloatKind::F32, pattern)), pattern);
            let nan = pattern | 0x7F80_0001;
            prop_assert_eq!(nearest(FloatKind::F32, decode(FloatKind::F32, nan)), nan);
        }

        #[test]
        fn rounding_keeps_order(a: f32, b: f32) {
            prop_assume!(a <= b);
            for kind in NARROW {
                prop_assert!(round(kind, f64::from(a)) <= round(kind, f64::from(b)) || kind == FloatKind::F8E4M3FN);
            }
        }

        #[test]
        fn towards_zero_never_grows(value: f64) {
            prop_assume!(value.is_finite());
            for kind in NARROW {
                let cut = decode(kind, encode(kind, value, Rounding::TowardsZero, Overflow::Saturate));
                prop_assert!(cut.abs() <= value.abs());
                let next = decode(kind, encode(kind, cut.abs(), Rounding::NearestEven, Overflow::Saturate) + 1);
                prop_assert!(next.is_nan() || next > value.abs());
            }
        }

        #[test]
        fn f32_fused_multiply_add_is_correctly_rounded(a: f32, b: f32, c: f32) {
            let ours = fused_multiply_add(FloatKind::F32, f64::from(a), f64::from(b), f64::from(c)) as f32;
            let exact = libm::fmaf(a, b, c);
            prop_assert!(ours.to_bits() == exact.to_bits() || ours.is_nan() && exact.is_nan());
        }

        #[test]
        fn f32_fused_multiply_add_near_cancellation(a in 1.0f32..2.0, b in 1.0f32..2.0, step in -4i32..4) {
            let c = f32::from_bits((-(a * b)).to_bits().wrapping_add_signed(step));
            let ours = fused_multiply_add(FloatKind::F32, f64::from(a), f64::from(b), f64::from(c)) as f32;
            prop_assert_eq!(ours.to_bits(), libm::fmaf(a, b, c).to_bits());
        }
    }
}
