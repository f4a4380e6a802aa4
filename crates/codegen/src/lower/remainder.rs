//! `arith.remf`: the exact remainder of a division that rounds towards zero, with the sign of the dividend, as C's `fmod`
//! (C68).

use inkwell::types::BasicTypeEnum;
use inkwell::values::{InstructionOpcode as Llvm, PhiValue};
use inkwell::{FloatPredicate, IntPredicate};
use warploom_ir::{FloatKind, OpId, Type};

use super::Lower;
use crate::error::{Result, internal};
use crate::llvm::{Val, as_int};

impl<'c> Lower<'c, '_> {
    /// The remainder of two numbers; 16-bit formats, which hold it, by f32.
    pub(super) fn remainder(&mut self, op: OpId, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        let Type::Float(kind) = *self.operand_elem(op, 0)? else { return Err(self.bad_type(op)) };
        if matches!(kind, FloatKind::F32 | FloatKind::F64) {
            return self.long_division(a, b);
        }
        let (a, b) = (self.widened(op, a, kind)?, self.widened(op, b, kind)?);
        let rest = self.long_division(a, b)?;
        self.narrowed_to(op, rest, kind)
    }

    /// Long division: the divisor is doubled while it goes into the dividend twice, then taken away and halved back down.
    /// Each step is exact.
    pub(super) fn long_division(&mut self, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        let BasicTypeEnum::FloatType(ty) = a.get_type() else {
            return Err(internal("a remainder of no floats"));
        };
        let (half, infinity) = (ty.const_float(0.5).into(), ty.const_float(f64::INFINITY).into());
        let (rest, step) = (self.ir.overloaded("fabs", &[a])?, self.ir.overloaded("fabs", &[b])?);
        let start = self.ir.here()?;
        let (check, grow, grown) = (self.ir.block(), self.ir.block(), self.ir.block());
        let (shrink, done, exit) = (self.ir.block(), self.ir.block(), self.ir.block());
        // Neither a NaN, nor an infinite dividend, nor a divisor of zero: those have no remainder.
        let finite = self.ir.fcmp(FloatPredicate::OLT, rest, infinity)?;
        let divides = self.ir.fcmp(FloatPredicate::OGT, step, ty.const_zero().into())?;
        let valid = self.ir.binary(Llvm::And, finite.into(), divides.into())?;
        self.ir.br_if(as_int(valid)?, check, exit)?;
        self.ir.seek(check);
        self.ir.br(grow)?;

        self.ir.seek(grow);
        let growing = self.ir.phi(ty.into())?;
        growing.add_incoming(&[(&step, check)]);
        let now = growing.as_basic_value();
        let beyond = self.less(rest, now)?;
        let twice = self.ir.fcmp(FloatPredicate::OLE, now, beyond)?;
        let doubled = self.sum(now, now)?;
        growing.add_incoming(&[(&doubled, grow)]);
        self.ir.br_if(twice, grow, grown)?;

        self.ir.seek(grown);
        self.ir.br(shrink)?;
        self.ir.seek(shrink);
        let (left, unit): (PhiValue<'c>, PhiValue<'c>) = (self.ir.phi(ty.into())?, self.ir.phi(ty.into())?);
        left.add_incoming(&[(&rest, grown)]);
        unit.add_incoming(&[(&now, grown)]);
        let (so_far, size) = (left.as_basic_value(), unit.as_basic_value());
        let goes = self.ir.fcmp(FloatPredicate::OGE, so_far, size)?;
        let less = self.less(so_far, size)?;
        let next = self.ir.select(goes, less, so_far)?;
        let smaller = self.ir.binary(Llvm::FMul, size, half)?;
        let more = self.ir.fcmp(FloatPredicate::OGT, size, step)?;
        left.add_incoming(&[(&next, shrink)]);
        unit.add_incoming(&[(&smaller, shrink)]);
        self.ir.br_if(more, shrink, done)?;

        self.ir.seek(done);
        let word = self.ir.int(ty.get_bit_width());
        let bits = as_int(self.ir.bits(a, word.into())?)?;
        let below = self.ir.icmp(IntPredicate::SLT, bits, word.const_zero())?;
        let opposite = self.negate(next)?;
        let signed = self.ir.select(below, opposite, next)?;
        self.ir.br(exit)?;
        self.ir.seek(exit);
        let result = self.ir.phi(ty.into())?;
        let nan: Val<'c> = ty.const_float(f64::NAN).into();
        result.add_incoming(&[(&nan, start), (&signed, done)]);
        Ok(result.as_basic_value())
    }

    /// `a - b`, rounded by itself.
    fn less(&mut self, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        let opposite = self.negate(b)?;
        self.sum(a, opposite)
    }

    /// `a + b`, rounded by itself: fused with the product that a divisor came from it would be another number.
    fn sum(&mut self, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        let name = if a.get_type() == self.ir.f32().into() { "nvvm.add.rn.f" } else { "nvvm.add.rn.d" };
        self.ir.intrinsic(name, &[a, b])
    }
}
