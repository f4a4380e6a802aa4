//! Products by multiplications and additions: both operands lie in scratch memory, and each lane goes along them by itself
//! (Q20).

use inkwell::IntPredicate;
use inkwell::values::{InstructionOpcode as Llvm, IntValue, PhiValue};
use warploom_ir::diag::Code;
use warploom_ir::{FloatKind, OpId, Type, ValueId};

use super::Lower;
use super::value::{Coord, Coords};
use crate::error::{Result, internal, refuse};
use crate::llvm::{Val, as_int};

impl<'c> Lower<'c, '_> {
    /// Runs code `from..to` times with a counter and values that it carries.
    fn repeat(
        &mut self,
        (from, to): (u64, u64),
        carried: Vec<Val<'c>>,
        body: impl FnOnce(&mut Self, IntValue<'c>, &[Val<'c>]) -> Result<Vec<Val<'c>>>,
    ) -> Result<Vec<Val<'c>>> {
        if from >= to {
            return Ok(carried);
        }
        let (start, head, exit) = (self.ir.here()?, self.ir.block(), self.ir.block());
        self.ir.br(head)?;
        self.ir.seek(head);
        let counter = self.ir.phi(self.ir.i32().into())?;
        counter.add_incoming(&[(&self.ir.c32(from), start)]);
        let mut phis: Vec<PhiValue<'c>> = Vec::new();
        for value in &carried {
            let phi = self.ir.phi(value.get_type())?;
            phi.add_incoming(&[(value, start)]);
            phis.push(phi);
        }
        let scope = self.enter();
        let values: Vec<Val<'c>> = phis.iter().map(|phi| phi.as_basic_value()).collect();
        let at = as_int(counter.as_basic_value())?;
        let done = body(self, at, &values)?;
        self.leave(scope);
        let next = self.ir.add(at, self.ir.c32(1))?;
        let more = self.ir.icmp(IntPredicate::ULT, next, self.ir.c32(to))?;
        let latch = self.ir.here()?;
        self.ir.br_if(more, head, exit)?;
        counter.add_incoming(&[(&next, latch)]);
        for (phi, value) in phis.iter().zip(&done) {
            phi.add_incoming(&[(value, latch)]);
        }
        self.ir.seek(exit);
        Ok(done)
    }

    /// `warploom.dot_fma`: each lane computes its elements of the result, one multiplication and addition after the
    /// other in the order of K, each rounded once.
    pub(super) fn dot_fma(&mut self, op: OpId) -> Result<()> {
        let (a, b, c) = (self.operand(op, 0)?, self.operand(op, 1)?, self.operand(op, 2)?);
        let result = self.only_result(op)?;
        let module = self.module;
        let (left, right) = (module.ty(a).shape(), module.ty(b).shape());
        let (&[.., k], Some(&n)) = (left, right.last()) else {
            return Err(refuse(Code::Verify, "a product of scalars").into());
        };
        let numbers = Numbers::of(module.ty(a).elem(), module.ty(b).elem(), module.ty(result).elem());
        let Some(numbers) = numbers else {
            let text = format!("{} * {} by multiplications and additions", module.ty(a), module.ty(b));
            let known = "floats into floats, f64 into f64, integers into i32";
            return Err(refuse(Code::Type, text).rule("Q20").note("instead", known).into());
        };
        let family = self.family()?;
        let form = self.form(result, family)?;
        let places = self.places(result, family, form)?;
        self.reach(c, &places)?;
        let mut sums = Vec::new();
        for place in &places {
            let start = self.at(c, place.clone())?;
            sums.push(self.counted(op, start, numbers, module.ty(result).elem())?);
        }
        let starts = self.park(&[a, b])?;
        let &[first, second] = starts.as_slice() else { return Err(internal("a product of two tiles")) };
        // The numbers of the first elements of the row of A and of the column of B.
        let mut lines = Vec::new();
        for place in &places {
            let (mut row, mut column) = (place.clone(), place.clone());
            let rank = place.len();
            row[rank - 1] = Coord::ZERO;
            column[rank - 2] = Coord::ZERO;
            lines.push((row, column));
        }
        let sums = self.repeat((0, k), sums, |this, at, sums| {
            let mut known: Vec<(Coords, u64, Val<'c>)> = Vec::new();
            let mut next = Vec::new();
            for ((row, column), &sum) in lines.iter().zip(sums) {
                let mut factor =
                    |this: &mut Self, line: &Coords, value: ValueId, start: u64| -> Result<Val<'c>> {
                        if let Some((.., found)) = known.iter().find(|(l, s, _)| l == line && *s == start) {
                            return Ok(*found);
                        }
                        let number = this.row_major(this.module.ty(value).shape(), line)?;
                        let step = if start == first { at } else { this.ir.scale(at, n)? };
                        let number = this.ir.add(number, step)?;
                        let found = this.parked(this.module.ty(value), start, number)?;
                        let found = this.counted(op, found, numbers, module.ty(value).elem())?;
                        known.push((line.clone(), start, found));
                        Ok(found)
                    };
                let x = factor(this, row, a, first)?;
                let y = factor(this, column, b, second)?;
                next.push(match numbers {
                    Numbers::Integers => {
                        let product = this.ir.binary(Llvm::Mul, x, y)?;
                        this.ir.binary(Llvm::Add, product, sum)?
                    }
                    _ => this.ir.overloaded("fma", &[x, y, sum])?,
                });
            }
            Ok(next)
        })?;
        self.meet_all()?;
        let sums = match (numbers, module.ty(result).elem()) {
            (Numbers::Singles, &Type::Float(kind)) => {
                sums.into_iter().map(|sum| self.narrowed_to(op, sum, kind)).collect::<Result<_>>()?
            }
            _ => sums,
        };
        self.hold(result, form, sums)
    }

    /// An element of a product as it is multiplied and added.
    fn counted(&mut self, op: OpId, value: Val<'c>, numbers: Numbers, elem: &Type) -> Result<Val<'c>> {
        match (numbers, elem) {
            (Numbers::Singles, &Type::Float(kind)) => self.widened(op, value, kind),
            (Numbers::Integers, Type::Int(bits, _)) if *bits < 32 => {
                self.ir.cast(Llvm::SExt, value, self.ir.i32().into())
            }
            _ => Ok(value),
        }
    }
}

/// What a product by multiplications and additions is computed in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    /// f32, to which narrower floats widen; a narrower result is rounded once, behind the last addition.
    Singles,
    /// f64.
    Doubles,
    /// i32.
    Integers,
}

impl Numbers {
    fn of(a: &Type, b: &Type, result: &Type) -> Option<Numbers> {
        let double = |ty: &Type| *ty == Type::Float(FloatKind::F64);
        match (a, b, result) {
            (Type::Int(..), Type::Int(..), Type::Int(32, _)) => Some(Numbers::Integers),
            _ if [a, b, result].into_iter().all(double) => Some(Numbers::Doubles),
            _ if [a, b, result].into_iter().any(double) => None,
            (Type::Float(_), Type::Float(_), Type::Float(_)) => Some(Numbers::Singles),
            _ => None,
        }
    }
}
