//! `tt.reduce`: each lane folds what it holds, then lanes that share a row (or a column) exchange (C65).

use std::rc::Rc;

use inkwell::types::BasicTypeEnum;
use inkwell::values::{InstructionOpcode as Llvm, IntValue};
use warploom_ir::diag::Code;
use warploom_ir::{BlockId, OpId, Opcode, ValueId};

use super::Lower;
use super::across::Row;
use super::value::{Bound, Coord, Coords, Form, Fragment};
use crate::error::{Result, internal, locate, refuse};
use crate::family::{Axis, Family};
use crate::llvm::{Val, as_int};

/// Partial results of a fold: so many times fewer dependent steps. Few where lanes hold parts of several rows;
/// many where one row is all that a lane has.
const CHAINS: [usize; 2] = [2, 8];

impl<'c> Lower<'c, '_> {
    /// `tt.reduce` of one or several matrices along rows or columns, into vectors.
    pub(super) fn reduce(&mut self, op: OpId) -> Result<()> {
        let module = self.module;
        let operands = module.ops[op].operands.as_slice();
        let results = module.ops[op].results.as_slice();
        let block = module.entry(op, 0).ok_or_else(|| internal("tt.reduce without a region"))?;
        let Some(&first) = operands.first().filter(|_| operands.len() == results.len()) else {
            return Err(refuse(Code::Verify, "tt.reduce has a result for every operand").into());
        };
        if self.goes_alone(op)? {
            return self.reduce_by_steps(op);
        }
        let family = self.family()?;
        if module.ty(first).shape().len() == 1 {
            return self.reduce_vector(op, block, family);
        }
        let along = self.reduced(op, first)?;
        let (rows, cols) = self.matrix(first)?;
        family.count(rows, cols)?;
        let (kept, extent, inner) = match along {
            Axis::Col => (Axis::Row, rows, cols),
            Axis::Row => (Axis::Col, cols, rows),
        };
        let peers = family.peers(along);
        let inside = family.held(along, inner)?;
        let sized = family.sized(cols);
        let mut partial: Vec<Row<'c>> = Vec::new();
        for offset in family.held(kept, extent)? {
            let place = (sized, along, offset);
            let folded = self.fold(block, operands, place, &inside)?;
            partial.push(match peers.warps {
                Some(_) => folded,
                None => self.fold_lanes(block, folded, &peers.lanes)?,
            });
        }
        let folded = match peers.warps {
            Some(group) => self.fold_shared(block, partial, (&peers.lanes, group))?,
            None => partial,
        };
        let mut registers: Vec<Vec<Val<'c>>> = vec![Vec::new(); operands.len()];
        for row in folded {
            registers.iter_mut().zip(row).for_each(|(all, one)| all.push(one));
        }
        let last = registers.last().and_then(|all| all.last());
        self.latest = last.map(|&value| (self.products, value)).or(self.latest);
        for (&result, registers) in results.iter().zip(registers) {
            if module.ty(result).shape() != [extent] {
                let text = format!("tt.reduce of {} into {}", module.ty(first), module.ty(result));
                return Err(refuse(Code::Verify, text).into());
            }
            let form = Form::Slice { axis: kept, extent };
            let fragment = Fragment::finished(family, form, Rc::from(registers));
            self.bound.insert(result, Bound::Fragment(fragment));
            // Used beside vectors that run along the other dimension.
            if self.form(result, family)? != form {
                let turned = self.converted(result, result)?;
                self.bound.insert(result, Bound::Fragment(turned));
            }
        }
        Ok(())
    }

    /// `tt.reduce` of vectors into scalars.
    fn reduce_vector(&mut self, op: OpId, block: BlockId, family: Family) -> Result<()> {
        let module = self.module;
        let operands = module.ops[op].operands.as_slice();
        let first = self.operand(op, 0)?;
        let along = self.axis_of(first, family);
        let peers = family.peers(along);
        let extent = module.ty(first).shape().first().copied().unwrap_or(1);
        let places: Vec<Coords> = family
            .held(along, extent)?
            .into_iter()
            .map(|offset| self.slice_at(first, family, along, offset))
            .collect();
        let partial = self.fold_places(block, operands, &places)?;
        let folded = match peers.warps {
            Some(group) => self.fold_shared(block, vec![partial], (&peers.lanes, group))?.pop(),
            None => Some(self.fold_lanes(block, partial, &peers.lanes)?),
        };
        for (&result, value) in module.ops[op].results.iter().zip(folded.into_iter().flatten()) {
            if module.ty(result).is_tensor() {
                let text = format!("tt.reduce of {} into {}", module.ty(first), module.ty(result));
                return Err(refuse(Code::Verify, text).into());
            }
            self.bound.insert(result, Bound::Scalar(value));
        }
        Ok(())
    }

    /// The dimension that is reduced.
    fn reduced(&self, op: OpId, operand: ValueId) -> Result<Axis> {
        let rank = self.module.ty(operand).shape().len();
        let axis = usize::try_from(self.count(op, "axis")?).unwrap_or(usize::MAX);
        match axis {
            _ if rank == 2 && axis == 1 => Ok(Axis::Col),
            _ if rank == 2 && axis == 0 => Ok(Axis::Row),
            _ => {
                let text = format!("tt.reduce along axis {axis} of {}", self.module.ty(operand));
                let fix = "a reduction of matrices";
                Err(refuse(Code::Op, text).rule("C65").note("instead", fix).into())
            }
        }
    }

    /// Folds the elements that this lane holds of one row or column.
    fn fold(
        &mut self,
        block: BlockId,
        operands: &[ValueId],
        (family, along, kept): (Family, Axis, u64),
        inside: &[u64],
    ) -> Result<Row<'c>> {
        let place = |&offset: &u64| {
            let (row, col) = if along == Axis::Col { (kept, offset) } else { (offset, kept) };
            [family.coord(Axis::Row, row), family.coord(Axis::Col, col)].into_iter().collect()
        };
        let places: Vec<Coords> = inside.iter().map(place).collect();
        self.fold_places(block, operands, &places)
    }

    /// Folds the elements at some places.
    fn fold_places(&mut self, block: BlockId, operands: &[ValueId], places: &[Coords]) -> Result<Row<'c>> {
        let [few, many] = CHAINS;
        let alone = matches!(self.place.family, Family::Rows(_)) && places.len() >= 4 * many;
        let count = if alone { many } else { few };
        if alone
            && let &[operand] = operands
            && let Some([even, odd]) = self.sum_of_pairs(block, operand, places, many / 2)?
        {
            return self.combine(block, &[even], &[odd]);
        }
        let mut chains: Vec<Row<'c>> = Vec::new();
        for (n, at) in places.iter().enumerate() {
            let next = self.elements(operands, at)?;
            match chains.get(n % count).cloned() {
                Some(chain) => chains[n % count] = self.combine(block, &chain, &next)?,
                None => chains.push(next),
            }
        }
        let mut rest = chains.into_iter();
        let mut folded = rest.next().ok_or_else(|| internal("a reduction of nothing"))?;
        for chain in rest {
            folded = self.combine(block, &folded, &chain)?;
        }
        Ok(folded)
    }

    /// The elements of all operands at a place.
    fn elements(&mut self, operands: &[ValueId], at: &[Coord]) -> Result<Row<'c>> {
        operands.iter().map(|&v| self.at(v, at.iter().copied().collect())).collect()
    }

    /// Runs the region on two rows of elements.
    pub(super) fn combine(&mut self, block: BlockId, a: &[Val<'c>], b: &[Val<'c>]) -> Result<Row<'c>> {
        self.combine_kept(block, a, b, None)
    }

    /// The same, where lanes for which `kept` is false hold anything and drop what they make: nothing is asserted there.
    pub(super) fn combine_kept(
        &mut self,
        block: BlockId,
        a: &[Val<'c>],
        b: &[Val<'c>],
        kept: Option<IntValue<'c>>,
    ) -> Result<Row<'c>> {
        let module = self.module;
        let args = &module.blocks[block].args;
        if args.len() != a.len() + b.len() {
            return Err(refuse(Code::Verify, "a region takes two of each operand").into());
        }
        for (&arg, &value) in args.iter().zip(a.iter().chain(b)) {
            self.bound.insert(arg, Bound::Scalar(value));
        }
        for &op in &module.blocks[block].ops {
            let operands = &module.ops[op].operands;
            let values = operands.iter().map(|&v| self.scalar(v)).collect::<Result<Row<'c>>>();
            let values = values.map_err(|refusal| locate(module, op, refusal))?;
            if matches!(module.ops[op].opcode, Opcode::ReduceReturn | Opcode::ScanReturn) {
                return Ok(values);
            }
            if module.ops[op].opcode == Opcode::Assert {
                self.assert_kept(op, kept).map_err(|refusal| locate(module, op, refusal))?;
                continue;
            }
            let value = self.element(op, &values).map_err(|refusal| locate(module, op, refusal))?;
            self.bound.insert(self.only_result(op)?, Bound::Scalar(value));
        }
        Err(refuse(Code::Verify, "a region ends with what it returns").into())
    }

    /// The value of the lane whose number differs in these bits.
    pub(super) fn exchange(&mut self, value: Val<'c>, lanes: u64) -> Result<Val<'c>> {
        let ty = value.get_type();
        let (all, lanes, clamp) = (self.ir.c32(u64::from(u32::MAX)), self.ir.c32(lanes), self.ir.c32(31));
        let one = |this: &mut Self, word: Val<'c>| {
            let args = [all.into(), word, lanes.into(), clamp.into()];
            let name =
                if word.is_float_value() { "nvvm.shfl.sync.bfly.f32" } else { "nvvm.shfl.sync.bfly.i32" };
            this.ir.intrinsic(name, &args)
        };
        let i32 = self.ir.i32();
        let bits = match ty {
            BasicTypeEnum::FloatType(float) if float == self.ir.f32() => return one(self, value),
            BasicTypeEnum::FloatType(float) => float.get_bit_width(),
            BasicTypeEnum::IntType(int) => int.get_bit_width(),
            _ => return Err(refuse(Code::Type, "an exchange of pointers between lanes").rule("C65").into()),
        };
        let int = self.ir.bits(value, self.ir.int(bits).into())?;
        if bits == 64 {
            let high = self.ir.cast(Llvm::Trunc, self.ir.shr(as_int(int)?, 32)?.into(), i32.into())?;
            let low = self.ir.cast(Llvm::Trunc, int, i32.into())?;
            let (low, high) = (one(self, low)?, one(self, high)?);
            let (low, high) = (self.ir.zext(as_int(low)?, self.ir.int(64))?, as_int(high)?);
            let high = self.ir.shl(self.ir.zext(high, self.ir.int(64))?, 32)?;
            return self.ir.bits(self.ir.or(low, high)?.into(), ty);
        }
        let word = one(self, self.ir.zext(as_int(int)?, i32)?.into())?;
        let narrow =
            if bits == 32 { word } else { self.ir.cast(Llvm::Trunc, word, self.ir.int(bits).into())? };
        self.ir.bits(narrow, ty)
    }
}
