//! `cvt` between integers, floats and packed floats (E56).

use super::types::{Ty, low_mask, sign_extend};
use crate::number::minifloat::{
    BF16, E2M1, E2M3, E3M2, E4M3, E5M2, F16, F32, Format, TF32, bf16_value, f16_value, scale, scale_value,
};
use crate::number::{Rounding, exact, float};

/// A conversion with its qualifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spec {
    pub to: Ty,
    pub from: Ty,
    pub rounding: Rounding,
    /// `.rni` and its kin: a float result is a whole number.
    pub whole: bool,
    pub ftz: bool,
    pub sat: bool,
    pub satfinite: bool,
    pub relu: bool,
    /// Width of the destination register.
    pub register: u32,
}

/// The short formats.
pub(crate) fn format(ty: Ty) -> Option<Format> {
    Some(match ty {
        Ty::F16 | Ty::F16x2 => F16,
        Ty::BF16 | Ty::BF16x2 => BF16,
        Ty::F32 => F32,
        Ty::TF32 => TF32,
        Ty::E4M3 | Ty::E4M3x2 => E4M3,
        Ty::E5M2 | Ty::E5M2x2 => E5M2,
        Ty::E2M1x2 => E2M1,
        Ty::E2M3x2 => E2M3,
        Ty::E3M2x2 => E3M2,
        _ => return None,
    })
}

/// Two floats in one register.
pub(crate) fn packed(ty: Ty) -> bool {
    let narrow = matches!(ty, Ty::E4M3x2 | Ty::E5M2x2 | Ty::E2M1x2 | Ty::E2M3x2 | Ty::E3M2x2 | Ty::UE8M0x2);
    narrow || matches!(ty, Ty::F16x2 | Ty::BF16x2)
}

impl Spec {
    /// Whether the machine has this conversion.
    pub(crate) fn known(self) -> bool {
        let float = |t: Ty| format(t).is_some() || t == Ty::F64;
        let half = |t: Ty| matches!(t, Ty::F16x2 | Ty::BF16x2);
        let towards = matches!(self.rounding, Rounding::Zero | Rounding::Up);
        match (packed(self.to), packed(self.from)) {
            _ if self.to == Ty::UE8M0x2 => towards && matches!(self.from, Ty::F32 | Ty::BF16x2),
            _ if self.from == Ty::UE8M0x2 => self.to == Ty::BF16x2,
            (true, true) => half(self.to) != half(self.from),
            (true, false) => self.from == Ty::F32,
            (false, true) => false,
            (false, false) => {
                (self.to.integer() || float(self.to)) && (self.from.integer() || float(self.from))
            }
        }
    }

    /// Converts one value; `b` is the low half of a packed result from two sources.
    pub(crate) fn apply(self, a: u64, b: u64) -> u64 {
        if packed(self.to) {
            let half = self.to.bits() / 2;
            let (high, low) = if packed(self.from) {
                let s = self.from.bits() / 2;
                (self.value(a >> s & low_mask(s)), self.value(a & low_mask(s)))
            } else {
                (self.value(a), self.value(b))
            };
            return u64::from(self.encode(high)) << half | u64::from(self.encode(low));
        }
        if self.from.integer() {
            return self.of_integer(a);
        }
        let x = self.value(a);
        if self.to.integer() { self.to_integer(x) } else { self.to_float(x) }
    }

    /// The exact value of a float source.
    fn value(self, a: u64) -> f64 {
        match self.from {
            Ty::F64 => f64::from_bits(a),
            Ty::F32 | Ty::TF32 => {
                let x = f32::from_bits(a as u32);
                f64::from(if self.ftz { float::flush(x) } else { x })
            }
            Ty::F16 | Ty::F16x2 => f64::from(f16_value(a as u16)),
            Ty::BF16 | Ty::BF16x2 => f64::from(bf16_value(a as u16)),
            Ty::UE8M0x2 => scale_value(a as u32),
            t => format(t).map_or(0.0, |f| f.decode(a as u32)),
        }
    }

    fn encode(self, x: f64) -> u32 {
        if self.to == Ty::UE8M0x2 {
            return scale(x, self.rounding == Rounding::Up, self.satfinite);
        }
        let x = if self.relu && !x.is_nan() { x.max(0.0) } else { x };
        format(self.to).map_or(0, |f| f.encode(x, self.rounding, self.satfinite))
    }

    fn of_integer(self, a: u64) -> u64 {
        let bits = self.from.bits();
        let v = if self.from.signed() {
            i128::from(sign_extend(a, bits) as i64)
        } else {
            i128::from(a & low_mask(bits))
        };
        if self.to.integer() {
            let v = if self.sat { v.clamp(lowest(self.to), highest(self.to)) } else { v };
            return self.extend(v as u64);
        }
        // Of a whole number nothing but 0 and 1 is left.
        let v = if self.sat { v.clamp(0, 1) } else { v };
        match (self.to, self.rounding) {
            (Ty::F64, mode) => exact::whole(v, mode).to_bits(),
            (Ty::F32, Rounding::Even) => u64::from((v as f32).to_bits()),
            _ => u64::from(self.encode(odd(v))),
        }
    }

    fn to_integer(self, x: f64) -> u64 {
        if x.is_nan() {
            // Where neither side has 64 bits it is 0, else the highest bit.
            let wide = self.from == Ty::F64 || self.to.bits() == 64;
            return self.extend(if wide { 1 << (self.to.bits() - 1) } else { 0 });
        }
        let whole = self.rounding.whole(x);
        let v = (whole as i128).clamp(lowest(self.to), highest(self.to));
        self.extend(v as u64)
    }

    fn to_float(self, x: f64) -> u64 {
        let x = if self.whole { self.rounding.whole(x) } else { x };
        let x = if self.sat { float::saturate64(x) } else { x };
        match self.to {
            Ty::F64 => x.to_bits(),
            Ty::TF32 => u64::from(self.encode(x)) << 13,
            Ty::F32 => {
                let bits = if x.is_nan() { float::NAN.to_bits() } else { self.encode(x) };
                let y = f32::from_bits(bits);
                u64::from(if self.ftz { float::flush(y) } else { y }.to_bits())
            }
            _ => u64::from(self.encode(x)),
        }
    }

    /// Cuts to the type and extends to the register (E19).
    fn extend(self, v: u64) -> u64 {
        let v = v & low_mask(self.to.bits());
        let v = if self.to.signed() { sign_extend(v, self.to.bits()) } else { v };
        v & low_mask(self.register)
    }
}

fn lowest(ty: Ty) -> i128 {
    if ty.signed() { -(1_i128 << (ty.bits() - 1)) } else { 0 }
}

fn highest(ty: Ty) -> i128 {
    if ty.signed() { (1_i128 << (ty.bits() - 1)) - 1 } else { (1_i128 << ty.bits()) - 1 }
}

/// An integer as f64, rounded to odd where 53 bits are not enough, so that rounding it again is exact.
fn odd(v: i128) -> f64 {
    let magnitude = v.unsigned_abs();
    let extra = (128 - magnitude.leading_zeros()).saturating_sub(53);
    let mut kept = magnitude >> extra;
    if extra > 0 && magnitude & ((1 << extra) - 1) != 0 {
        kept |= 1;
    }
    let x = kept as f64 * (1_u128 << extra) as f64;
    if v < 0 { -x } else { x }
}
