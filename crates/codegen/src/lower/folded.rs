//! Products by multiplications and additions: both operands lie in scratch memory, and each lane goes along them by itself
//! (Q20).

use inkwell::IntPredicate;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{IntValue, PhiValue};
use warploom_ir::diag::Code;
use warploom_ir::{OpId, ValueId};

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
        let ty = self.element_type(module.ty(result))?;
        if !matches!(ty, BasicTypeEnum::FloatType(_)) || module.ty(a).elem() != module.ty(result).elem() {
            let text = format!("{} * {} by multiplications and additions", module.ty(a), module.ty(b));
            return Err(refuse(Code::Type, text).rule("Q20").note("instead", "f32 or f64").into());
        }
        let family = self.family()?;
        let form = self.form(result, family)?;
        let places = self.places(result, family, form)?;
        let mut sums = Vec::new();
        for place in &places {
            sums.push(self.at(c, place.clone())?);
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
                        known.push((line.clone(), start, found));
                        Ok(found)
                    };
                let x = factor(this, row, a, first)?;
                let y = factor(this, column, b, second)?;
                next.push(this.ir.overloaded("fma", &[x, y, sum])?);
            }
            Ok(next)
        })?;
        self.meet_all()?;
        self.hold(result, form, sums)
    }
}
