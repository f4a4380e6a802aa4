//! Floating-point formats of up to 32 bits: exact decoding, correctly rounded encoding.

use super::Rounding;

/// A binary format with sign, exponent and mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the mantissa, without the hidden one.
    pub mantissa: u32,
    /// What its highest codes are.
    pub highest: Highest,
}

/// What the highest codes of a format are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Highest {
    /// Infinities and NaN, as the highest exponent.
    Ieee,
    /// One NaN.
    OneNan,
    /// Numbers as all others.
    Finite,
}

/// IEEE binary16.
pub(crate) const F16: Format = Format { exponent: 5, mantissa: 10, highest: Highest::Ieee };
/// bfloat16.
pub(crate) const BF16: Format = Format { exponent: 8, mantissa: 7, highest: Highest::Ieee };
/// IEEE binary32.
pub(crate) const F32: Format = Format { exponent: 8, mantissa: 23, highest: Highest::Ieee };
/// 8 bits without infinity; NaN is 0x7f.
pub(crate) const E4M3: Format = Format { exponent: 4, mantissa: 3, highest: Highest::OneNan };
/// 8 bits with infinity and NaN.
pub(crate) const E5M2: Format = Format { exponent: 5, mantissa: 2, highest: Highest::Ieee };
/// tf32 with its 13 low bits cut off.
pub(crate) const TF32: Format = Format { exponent: 8, mantissa: 10, highest: Highest::Ieee };

/// 4 bits, all finite.
pub(crate) const E2M1: Format = Format { exponent: 2, mantissa: 1, highest: Highest::Finite };
/// 6 bits, all finite.
pub(crate) const E2M3: Format = Format { exponent: 2, mantissa: 3, highest: Highest::Finite };
/// 6 bits, all finite.
pub(crate) const E3M2: Format = Format { exponent: 3, mantissa: 2, highest: Highest::Finite };

/// The power of two that a scale of 8 bits stands for; 255 is NaN.
pub(crate) fn scale_value(bits: u32) -> f64 {
    if bits & 0xff == 0xff { f64::NAN } else { power((bits & 0xff) as i32 - 127) }
}

/// The scale of the power of two at or next to the magnitude of `x`: the one above with `up`.
pub(crate) fn scale(x: f64, up: bool, saturate: bool) -> u32 {
    let most = if saturate { 0xfe } else { 0xff };
    if x.is_nan() {
        return 0xff;
    }
    let bits = x.abs().to_bits();
    let more = up && bits & ((1 << 52) - 1) != 0;
    let exponent = (bits >> 52) as i32 - 1023 + i32::from(more);
    if x.is_infinite() || exponent > 127 { most } else { (exponent + 127).max(0) as u32 }
}

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    fn width(self) -> u32 {
        1 + self.exponent + self.mantissa
    }

    /// The largest finite code without sign.
    pub(crate) fn max_finite(self) -> u32 {
        match self.highest {
            Highest::Ieee => (((1 << self.exponent) - 1) << self.mantissa) - 1,
            Highest::OneNan => (1 << (self.width() - 1)) - 2,
            Highest::Finite => (1 << (self.width() - 1)) - 1,
        }
    }

    /// The NaN that PTX conversions produce: all ones but the sign. The greatest number where there is none.
    pub(crate) fn nan(self) -> u32 {
        (1 << (self.width() - 1)) - 1
    }

    /// The value of a code; sign bits above the width are ignored.
    pub(crate) fn decode(self, bits: u32) -> f64 {
        let magnitude = bits & self.nan();
        let sign = if bits >> (self.width() - 1) & 1 == 1 { -1.0 } else { 1.0 };
        if magnitude > self.max_finite() {
            return if self.highest == Highest::Ieee && magnitude == self.max_finite() + 1 {
                sign * f64::INFINITY
            } else {
                f64::NAN
            };
        }
        let field = (magnitude >> self.mantissa) as i32;
        let fraction = magnitude & ((1 << self.mantissa) - 1);
        let (whole, exponent) =
            if field == 0 { (fraction, 1) } else { (fraction | 1 << self.mantissa, field) };
        sign * f64::from(whole) * power(exponent - self.bias() - self.mantissa as i32)
    }

    /// The code of `x`, rounded once. `saturate` clamps to the largest finite value (`.satfinite`).
    pub(crate) fn encode(self, x: f64, rounding: Rounding, saturate: bool) -> u32 {
        if x.is_nan() {
            return self.nan();
        }
        let sign = u32::from(x.is_sign_negative()) << (self.width() - 1);
        let magnitude = x.abs();
        let overflow = |exact: bool| {
            let towards_zero = match rounding {
                Rounding::Zero => true,
                Rounding::Down => sign == 0,
                Rounding::Up => sign != 0,
                Rounding::Even | Rounding::Away => false,
            };
            if saturate || self.highest == Highest::Finite || (towards_zero && !exact) {
                sign | self.max_finite()
            } else if self.highest == Highest::Ieee {
                sign | (self.max_finite() + 1)
            } else {
                sign | self.nan()
            }
        };
        if magnitude.is_infinite() {
            return overflow(true);
        }
        if magnitude == 0.0 {
            return sign;
        }
        // Exponent of the value and of the last place it may keep.
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(1 - self.bias());
        let last = exponent - self.mantissa as i32;
        let scaled = magnitude * power(-last);
        let signed = if sign == 0 { scaled } else { -scaled };
        let whole = rounding.whole(signed).abs() as u64;
        let base = ((exponent + self.bias()) as u64) << self.mantissa;
        // A mantissa that rounds up to the next power carries into the exponent by itself.
        let code = base + whole - (1 << self.mantissa);
        if code > u64::from(self.max_finite()) { overflow(false) } else { sign | code as u32 }
    }
}

/// 2^e, for exponents that f64 can hold.
fn power(e: i32) -> f64 {
    if e >= -1022 {
        f64::from_bits(((e + 1023) as u64) << 52)
    } else {
        f64::from_bits(1 << (e + 1074).max(0))
    }
}

/// f16 bits of an f32, to nearest even.
pub(crate) fn f16_of(x: f32) -> u16 {
    if x.is_nan() { 0x7fff } else { half::f16::from_f32(x).to_bits() }
}

/// The value of f16 bits.
pub(crate) fn f16_value(bits: u16) -> f32 {
    half::f16::from_bits(bits).to_f32()
}

/// bf16 bits of an f32, to nearest even.
pub(crate) fn bf16_of(x: f32) -> u16 {
    if x.is_nan() { 0x7fff } else { half::bf16::from_f32(x).to_bits() }
}

/// The value of bf16 bits.
pub(crate) fn bf16_value(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The code of a number in a format without NaN is the nearest one, the even one of two.
        #[test]
        fn finite_formats_round_to_the_nearest_of_all_their_numbers(bits in any::<u32>(), small in -10.0_f32..10.0) {
            for x in [f64::from(f32::from_bits(bits)), f64::from(small)] {
                for f in [E2M1, E2M3, E3M2] {
                    let codes = 0..1_u32 << f.width();
                    prop_assert!(codes.clone().all(|c| f.encode(f.decode(c), Rounding::Even, true) == c));
                    let got = f.encode(x, Rounding::Even, true);
                    if x.is_nan() {
                        prop_assert_eq!(got, f.max_finite());
                        continue;
                    }
                    let alike = codes.filter(|c| f.decode(*c).is_sign_negative() == x.is_sign_negative());
                    let far = |c: u32| (f.decode(c) - x.clamp(-1e3, 1e3)).abs();
                    let best = alike.min_by(|a, b| far(*a).total_cmp(&far(*b)).then((a & 1).cmp(&(b & 1))));
                    prop_assert_eq!(Some(got), best);
                }
            }
        }

        /// Scales enclose the magnitude.
        #[test]
        fn scales_enclose_a_number(bits in any::<u32>()) {
            let x = f64::from(f32::from_bits(bits));
            let (down, up) = (scale(x, false, true), scale(x, true, true));
            prop_assume!(x.is_finite() && x.abs() >= scale_value(0) && x.abs() <= scale_value(0xfe));
            prop_assert!(scale_value(down) <= x.abs() && x.abs() <= scale_value(up));
            prop_assert!(up == down || up == down + 1 && scale_value(down) < x.abs() && x.abs() < scale_value(up));
        }
    }

    #[test]
    fn the_ends_of_scales() {
        assert_eq!([scale(0.0, true, true), scale(f64::NAN, true, true)], [0, 0xff]);
        assert_eq!([scale(f64::INFINITY, true, true), scale(f64::INFINITY, false, false)], [0xfe, 0xff]);
        assert_eq!(
            [scale(f64::from(f32::MAX), true, false), scale(f64::from(f32::MAX), true, true)],
            [0xff, 0xfe]
        );
    }
}
