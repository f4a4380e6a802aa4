//! Reductions, scans and products of tiles in scratch memory: each lane goes along the dimension by itself, so that any
//! shape, any rank and any region will do (G15, Q20).

use inkwell::IntPredicate;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{IntValue, PhiValue};
use warploom_ir::diag::Code;
use warploom_ir::{Attr, BlockId, OpId, ValueId};

use super::Lower;
use super::across::Row;
use super::value::{Bound, Coord, Coords};
use crate::error::{Result, internal, refuse};
use crate::llvm::{Val, as_int};

/// A line of elements in scratch memory: the number of the first in each tile.
struct Line<'c> {
    first: IntValue<'c>,
    /// The place of the result in the line, from where a scan starts; none for a reduction.
    own: Option<IntValue<'c>>,
}

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

    /// Whether the layout of the partition has no rows or columns for the operand of a reduction or scan.
    pub(super) fn goes_alone(&self, op: OpId) -> Result<bool> {
        use super::value::Form;
        let family = self.family()?;
        for &operand in &self.module.ops[op].operands {
            let form = match self.bound.get(&operand) {
                Some(Bound::Fragment(fragment)) => fragment.form,
                _ => self.form(operand, family)?,
            };
            let wanted = match self.module.ty(operand).shape().len() {
                1 => matches!(form, Form::Slice { .. }),
                2 => matches!(form, Form::Tile { .. }),
                _ => false,
            };
            if !wanted {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `tt.reduce`, or `tt.scan` where `scans`, of tiles of any shape.
    pub(super) fn fold_alone(&mut self, op: OpId, scans: bool) -> Result<()> {
        let module = self.module;
        let (operands, results) = (module.ops[op].operands.to_vec(), module.ops[op].results.to_vec());
        let block = module.entry(op, 0).ok_or_else(|| internal("a reduction without a region"))?;
        let Some(&first) = operands.first().filter(|_| operands.len() == results.len()) else {
            return Err(refuse(Code::Verify, "a reduction has a result for every operand").into());
        };
        let shape = module.ty(first).shape();
        let axis = self.axis(op, shape.len())?;
        let (extent, stride) = (shape[axis], shape[axis + 1..].iter().product::<u64>());
        let reverse = scans && matches!(module.attr(op, "reverse"), Some(Attr::Bool(true)));
        let starts = self.park(&operands)?;
        let mut lines = Vec::new();
        for place in self.result_places(results[0])? {
            let mut at: Coords = place.clone();
            let own = match scans {
                true => {
                    let own = self.coordinate(std::mem::replace(&mut at[axis], Coord::ZERO))?;
                    Some(if reverse { self.ir.sub(self.ir.c32(extent - 1), own)? } else { own })
                }
                false => {
                    at.insert(axis, Coord::ZERO);
                    None
                }
            };
            lines.push(Line { first: self.row_major(shape, &at)?, own });
        }
        let source =
            Source { operands: &operands, starts: &starts, stride, last: reverse.then_some(extent - 1) };
        let values = self.along(block, &source, &lines, extent)?;
        self.meet_all()?;
        let family = self.family()?;
        for (n, &result) in results.iter().enumerate() {
            let own: Vec<Val<'c>> = values.iter().skip(n).step_by(operands.len()).copied().collect();
            match (module.ty(result).is_tensor(), own.first()) {
                (false, Some(&scalar)) => {
                    self.bound.insert(result, Bound::Scalar(scalar));
                }
                _ => {
                    let form = self.form(result, family)?;
                    self.hold(result, form, own)?;
                }
            }
        }
        Ok(())
    }

    /// Where the elements stand that a lane holds of a result; a scalar is one.
    fn result_places(&self, result: ValueId) -> Result<Vec<Coords>> {
        if !self.module.ty(result).is_tensor() {
            return Ok(vec![Coords::new()]);
        }
        let family = self.family()?;
        self.places(result, family, self.form(result, family)?)
    }

    /// Folds every line, operand by operand.
    fn along(
        &mut self,
        block: BlockId,
        source: &Source<'_>,
        lines: &[Line<'c>],
        extent: u64,
    ) -> Result<Vec<Val<'c>>> {
        let zero = self.ir.c32(0);
        let mut values = Vec::new();
        for line in lines {
            values.extend(self.line_element(source, line, zero)?);
        }
        let count = source.operands.len();
        self.repeat((1, extent), values, |this, at, values| {
            let mut next = Vec::new();
            for (line, so_far) in lines.iter().zip(values.chunks(count)) {
                let element = this.line_element(source, line, at)?;
                let both = this.combine(block, so_far, &element)?;
                match line.own {
                    None => next.extend(both),
                    Some(own) => {
                        let inside = this.ir.icmp(IntPredicate::ULE, at, own)?;
                        for (&new, &old) in both.iter().zip(so_far) {
                            next.push(this.ir.select(inside, new, old)?);
                        }
                    }
                }
            }
            Ok(next)
        })
    }

    /// Element number `at` of a line, of each tile.
    fn line_element(&mut self, source: &Source<'_>, line: &Line<'c>, at: IntValue<'c>) -> Result<Row<'c>> {
        let at = match source.last {
            Some(last) => self.ir.sub(self.ir.c32(last), at)?,
            None => at,
        };
        let number = self.ir.add(line.first, self.ir.scale(at, source.stride)?)?;
        let tiles = source.operands.iter().zip(source.starts);
        tiles.map(|(&value, &start)| self.parked(self.module.ty(value), start, number)).collect()
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
        let places = self.result_places(result)?;
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
        let form = self.form(result, self.family()?)?;
        self.hold(result, form, sums)
    }
}

/// Tiles in scratch memory that are folded together.
struct Source<'s> {
    operands: &'s [ValueId],
    /// Where each begins, in bytes.
    starts: &'s [u64],
    /// From one element of a line to the next.
    stride: u64,
    /// The last of a line, where it is gone along backwards.
    last: Option<u64>,
}
