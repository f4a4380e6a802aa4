//! Sine and cosine (C68): the angle less a multiple of a quarter turn, then a polynomial; see [`crate::approx`].

use inkwell::FloatPredicate;
use inkwell::values::{InstructionOpcode as Llvm, IntValue};

use super::Lower;
use crate::approx::{COS, HALF_PI, SIN, TRIG_TURN, TWO_OVER_PI};
use crate::error::Result;
use crate::llvm::{Val, as_int};

/// `1.5 * 2^23`: added to a small number, it leaves the nearest whole number in the low bits.
const MAGIC: f32 = 12_582_912.0;

/// Bits of an f32's fraction.
const FRACTION: u64 = 23;

impl<'c> Lower<'c, '_> {
    /// `sin(x)`, or `cos(x)`, of an f32.
    pub(super) fn sine(&mut self, x: Val<'c>, cosine: bool) -> Result<Val<'c>> {
        let ir = &self.ir;
        let (int, float) = (ir.i32(), ir.f32());
        let size = self.ir.overloaded("fabs", &[x])?;
        let ir = &self.ir;
        let large = ir.fcmp(FloatPredicate::OGE, size, ir.cf32(TRIG_TURN))?;
        let (near, far, join) = (ir.block(), ir.block(), ir.block());
        ir.br_if(large, far, near)?;
        ir.seek(near);
        let small = self.small_angle(size)?;
        let near = self.ir.here()?;
        self.ir.br(join)?;
        self.ir.seek(far);
        let big = self.large_angle(size)?;
        let far = self.ir.here()?;
        self.ir.br(join)?;
        self.ir.seek(join);
        let (turns, rest) = (self.ir.phi(int.into())?, self.ir.phi(float.into())?);
        turns.add_incoming(&[(&small.0, near), (&big.0, far)]);
        rest.add_incoming(&[(&small.1, near), (&big.1, far)]);
        let (turns, rest) = (as_int(turns.as_basic_value())?, rest.as_basic_value());
        let square = self.ir.binary(Llvm::FMul, rest, rest)?;
        let odd = self.polynomial(square, &SIN)?;
        let odd = self.ir.binary(Llvm::FMul, odd, square)?;
        let odd = self.ir.overloaded("fma", &[odd, rest, rest])?;
        let even = self.polynomial(square, &COS)?;
        let even = self.ir.overloaded("fma", &[even, square, self.ir.cf32(1.0)])?;
        // A quarter turn on, the sine is the cosine; two turn it round.
        let turns = if cosine { self.ir.add(turns, self.ir.c32(1))? } else { turns };
        let ir = &self.ir;
        let swapped = ir.icmp(inkwell::IntPredicate::NE, ir.and(turns, 1)?, ir.c32(0))?;
        let found = ir.select(swapped, even, odd)?;
        let mut sign = ir.shl(ir.and(turns, 2)?, 30)?;
        if !cosine {
            let own = as_int(ir.bits(x, int.into())?)?;
            sign = ir.xor(sign, ir.and(own, 0x8000_0000)?)?;
        }
        let found = ir.xor(as_int(ir.bits(found, int.into())?)?, sign)?;
        let found = ir.bits(found.into(), float.into())?;
        // An infinite angle has no sine.
        let endless = ir.fcmp(FloatPredicate::OEQ, size, ir.cf32(f32::INFINITY))?;
        ir.select(endless, ir.cf32(f32::NAN), found)
    }

    /// Quarter turns of a non-negative angle below the turn, and what is left: at most an eighth turn either way.
    fn small_angle(&mut self, size: Val<'c>) -> Result<(IntValue<'c>, Val<'c>)> {
        let per_quarter = self.ir.cf32(std::f32::consts::FRAC_2_PI);
        let shifted = self.ir.overloaded("fma", &[size, per_quarter, self.ir.cf32(MAGIC)])?;
        let turns = as_int(self.ir.bits(shifted, self.ir.i32().into())?)?;
        let count = self.ir.binary(Llvm::FSub, shifted, self.ir.cf32(MAGIC))?;
        let mut rest = size;
        for part in HALF_PI {
            rest = self.ir.overloaded("fma", &[count, self.ir.cf32(-part), rest])?;
        }
        Ok((turns, rest))
    }

    /// The same of any larger angle `m * 2^e`, by Payne and Hanek: of `m * 2^e * 2/pi` only the bits that matter
    /// modulo four are multiplied.
    fn large_angle(&mut self, size: Val<'c>) -> Result<(IntValue<'c>, Val<'c>)> {
        let ir = &self.ir;
        let (word, wide) = (ir.i32(), ir.int(64));
        let bits = as_int(ir.bits(size, word.into())?)?;
        let fraction = ir.and(bits, (1 << FRACTION) - 1)?;
        let m = ir.zext(ir.or(fraction, ir.c32(1 << FRACTION))?, wide)?;
        // The first bit has weight 2: bit e + 30 of the table, whose first word is zero.
        let exponent = ir.shr(bits, FRACTION)?;
        let first = ir.sub(exponent, ir.c32(127 + FRACTION - 30))?;
        let (index, shift) = (ir.shr(first, 5)?, ir.zext(ir.and(first, 31)?, wide)?);
        let mut words = Vec::new();
        for k in 0..4 {
            let mut found: Val<'c> = ir.c32(u64::from(TWO_OVER_PI[k])).into();
            for i in 1..5u64 {
                let here = ir.icmp(inkwell::IntPredicate::EQ, index, ir.c32(i))?;
                found = ir.select(here, ir.c32(u64::from(TWO_OVER_PI[k + i as usize])).into(), found)?;
            }
            words.push(ir.zext(as_int(found)?, wide)?);
        }
        let mut window = Vec::new();
        for pair in words.windows(2) {
            let both = ir.or(ir.shl(pair[0], 32)?, pair[1])?;
            let moved = as_int(ir.binary(Llvm::Shl, both.into(), shift.into())?)?;
            window.push(ir.shr(moved, 32)?);
        }
        let times =
            |a: IntValue<'c>| -> Result<IntValue<'c>> { as_int(ir.binary(Llvm::Mul, a.into(), m.into())?) };
        // 64 bits of the product modulo 2^96, from the top.
        let low = ir.shr(times(window[2])?, 32)?;
        let middle = ir.add(times(window[1])?, low)?;
        let product = ir.add(ir.shl(times(window[0])?, 32)?, middle)?;
        let quarters = as_int(ir.cast(Llvm::Trunc, ir.shr(product, 62)?.into(), word.into())?)?;
        let part = ir.shl(product, 2)?;
        let more = as_int(ir.cast(Llvm::Trunc, ir.shr(part, 63)?.into(), word.into())?)?;
        let turns = ir.add(quarters, more)?;
        let double = ir.f64();
        let part = ir.cast(Llvm::SIToFP, part.into(), double.into())?;
        let unit = double.const_float(std::f64::consts::FRAC_PI_2 / 18_446_744_073_709_551_616.0);
        let rest = ir.binary(Llvm::FMul, part, unit.into())?;
        Ok((turns, ir.cast(Llvm::FPTrunc, rest, ir.f32().into())?))
    }
}
