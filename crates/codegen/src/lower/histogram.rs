//! `tt.histogram`: counters in the scratch memory of the partition (C3, C65).

use inkwell::IntPredicate;
use inkwell::values::{InstructionOpcode as Llvm, IntValue, PointerValue};
use warploom_ir::diag::Code;
use warploom_ir::{OpId, Type};

use super::Lower;
use super::value::{Bound, Coord, Form, Fragment, element_bits};
use crate::error::{Result, internal, refuse};
use crate::family::Axis;
use crate::llvm::{Val, as_int};

impl<'c> Lower<'c, '_> {
    /// Of the lanes that hold a number, one counts it; numbers without a counter are dropped.
    pub(super) fn histogram(&mut self, op: OpId) -> Result<()> {
        let (source, result) = (self.operand(op, 0)?, self.only_result(op)?);
        let scratch = self.scratch()?;
        let family = self.family()?;
        let (&[bins], Form::Slice { axis, extent }) =
            (self.module.ty(result).shape(), self.form(source, family)?)
        else {
            return Err(refuse(Code::Shape, "tt.histogram of vectors alone").rule("C3").into());
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
        let other = if axis == Axis::Row { Axis::Col } else { Axis::Row };
        let place = family.first(self, other)?;
        let mine: Val<'c> = self.ir.icmp(IntPredicate::EQ, place, self.ir.c32(0))?.into();
        for offset in family.held(axis, extent)? {
            let at = self.slice_at(source, family, axis, offset);
            let number = as_int(self.at(source, at)?)?;
            let inside = self.ir.icmp(IntPredicate::ULT, number, self.ir.c32(bins))?;
            let counts = self.ir.binary(Llvm::And, mine, inside.into())?;
            let at = self.counter(scratch.offset, number)?;
            let text = "@$2 red.relaxed.cta.shared.add.u32 [$0], $1;";
            let args = [at.into(), self.ir.c32(1).into(), counts];
            self.ir.assembly(text, "l,r,b", &[], &args, false)?;
        }
        self.meet(&scratch)?;
        let form = self.form(result, family)?;
        let Form::Slice { axis, .. } = form else { return Err(internal("a histogram is a vector")) };
        let mut registers = Vec::new();
        for offset in family.held(axis, bins)? {
            let place = self.coordinate(Coord::lane(family, axis, offset as u32))?;
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
