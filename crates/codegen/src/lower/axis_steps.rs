//! Reductions and scans of tiles in any layout, by the steps of the algebra: registers, lanes, warps, each only for the
//! bits of the dimension (G15).

use inkwell::values::IntValue;
use warploom_ir::diag::Code;
use warploom_ir::{Attr, BlockId, OpId, Opcode, ValueId};
use warploom_layout::{AxisStep, Dim, Layout, Level, TileOp, check, reduction, scan};

use super::Lower;
use super::across::Row;
use super::bits::sum;
use super::linear::of_thread;
use super::map::unknown;
use super::value::{Bound, Form};
use crate::error::{Result, internal, refuse};

/// Elements that a checker follows through the steps, at most: each place keeps a list of what it has combined.
const FOLLOWED: u64 = 1 << 22;

/// What is folded.
struct Along<'c> {
    layout: Layout,
    axis: Dim,
    /// One row for each register: an element of every operand.
    rows: Vec<Row<'c>>,
    block: BlockId,
}

impl<'c> Lower<'c, '_> {
    /// Whether the layout of the partition has no rows or columns for the operand of a reduction or scan.
    pub(super) fn goes_alone(&self, op: OpId) -> Result<bool> {
        let family = self.family()?;
        for &operand in &self.module.ops[op].operands {
            let form = self.form_now(operand, family)?;
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
    /// `tt.reduce`: after the steps every place has the whole of its line.
    pub(super) fn reduce_by_steps(&mut self, op: OpId) -> Result<()> {
        let mut along = self.along(op)?;
        let steps = reduction(&along.layout, along.axis).map_err(|error| self.no_steps(op, &error))?;
        if along.is_followed()
            && let Err(wrong) = check::reduction(&along.layout, along.axis, &steps)
        {
            return Err(internal(format!("a reduction of {}: {wrong}", along.layout)));
        }
        // Registers that are equal from now on: the one with the fewest bits stands for them.
        let mut alike: Vec<u64> = Vec::new();
        for step in &steps {
            let own = |register: u64| lowest(&alike, register);
            let mut next = along.rows.clone();
            let others = self.partners(step, &along.rows, &own)?;
            for (register, other) in others {
                next[register] = self.combine(along.block, &along.rows[register], &other)?;
            }
            along.rows = next;
            if step.level == Level::Registers {
                alike.push(lowest(&alike, step.register));
            }
        }
        let all = 0..along.rows.len() as u64;
        let rows: Vec<Row<'c>> =
            all.map(|register| along.rows[lowest(&alike, register) as usize].clone()).collect();
        let shape = self.module.ty(self.operand(op, 0)?).shape().to_vec();
        let axis = self.axis(op, shape.len())?;
        let map = TileOp::Reduce { shape, axis }.map();
        let left = map.and_then(|map| along.layout.then(&map)).map_err(|error| self.no_steps(op, &error))?;
        self.bind_rows(op, &rows, &left)
    }

    /// `tt.scan`: every place keeps what comes up to it, and the whole of its block, which doubles with each step.
    pub(super) fn scan_by_steps(&mut self, op: OpId) -> Result<()> {
        let mut along = self.along(op)?;
        let backward = matches!(self.module.attr(op, "reverse"), Some(Attr::Bool(true)));
        let steps = scan(&along.layout, along.axis).map_err(|error| self.no_steps(op, &error))?;
        if along.is_followed()
            && let Err(wrong) = check::scan(&along.layout, along.axis, &steps, backward)
        {
            return Err(internal(format!("a scan of {}: {wrong}", along.layout)));
        }
        let mut prefixes = along.rows.clone();
        for step in &steps {
            let others = self.partners(step, &along.rows, &|register| register)?;
            let (mut next, mut totals) = (prefixes.clone(), along.rows.clone());
            for (register, other) in others {
                let own = &along.rows[register];
                let behind = along.is_set(self, register as u64, step.axis)?.turned(self, backward)?;
                let (first, second) = (behind.either(self, &other, own)?, behind.either(self, own, &other)?);
                totals[register] = self.combine(along.block, &first, &second)?;
                next[register] = match behind {
                    Known::Always(false) => continue,
                    _ => {
                        let own = &prefixes[register];
                        let both = self.combine_kept(along.block, &other, own, behind.here())?;
                        behind.either(self, &both, &prefixes[register])?
                    }
                };
            }
            (prefixes, along.rows) = (next, totals);
        }
        self.bind_rows(op, &prefixes, &along.layout)
    }

    /// The operands of a reduction or scan in one layout.
    fn along(&mut self, op: OpId) -> Result<Along<'c>> {
        let module = self.module;
        let operands = module.ops[op].operands.to_vec();
        let block = module.entry(op, 0).ok_or_else(|| internal("a reduction without a region"))?;
        let Some(&first) = operands.first().filter(|_| operands.len() == module.ops[op].results.len()) else {
            return Err(refuse(Code::Verify, "a reduction has a result for every operand").into());
        };
        let axis = self.axis(op, module.ty(first).shape().len())?;
        let family = self.family()?;
        let mut form = self.form_now(first, family)?;
        if module.ops[op].opcode == Opcode::Reduce {
            form = self.form_to_fold(op, first, form)?;
        }
        let layout = self.map_of(first, family, form)?;
        let mut rows = vec![Row::new(); layout.input_size(Dim::Register) as usize];
        for operand in operands {
            for (row, element) in rows.iter_mut().zip(self.held_elements(operand, form)?) {
                row.push(element);
            }
        }
        Ok(Along { layout, axis: Dim::Axis(axis as u8), rows, block })
    }

    fn no_steps(&self, op: OpId, error: &warploom_layout::LayoutError) -> crate::error::Refusal {
        let operand = self.module.ops[op].operands.first();
        unknown(operand.map_or(&warploom_ir::Type::I32, |&value| self.module.ty(value)), error)
    }

    /// For each register that stands for itself, what the place has that it meets in a step.
    fn partners(
        &mut self,
        step: &AxisStep,
        rows: &[Row<'c>],
        stands: &dyn Fn(u64) -> u64,
    ) -> Result<Vec<(usize, Row<'c>)>> {
        let own: Vec<u64> = (0..rows.len() as u64).filter(|&register| stands(register) == register).collect();
        let from = |register: u64| &rows[stands(register ^ step.register) as usize];
        match step.level {
            Level::Registers => {
                Ok(own.iter().map(|&register| (register as usize, from(register).clone())).collect())
            }
            Level::Lanes => {
                let mut met = Vec::new();
                for &register in &own {
                    let row = from(register).clone();
                    let row = row.into_iter().map(|value| self.exchange(value, step.lane));
                    met.push((register as usize, row.collect::<Result<Row<'c>>>()?));
                }
                Ok(met)
            }
            Level::Warps => {
                let sent: Vec<Row<'c>> = own.iter().map(|&register| from(register).clone()).collect();
                let met = self.met_in_memory(sent, step.lane | step.warp << 5)?;
                Ok(own.into_iter().map(|register| register as usize).zip(met).collect())
            }
            _ => Err(refuse(Code::Op, "a dimension over several CTAs").rule("G15").into()),
        }
    }

    /// Binds the results to rows in this layout.
    fn bind_rows(&mut self, op: OpId, rows: &[Row<'c>], layout: &Layout) -> Result<()> {
        let results: Vec<ValueId> = self.module.ops[op].results.to_vec();
        let family = self.family()?;
        for (n, &result) in results.iter().enumerate() {
            let ty = self.module.ty(result);
            let elements: Vec<_> = rows.iter().filter_map(|row| row.get(n).copied()).collect();
            if !ty.is_tensor() {
                let scalar = elements.first().copied().ok_or_else(|| internal("a fold of nothing"))?;
                self.bound.insert(result, Bound::Scalar(scalar));
                continue;
            }
            if self.hold_anyhow(result, &elements, layout)? {
                continue;
            }
            let form = self.form(result, family)?;
            let wanted = self.map_of(result, family, form)?;
            let found = self.brought(elements, (layout, &wanted), ty)?;
            self.hold(result, form, found)?;
        }
        Ok(())
    }
}

impl<'c> Along<'c> {
    /// Whether a checker can follow every element.
    fn is_followed(&self) -> bool {
        let places = Dim::DISTRIBUTED.iter().map(|&dim| self.layout.input_size(dim));
        places.fold(self.layout.output_size(self.axis), u64::saturating_mul) <= FOLLOWED
    }

    /// Whether a bit of the coordinate along the dimension is set where a register of this thread stands.
    fn is_set(&self, lower: &Lower<'c, '_>, register: u64, bit: u64) -> Result<Known<'c>> {
        let here = sum(self.layout.column(Dim::Register, self.axis), register) & bit != 0;
        let images = of_thread(&self.layout, self.axis);
        let mask = images.iter().enumerate().filter(|(_, image)| **image & bit != 0);
        let mask = mask.fold(0u64, |mask, (n, _)| mask | 1 << n);
        match mask {
            0 => Ok(Known::Always(here)),
            _ if mask.is_power_of_two() => {
                let clear = lower.has_none(mask)?;
                Known::Here(clear).turned(lower, !here)
            }
            _ => Err(internal("a bit of a place that several bits of the thread make")),
        }
    }
}

/// A condition that holds for all lanes or for some.
#[derive(Clone, Copy)]
enum Known<'c> {
    Always(bool),
    Here(IntValue<'c>),
}

impl<'c> Known<'c> {
    /// The condition, where it holds for some lanes alone.
    fn here(self) -> Option<IntValue<'c>> {
        match self {
            Known::Always(_) => None,
            Known::Here(holds) => Some(holds),
        }
    }

    /// The opposite, where asked for.
    fn turned(self, lower: &Lower<'c, '_>, opposite: bool) -> Result<Known<'c>> {
        Ok(match self {
            Known::Always(holds) => Known::Always(holds != opposite),
            Known::Here(holds) if opposite => {
                Known::Here(lower.ir.xor(holds, lower.ir.int(1).const_all_ones())?)
            }
            here => here,
        })
    }

    /// The first row where the condition holds, else the second.
    fn either(self, lower: &Lower<'c, '_>, first: &Row<'c>, second: &Row<'c>) -> Result<Row<'c>> {
        match self {
            Known::Always(holds) => Ok(if holds { first.clone() } else { second.clone() }),
            Known::Here(holds) => {
                first.iter().zip(second).map(|(&a, &b)| lower.ir.select(holds, a, b)).collect()
            }
        }
    }
}

/// The lowest number that differs from a register's by sums (xor) of these, each of which has a top bit of its own.
fn lowest(alike: &[u64], register: u64) -> u64 {
    alike.iter().fold(register, |number, &mask| number.min(number ^ mask))
}
