//! Integers of few bits as f16, two at once (C68). Between 1024 and 2048 the last bit of an f16 counts one: a number of up to ten
//! bits below the upper bits of 1024 is their sum, of which 1024 is taken off again. The conversions of the chip take one at
//! a time, four times as slowly, and a sign that is spread first.

use hashbrown::HashSet;
use inkwell::values::{InstructionOpcode as Llvm, IntValue};
use warploom_ir::{Category, FloatKind, OpId, Opcode, Type, ValueId};

use super::Lower;
use crate::error::Result;
use crate::llvm::{Field, Val, as_int};

/// 1024 as f16, twice.
const ABOVE: u64 = 0x6400_6400;

/// Its upper byte, four times.
const BYTES_ABOVE: u64 = 0x6464_6464;

/// Bits of an f16 below its exponent.
const MANTISSA: u64 = 10;

impl<'c> Lower<'c, '_> {
    /// Whether an operation makes f16 of integers.
    pub(super) fn makes_halves(&self, op: OpId) -> bool {
        let data = &self.module.ops[op];
        let from = data.operands.first().map(|&v| self.module.ty(v).elem());
        let to = self.module.result(op).map(|v| self.module.ty(v).elem());
        matches!(data.opcode, Opcode::SIToFP | Opcode::UIToFP)
            && matches!(from, Some(Type::Int(8 | 16 | 32, _)))
            && to == Some(&Type::Float(FloatKind::F16))
            && self.module.result(op).is_some_and(|halves| !self.is_converted_again(halves))
    }

    /// Whether a tile becomes floats of another kind: of integers those are made at once, without f16 between.
    fn is_converted_again(&self, tile: ValueId) -> bool {
        let (mut stack, mut seen) = (vec![tile], HashSet::new());
        while let Some(value) = stack.pop() {
            if !seen.insert(value) {
                continue;
            }
            for &user in &self.users_of(value) {
                match self.module.ops[user].opcode {
                    Opcode::ExtF | Opcode::TruncF | Opcode::FpToFp => return true,
                    opcode if opcode.facts().category == Category::View || opcode == Opcode::Join => {
                        stack.extend(self.module.result(user));
                    }
                    _ => {}
                }
            }
        }
        false
    }

    /// Two integers as f16, where they are fields of one word, or alike in two.
    pub(super) fn halves_of(&mut self, pair: [Val<'c>; 2], signed: bool) -> Result<Option<Val<'c>>> {
        let [Some(a), Some(b)] = pair.map(|value| self.ir.field(value, signed)) else { return Ok(None) };
        if (a.bits, a.signed) != (b.bits, b.signed) || a.bits > MANTISSA || (a.signed && !signed) {
            return Ok(None);
        }
        let (words, mask) = match self.ir.bytes_of_word(pair)? {
            Some((word, first)) => {
                let order = first | 4 << 4 | (first + 1) << 8 | 4 << 12;
                let [above, order] = [BYTES_ABOVE, order].map(|n| Val::from(self.ir.c32(n)));
                (as_int(self.ir.intrinsic("nvvm.prmt", &[word.into(), above, order])?)?, None)
            }
            None => {
                let Some(words) = self.both_in_word(a, b)? else { return Ok(None) };
                let one = (1 << a.bits) - 1;
                (words, Some(one | one << 16))
            }
        };
        let sign = if a.signed { 1 << (a.bits - 1) } else { 0 };
        let flipped = sign | sign << 16;
        let sums = match mask {
            Some(mask) => self.ir.binary(
                Llvm::Xor,
                self.ir.and(words, mask)?.into(),
                self.ir.c32(flipped | ABOVE).into(),
            )?,
            None => self.ir.binary(Llvm::Xor, words.into(), self.ir.c32(flipped).into())?,
        };
        let ty = self.ir.ctx.f16_type();
        let sums = self.ir.bits(sums, ty.vec_type(2).into())?;
        let off = ty.const_float((1024 + sign) as f64).into();
        let off = self.ir.pair(off, off)?;
        self.ir.binary(Llvm::FSub, sums, off).map(Some)
    }

    /// A word with one field at bit 0 and another at bit 16, and anything around them; `None` where that takes more than one
    /// step for each.
    fn both_in_word(&mut self, a: Field<'c>, b: Field<'c>) -> Result<Option<IntValue<'c>>> {
        let word = |of: IntValue<'c>| as_int(self.ir.cast(Llvm::ZExt, of.into(), self.ir.i32().into())?);
        let wide = |of: IntValue<'c>| if of.get_type().get_bit_width() < 32 { word(of) } else { Ok(of) };
        let (x, y) = (wide(a.of)?, wide(b.of)?);
        if x == y || a.of == b.of {
            let low = self.ir.shr(x, a.first)?;
            let high = match b.first {
                first @ ..=16 => self.ir.shl(x, 16 - first)?,
                first => self.ir.shr(x, first - 16)?,
            };
            // What one leaves where the other is, is taken off first.
            let apart = a.of.get_type().get_bit_width() <= 16 && b.first + a.bits <= 16;
            let (low, high) = match apart {
                true => (low, high),
                false => {
                    (self.ir.and(low, (1 << a.bits) - 1)?, self.ir.and(high, ((1 << b.bits) - 1) << 16)?)
                }
            };
            return self.ir.or(low, high).map(Some);
        }
        if a.first != b.first || a.first + a.bits > 16 {
            return Ok(None);
        }
        let both = self.ir.or(self.ir.and(x, 0xffff)?, self.ir.shl(y, 16)?)?;
        self.ir.shr(both, a.first).map(Some)
    }
}
