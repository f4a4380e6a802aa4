//! Functions of f64 (C68): the steps of [`crate::double`] as instructions.

use inkwell::values::InstructionOpcode as Llvm;
use inkwell::{FloatPredicate, IntPredicate, basic_block::BasicBlock};

use super::Lower;
use crate::double::{Binary, Function, Id, Step, Unary};
use crate::error::{Result, internal};
use crate::llvm::{Val, as_int};

/// A branch whose ways have not met yet.
#[derive(Default)]
struct Ways<'c> {
    blocks: Option<[BasicBlock<'c>; 2]>,
    ends: Vec<BasicBlock<'c>>,
}

impl<'c> Lower<'c, '_> {
    /// A function of our own of f64.
    pub(super) fn steps(&mut self, function: &Function, args: &[Val<'c>]) -> Result<Val<'c>> {
        let mut values: Vec<Option<Val<'c>>> = Vec::with_capacity(function.steps.len());
        let mut ways = Ways::default();
        for &step in &function.steps {
            let value = self.step(step, args, &values, &mut ways)?;
            values.push(value);
        }
        known(&values, function.result)
    }

    /// One step; what only directs has no value.
    fn step(
        &mut self,
        step: Step,
        args: &[Val<'c>],
        values: &[Option<Val<'c>>],
        ways: &mut Ways<'c>,
    ) -> Result<Option<Val<'c>>> {
        let at = |id: Id| known(values, id);
        let value = match step {
            Step::Argument(index) => *args.get(index).ok_or_else(|| internal("no such operand"))?,
            Step::Constant(value) => self.ir.f64().const_float(value).into(),
            Step::Word(word) => self.ir.c64(word).into(),
            Step::Unary(function, a) => self.unary_step(function, at(a)?)?,
            Step::Binary(function, a, b) => self.binary_step(function, at(a)?, at(b)?)?,
            Step::Fused(a, b, c) => self.ir.overloaded("fma", &[at(a)?, at(b)?, at(c)?])?,
            Step::Pick(truth, a, b) => self.ir.select(as_int(at(truth)?)?, at(a)?, at(b)?)?,
            Step::Branch(truth) => {
                let (so, otherwise) = (self.ir.block(), self.ir.block());
                self.ir.br_if(as_int(at(truth)?)?, so, otherwise)?;
                self.ir.seek(so);
                *ways = Ways { blocks: Some([otherwise, self.ir.block()]), ends: Vec::new() };
                return Ok(None);
            }
            Step::Otherwise | Step::Join => {
                let [otherwise, join] = ways.blocks.ok_or_else(|| internal("ways without a branch"))?;
                ways.ends.push(self.ir.here()?);
                self.ir.br(join)?;
                self.ir.seek(if matches!(step, Step::Otherwise) { otherwise } else { join });
                return Ok(None);
            }
            Step::Either(a, b) => {
                let (a, b) = (at(a)?, at(b)?);
                let phi = self.ir.phi(a.get_type())?;
                let [so, otherwise] = ways.ends[..] else { return Err(internal("ways that do not meet")) };
                phi.add_incoming(&[(&a, so), (&b, otherwise)]);
                phi.as_basic_value()
            }
        };
        Ok(Some(value))
    }

    fn unary_step(&mut self, function: Unary, a: Val<'c>) -> Result<Val<'c>> {
        let (real, word) = (self.ir.f64().into(), self.ir.int(64).into());
        match function {
            Unary::Negate => self.negate(a),
            Unary::Absolute => self.ir.overloaded("fabs", &[a]),
            Unary::Root => self.ir.overloaded("sqrt", &[a]),
            Unary::Truncate => self.ir.overloaded("trunc", &[a]),
            Unary::Bits => self.ir.bits(a, word),
            Unary::Real => self.ir.bits(a, real),
            Unary::Convert => self.ir.cast(Llvm::SIToFP, a, real),
            Unary::Not => self.ir.binary(Llvm::Xor, a, self.ir.int(1).const_all_ones().into()),
        }
    }

    /// Sums and products keep their own rounding, whatever may be fused elsewhere.
    fn binary_step(&mut self, function: Binary, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        let ir = &mut self.ir;
        let llvm = match function {
            Binary::Add => return ir.intrinsic("nvvm.add.rn.d", &[a, b]),
            Binary::Multiply => return ir.intrinsic("nvvm.mul.rn.d", &[a, b]),
            Binary::Less => return Ok(ir.fcmp(FloatPredicate::OLT, a, b)?.into()),
            Binary::Equal => return Ok(ir.fcmp(FloatPredicate::OEQ, a, b)?.into()),
            Binary::Below => return Ok(ir.icmp(IntPredicate::ULT, as_int(a)?, as_int(b)?)?.into()),
            Binary::BelowSigned => return Ok(ir.icmp(IntPredicate::SLT, as_int(a)?, as_int(b)?)?.into()),
            Binary::High => return self.multiply_high(as_int(a)?, as_int(b)?),
            Binary::Divide => Llvm::FDiv,
            Binary::AddWords => Llvm::Add,
            Binary::SubtractWords => Llvm::Sub,
            Binary::Low => Llvm::Mul,
            Binary::And => Llvm::And,
            Binary::Or => Llvm::Or,
            Binary::Xor => Llvm::Xor,
            Binary::Left => Llvm::Shl,
            Binary::Right => Llvm::LShr,
            Binary::RightSigned => Llvm::AShr,
        };
        ir.binary(llvm, a, b)
    }
}

/// The value of an earlier step.
fn known<'c>(values: &[Option<Val<'c>>], id: Id) -> Result<Val<'c>> {
    values.get(id).copied().flatten().ok_or_else(|| internal("a step without a value"))
}
