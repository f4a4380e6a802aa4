//! `tt.scan`: each lane adds up what it holds side by side, the lanes of a row their totals, and each block of
//! columns starts from what the blocks before it came to (C65).

use std::collections::BTreeMap;

use inkwell::IntPredicate;
use inkwell::values::IntValue;
use warploom_ir::diag::Code;
use warploom_ir::{Attr, BlockId, OpId, ValueId};

use super::Lower;
use super::across::Row;
use super::value::{Bound, Coords, Form, Fragment};
use crate::error::{Result, internal, refuse};
use crate::family::{Axis, Family};
use crate::llvm::Val;

/// Lanes that hold the elements of one row one behind the other.
struct Line<'c> {
    /// How many.
    count: u64,
    /// From the number of one to that of the next.
    stride: u64,
    /// The place of this lane, the other way round where the scan runs backwards.
    place: IntValue<'c>,
    /// Whether the scan runs from the last to the first.
    reverse: bool,
}

impl<'c> Lower<'c, '_> {
    /// `tt.scan` of matrices or vectors.
    pub(super) fn scan(&mut self, op: OpId) -> Result<()> {
        let module = self.module;
        let (operands, results) = (&module.ops[op].operands, &module.ops[op].results);
        let block = module.entry(op, 0).ok_or_else(|| internal("tt.scan without a region"))?;
        let Some(&first) = operands.first().filter(|_| operands.len() == results.len()) else {
            return Err(refuse(Code::Verify, "tt.scan has a result for every operand").into());
        };
        if self.goes_alone(op)? {
            return self.scan_by_steps(op);
        }
        let family = self.family()?;
        let rank = module.ty(first).shape().len();
        let axis = usize::try_from(self.count(op, "axis")?).unwrap_or(usize::MAX);
        let (along, kept, extents) = match (rank, axis, self.form(first, family)?) {
            (1, 0, Form::Slice { axis, extent }) => (axis, None, (1, extent)),
            (2, 0, Form::Tile { cols, .. }) => (Axis::Row, Some(Axis::Col), (cols, self.matrix(first)?.0)),
            (2, 1, Form::Tile { cols, .. }) => (Axis::Col, Some(Axis::Row), (self.matrix(first)?.0, cols)),
            _ => {
                let text = format!("tt.scan along axis {axis} of {}", module.ty(first));
                return Err(refuse(Code::Op, text)
                    .rule("C65")
                    .note("instead", "matrices and vectors")
                    .into());
            }
        };
        let reverse = matches!(module.attr(op, "reverse"), Some(Attr::Bool(true)));
        let Some((line, run)) = self.line_of(family, along, reverse)? else {
            return self.scan_by_steps(op);
        };
        let kept: Vec<Option<u64>> = match kept {
            None => vec![None],
            Some(axis) => family.held(axis, extents.0)?.into_iter().map(Some).collect(),
        };
        let inside = family.held(along, extents.1)?;
        let mut found: BTreeMap<(Option<u64>, u64), Row<'c>> = BTreeMap::new();
        for &kept in &kept {
            let mut carry: Option<Row<'c>> = None;
            let mut groups: Vec<Vec<u64>> = inside.chunks(run).map(<[u64]>::to_vec).collect();
            if reverse {
                groups.reverse();
                groups.iter_mut().for_each(|group| group.reverse());
            }
            for group in groups {
                let mut sums: Vec<Row<'c>> = Vec::new();
                for &offset in &group {
                    let at = self.scanned_at(first, family, along, kept, offset);
                    let next =
                        operands.iter().map(|&v| self.at(v, at.clone())).collect::<Result<Row<'c>>>()?;
                    sums.push(match sums.last().cloned() {
                        Some(before) => self.combine(block, &before, &next)?,
                        None => next,
                    });
                }
                let total = sums.last().cloned().ok_or_else(|| internal("a scan of nothing"))?;
                let sums = self.continued(block, &line, sums, &total, &mut carry)?;
                for (&offset, sum) in group.iter().zip(sums) {
                    found.insert((kept, offset), sum);
                }
            }
        }
        for (n, &result) in results.iter().enumerate() {
            self.bind_scan(result, n, family, along, &found)?;
        }
        Ok(())
    }

    /// The sums of a lane behind those of the lanes and blocks before; the carry grows by the block.
    fn continued(
        &mut self,
        block: BlockId,
        line: &Line<'c>,
        sums: Vec<Row<'c>>,
        total: &Row<'c>,
        carry: &mut Option<Row<'c>>,
    ) -> Result<Vec<Row<'c>>> {
        let mut all = total.clone();
        let mut step = 1;
        while step < line.count {
            let before = self.lane_before(line, &all, step)?;
            let inside = self.has_before(line, step)?;
            let both = self.combine_kept(block, &before, &all, Some(inside))?;
            all = self.either(inside, &both, &all)?;
            step *= 2;
        }
        let own = match line.count {
            1 => None,
            _ => Some(self.lane_before(line, &all, 1)?),
        };
        let mut out = Vec::new();
        for sum in sums {
            out.push(match (&own, &*carry) {
                (None, None) => sum,
                (None, Some(carry)) => self.combine(block, carry, &sum)?,
                (Some(own), None) => {
                    let inside = self.has_before(line, 1)?;
                    let behind = self.combine_kept(block, own, &sum, Some(inside))?;
                    self.either(inside, &behind, &sum)?
                }
                (Some(own), Some(carry)) => {
                    let inside = self.has_before(line, 1)?;
                    let own = self.combine_kept(block, carry, own, Some(inside))?;
                    let start = self.either(inside, &own, carry)?;
                    self.combine(block, &start, &sum)?
                }
            });
        }
        let whole = self.of_last(line, &all)?;
        *carry = Some(match carry.take() {
            Some(before) => self.combine(block, &before, &whole)?,
            None => whole,
        });
        Ok(out)
    }

    /// Whether this lane has at least so many before it.
    fn has_before(&mut self, line: &Line<'c>, least: u64) -> Result<IntValue<'c>> {
        self.ir.icmp(IntPredicate::UGE, line.place, self.ir.c32(least))
    }

    /// The first where a condition holds, else the second.
    fn either(&mut self, inside: IntValue<'c>, a: &Row<'c>, b: &Row<'c>) -> Result<Row<'c>> {
        a.iter().zip(b).map(|(&a, &b)| self.ir.select(inside, a, b)).collect()
    }

    /// What the lane so many before this one holds; anything where there is none.
    fn lane_before(&mut self, line: &Line<'c>, row: &Row<'c>, step: u64) -> Result<Row<'c>> {
        let lane = self.ir.and(self.thread, 31)?;
        let away = self.ir.c32(step * line.stride);
        let other = if line.reverse { self.ir.add(lane, away)? } else { self.ir.sub(lane, away)? };
        let other = self.ir.and(other, 31)?;
        row.iter().map(|&value| self.fetched(value, other)).collect()
    }

    /// What the last lane of the line holds.
    fn of_last(&mut self, line: &Line<'c>, row: &Row<'c>) -> Result<Row<'c>> {
        if line.count == 1 {
            return Ok(row.clone());
        }
        let bits = (line.count - 1) * line.stride;
        let lane = self.ir.and(self.thread, 31 & !bits)?;
        let last = if line.reverse { lane } else { self.ir.or(lane, self.ir.c32(bits))? };
        row.iter().map(|&value| self.fetched(value, last)).collect()
    }

    /// The lanes along a dimension, and how many neighbours each holds; `None` where several warps share it.
    fn line_of(&mut self, family: Family, along: Axis, reverse: bool) -> Result<Option<(Line<'c>, usize)>> {
        let peers = family.peers(along);
        let bits: u64 = peers.lanes.iter().sum();
        let run = match (family, along) {
            (Family::Blocked(blocked), Axis::Col) => u64::from(blocked.vector),
            (Family::Blocked(_), Axis::Row) => 1,
            (Family::Rows(_), Axis::Col) => u64::MAX,
            _ => 0,
        };
        if run == 0 || peers.warps.is_some() {
            return Ok(None);
        }
        let stride = if bits == 0 { 1 } else { 1 << bits.trailing_zeros() };
        let place = self.ir.shr(self.ir.and(self.thread, bits)?, u64::from(bits.trailing_zeros().min(5)))?;
        let count = 1u64 << peers.lanes.len();
        let place = if reverse { self.ir.sub(self.ir.c32(count - 1), place)? } else { place };
        Ok(Some((Line { count, stride, place, reverse }, usize::try_from(run).unwrap_or(usize::MAX))))
    }

    /// Where an element stands that is `offset` along the scan and `kept` across it.
    fn scanned_at(
        &self,
        value: ValueId,
        family: Family,
        along: Axis,
        kept: Option<u64>,
        offset: u64,
    ) -> Coords {
        match kept {
            None => self.slice_at(value, family, along, offset),
            Some(kept) => {
                let (row, col) = if along == Axis::Col { (kept, offset) } else { (offset, kept) };
                let family = family.sized(self.module.ty(value).shape().last().copied().unwrap_or(1));
                [family.coord(Axis::Row, row), family.coord(Axis::Col, col)].into_iter().collect()
            }
        }
    }

    /// Binds a result to what was found, in the registers of its form.
    fn bind_scan(
        &mut self,
        result: ValueId,
        which: usize,
        family: Family,
        along: Axis,
        found: &BTreeMap<(Option<u64>, u64), Row<'c>>,
    ) -> Result<()> {
        let missing = || internal("an element that was not scanned");
        let form = self.form(result, family)?;
        let mut registers: Vec<Val<'c>> = Vec::new();
        match form {
            Form::Slice { axis, extent } => {
                for offset in family.held(axis, extent)? {
                    registers.push(found.get(&(None, offset)).map(|row| row[which]).ok_or_else(missing)?);
                }
            }
            Form::Tile { cols, packed } => {
                let (rows, _) = self.matrix(result)?;
                for i in 0..family.count(rows, cols)? {
                    let (row, col) = family.place(cols, i);
                    let at = if along == Axis::Col { (Some(row), col) } else { (Some(col), row) };
                    let value = found.get(&at).map(|row| row[which]).ok_or_else(missing)?;
                    match (packed, i % 2, registers.pop()) {
                        (true, 1, Some(low)) => {
                            let pair = self.ir.pair(low, value)?;
                            registers.push(self.ir.bits(pair, self.ir.i32().into())?);
                        }
                        (_, _, before) => {
                            registers.extend(before);
                            registers.push(value);
                        }
                    }
                }
            }
            Form::Whole | Form::Flat | Form::Linear(_) => return Err(internal("a scan of another form")),
        }
        self.bound.insert(result, Bound::Fragment(Fragment::finished(family, form, registers.into())));
        Ok(())
    }
}
