//! `tt.histogram`: counters in the scratch memory of the partition (C3, C65).

use inkwell::IntPredicate;
use inkwell::values::{InstructionOpcode as Llvm, IntValue, PointerValue};
use warploom_ir::diag::Code;
use warploom_ir::{OpId, Type};

use super::Lower;
use super::value::{Bound, Fragment, element_bits};
use crate::error::{Result, refuse};
use crate::llvm::as_int;

impl<'c> Lower<'c, '_> {
    /// Of the lanes that hold a number, one counts it; numbers without a counter, and those that
    /// the mask leaves out, are dropped.
    pub(super) fn histogram(&mut self, op: OpId) -> Result<()> {
        let (source, result) = (self.operand(op, 0)?, self.only_result(op)?);
        let mask = self.module.ops[op].operands.get(1).copied();
        let scratch = self.scratch()?;
        let family = self.family()?;
        let &[bins] = self.module.ty(result).shape() else {
            return Err(refuse(Code::Shape, "tt.histogram into a vector").rule("C3").into());
        };
        if !matches!(self.module.ty(source).elem(), Type::Int(32, _))
            || element_bits(self.module.ty(result)) != Some(32)
        {
            return Err(refuse(Code::Type, "tt.histogram of other than i32").rule("C3").into());
        }
        if 4 * bins > scratch.bytes {
            let text = format!("{} B of scratch memory for {bins} counters", scratch.bytes);
            return Err(refuse(Code::Capacity, text)
                .rule("C65")
                .note("needs", format!("{} B", 4 * bins))
                .into());
        }
        // What comes from other lanes comes through the memory of the counters.
        let form = self.form_now(source, family)?;
        let places = self.places(source, family, form)?;
        for value in mask.into_iter().chain([source]) {
            self.reach(value, &places)?;
        }
        let own = self.ir.sub(self.thread, self.ir.c32(32 * self.place.warp))?;
        let lanes = 32 * self.place.warps;
        for first in (0..bins).step_by(lanes as usize) {
            let number = self.ir.add(own, self.ir.c32(first))?;
            let inside = self.ir.icmp(IntPredicate::ULT, number, self.ir.c32(bins))?;
            let (clear, done) = (self.ir.block(), self.ir.block());
            self.ir.br_if(inside, clear, done)?;
            self.ir.seek(clear);
            let at = self.counter(scratch.offset, number)?;
            self.ir.store(self.ir.c32(0).into(), at, 4)?;
            self.ir.br(done)?;
            self.ir.seek(done);
        }
        self.meet(&scratch)?;
        let mine = self.owner(source, family, form)?;
        for at in places {
            let kept = mask.map(|mask| self.at(mask, at.clone())).transpose()?;
            let number = as_int(self.at(source, at)?)?;
            let inside = self.ir.icmp(IntPredicate::ULT, number, self.ir.c32(bins))?;
            let counts = [mine, kept]
                .into_iter()
                .flatten()
                .try_fold(inside.into(), |counts, also| self.ir.binary(Llvm::And, counts, also))?;
            let at = self.counter(scratch.offset, number)?;
            let text = "@$2 red.relaxed.cta.shared.add.u32 [$0], $1;";
            let args = [at.into(), self.ir.c32(1).into(), counts];
            self.ir.assembly(text, "l,r,b", &[], &args, false)?;
        }
        self.meet(&scratch)?;
        let form = self.form(result, family)?;
        let mut registers = Vec::new();
        for at in self.places(result, family, form)? {
            let place = self.row_major(&[bins], &at)?;
            let at = self.counter(scratch.offset, place)?;
            registers.push(self.ir.load(self.ir.i32().into(), at, 4)?);
        }
        self.meet(&scratch)?;
        self.bound.insert(result, Bound::Fragment(Fragment::finished(family, form, registers.into())));
        Ok(())
    }

    /// A counter of 4 bytes.
    fn counter(&self, offset: u64, number: IntValue<'c>) -> Result<PointerValue<'c>> {
        self.ir.plus(self.ir.shared_at(self.ir.shl(number, 2)?)?, offset)
    }
}
