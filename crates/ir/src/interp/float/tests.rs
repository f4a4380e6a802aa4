//! Formats narrower than `f64`, code by code.

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
    for (value, infinite) in [(448.0, 0x7E), (464.0, 0x7E), (464.0f64.next_up(), 0x7F), (f64::INFINITY, 0x7F)]
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
