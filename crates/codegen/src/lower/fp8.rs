//! 8-bit floats on chips, or in versions of PTX, that have no instruction for them: by integer arithmetic and one
//! addition that rounds, bit for bit what `cvt.rn.satfinite` gives (C68).

use inkwell::IntPredicate;
use inkwell::values::{InstructionOpcode as Llvm, IntValue};
use warploom_ir::FloatKind;

use super::Lower;
use crate::error::Result;
use crate::llvm::{Val, as_int};

/// Bits of a format with one sign bit, and its largest number.
#[derive(Clone, Copy)]
struct Format {
    /// Bits of the fraction.
    fraction: u64,
    /// What is added to exponents.
    bias: u64,
    /// Bits of the largest finite number.
    most: u64,
}

fn format(kind: FloatKind) -> Option<Format> {
    match kind {
        FloatKind::F8E4M3FN => Some(Format { fraction: 3, bias: 7, most: 0x7e }),
        FloatKind::F8E5M2 => Some(Format { fraction: 2, bias: 15, most: 0x7b }),
        _ => None,
    }
}

/// All bits of a number but its sign: both formats end with NaNs.
const NAN: u64 = 0x7f;

impl<'c> Lower<'c, '_> {
    /// f32 to an 8-bit float, rounded to nearest even; what is too large becomes the largest number. `None` for other
    /// formats.
    pub(super) fn narrow_fp8(&self, a: Val<'c>, kind: FloatKind) -> Result<Option<IntValue<'c>>> {
        let Some(Format { fraction, bias, most }) = format(kind) else { return Ok(None) };
        let word = self.ir.i32();
        let bits = as_int(self.ir.bits(a, word.into())?)?;
        let size = self.ir.and(bits, 0x7fff_ffff)?;
        // Normal numbers: cut the fraction behind half a unit, less one bit where the last kept one is even.
        let cut = 23 - fraction;
        let odd = self.ir.and(self.ir.shr(size, cut)?, 1)?;
        let rounded = self.ir.add(self.ir.add(size, odd)?, self.ir.c32((1 << (cut - 1)) - 1))?;
        let normal = self.ir.sub(self.ir.shr(rounded, cut)?, self.ir.c32((127 - bias) << fraction))?;
        // Numbers below the normal ones count units of the least one, and so does the end of the fraction of a sum whose
        // unit that is.
        let unit = (127 + 24 - bias - fraction) << 23;
        let base = self.ir.bits(self.ir.c32(unit).into(), self.ir.f32().into())?;
        let magnitude = self.ir.bits(size.into(), self.ir.f32().into())?;
        let sum = self.ir.binary(Llvm::FAdd, magnitude, base)?;
        let small = self.ir.sub(as_int(self.ir.bits(sum, word.into())?)?, self.ir.c32(unit))?;
        let is_small = self.ir.icmp(IntPredicate::ULT, size, self.ir.c32((128 - bias) << 23))?;
        let found = as_int(self.ir.select(is_small, small.into(), normal.into())?)?;
        let too_large = self.ir.icmp(IntPredicate::UGT, found, self.ir.c32(most))?;
        let found = as_int(self.ir.select(too_large, self.ir.c32(most).into(), found.into())?)?;
        let sign = self.ir.and(self.ir.shr(bits, 24)?, 0x80)?;
        let signed = self.ir.or(found, sign)?;
        let is_nan = self.ir.icmp(IntPredicate::UGT, size, self.ir.c32(0x7f80_0000))?;
        let byte = self.ir.select(is_nan, self.ir.c32(NAN).into(), signed.into())?;
        as_int(self.ir.cast(Llvm::Trunc, byte, self.ir.int(8).into())?).map(Some)
    }

    /// An 8-bit float as f32; exact. `None` for other formats.
    pub(super) fn widen_fp8(&self, a: IntValue<'c>, kind: FloatKind) -> Result<Option<Val<'c>>> {
        let Some(Format { fraction, bias, .. }) = format(kind) else { return Ok(None) };
        let byte = self.ir.zext(a, self.ir.i32())?;
        let size = self.ir.and(byte, 0x7f)?;
        let sign = self.ir.shl(self.ir.and(byte, 0x80)?, 24)?;
        // The exponent is read with the bias of f32, then put right: an exact product, of numbers below the normal ones
        // too.
        let low = self.ir.bits(self.ir.shl(size, 23 - fraction)?.into(), self.ir.f32().into())?;
        let scale = self.ir.bits(self.ir.c32((127 + 127 - bias) << 23).into(), self.ir.f32().into())?;
        let number = as_int(self.ir.bits(self.ir.binary(Llvm::FMul, low, scale)?, self.ir.i32().into())?)?;
        let number = match kind {
            // Everything behind the largest number of e5m2 is infinite or no number.
            FloatKind::F8E5M2 => {
                let special = self.ir.icmp(IntPredicate::UGE, size, self.ir.c32(0x7c))?;
                let wide = self.ir.or(self.ir.shl(size, 21)?, self.ir.c32(0x7f80_0000))?;
                as_int(self.ir.select(special, wide.into(), number.into())?)?
            }
            _ => {
                let special = self.ir.icmp(IntPredicate::EQ, size, self.ir.c32(NAN))?;
                as_int(self.ir.select(special, self.ir.c32(0x7fff_ffff).into(), number.into())?)?
            }
        };
        let number = self.ir.or(number, sign)?;
        self.ir.bits(number.into(), self.ir.f32().into()).map(Some)
    }
}
