//! Floating-point formats of up to 32 bits: exact decoding, correctly rounded encoding.

use super::Rounding;

/// A binary format with sign, exponent and mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the mantissa, without the hidden one.
    pub mantissa: u32,
    /// Whether the highest exponent is kept for infinities and NaN; e4m3 has neither but one NaN code.
    pub ieee: bool,
}

/// IEEE binary16.
pub(crate) const F16: Format = Format { exponent: 5, mantissa: 10, ieee: true };
/// bfloat16.
pub(crate) const BF16: Format = Format { exponent: 8, mantissa: 7, ieee: true };
/// IEEE binary32.
pub(crate) const F32: Format = Format { exponent: 8, mantissa: 23, ieee: true };
/// 8 bits without infinity; NaN is 0x7f.
pub(crate) const E4M3: Format = Format { exponent: 4, mantissa: 3, ieee: false };
/// 8 bits with infinity and NaN.
pub(crate) const E5M2: Format = Format { exponent: 5, mantissa: 2, ieee: true };
/// tf32 with its 13 low bits cut off.
pub(crate) const TF32: Format = Format { exponent: 8, mantissa: 10, ieee: true };

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    fn width(self) -> u32 {
        1 + self.exponent + self.mantissa
    }

    /// The largest finite code without sign.
    pub(crate) fn max_finite(self) -> u32 {
        if self.ieee {
            (((1 << self.exponent) - 1) << self.mantissa) - 1
        } else {
            (1 << (self.width() - 1)) - 2
        }
    }

    /// The NaN that PTX conversions produce: all ones but the sign.
    pub(crate) fn nan(self) -> u32 {
        (1 << (self.width() - 1)) - 1
    }

    /// The value of a code; sign bits above the width are ignored.
    pub(crate) fn decode(self, bits: u32) -> f64 {
        let magnitude = bits & self.nan();
        let sign = if bits >> (self.width() - 1) & 1 == 1 { -1.0 } else { 1.0 };
        if magnitude > self.max_finite() {
            return if self.ieee && magnitude == self.max_finite() + 1 {
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
            if saturate || (towards_zero && !exact) {
                sign | self.max_finite()
            } else if self.ieee {
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
