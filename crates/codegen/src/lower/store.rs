//! Tiles that leave the registers for a slot, in the layout of its box (C33, C64).

use std::collections::VecDeque;

use warploom_ir::diag::Code;
use warploom_ir::{OpId, ValueId};

use super::Lower;
use super::store_turned::{To, Way};
use super::transfer::stmatrix;
use super::value::{Bound, Coords, Form, View, element_bits};
use crate::error::{Result, internal, refuse};
use crate::family::{Axis, Family, Wgmma};
use crate::llvm::Val;
use crate::program::HALF_ROWS;

/// How many stores of 16 columns are computed before the first leaves.
pub(super) const STORES_BEHIND: usize = 2;

impl<'c> Lower<'c, '_> {
    /// `warploom.tile_store`; what tensor memory brought for it does not fill the registers of what comes behind.
    pub(super) fn tile_store(&mut self, op: OpId) -> Result<()> {
        self.store_tile(op)?;
        self.forget_tensor_elements();
        Ok(())
    }

    /// By `stmatrix` for 16-bit elements, by vectors of two columns for others.
    fn store_tile(&mut self, op: OpId) -> Result<()> {
        let (value, slot) = (self.operand(op, 0)?, self.int(self.operand(op, 1)?)?);
        let ring = self.program.ring(self.module, op)?;
        let payload = usize::try_from(self.count(op, "payload")?).unwrap_or(usize::MAX);
        let Some(target) = self.program.rings[ring].payloads.get(payload) else {
            return Err(refuse(Code::Verify, format!("the pipeline has no payload {payload}"))
                .rule("C35")
                .into());
        };
        let ty = self.module.ty(value);
        let layout = target.layout;
        let (cols, rows) = match ty.shape() {
            [outer @ .., cols] => (*cols, outer.iter().product()),
            [] => (0, 0),
        };
        if (layout.rows, layout.cols) != (rows, cols) || ty.elem() != target.tile.elem() {
            let text = format!("{ty} stored into a slot of {}", target.tile);
            return Err(refuse(Code::Verify, text).rule("C35").into());
        }
        let bits = element_bits(ty).filter(|bits| matches!(bits, 8 | 16 | 32));
        let bits =
            bits.ok_or_else(|| refuse(Code::Type, format!("storing {ty} is not supported")).rule("C33"))?;
        let view = View { ring, payload, slot, transposed: false, written: None };
        let tensor = target.columns;
        let family = self.family()?;
        if tensor.is_none() && ty.shape().len() == 2 && self.is_made_anywhere(value) {
            let way = self.way_to_make(value, family.run());
            if let Some(Way { to, kept }) = way.filter(|way| way.fits(rows)) {
                let scope = self.enter();
                match to {
                    To::Down(width) => self.store_turned(value, &view, width, bits)?,
                    To::Along(width) => self.store_plain(value, &view, bits, width)?,
                }
                if !kept {
                    self.leave(scope);
                }
                return Ok(());
            }
        }
        if tensor.is_none() && bits == 8 && ty.shape().len() == 2 && self.is_moved(value) {
            let scope = self.enter();
            self.store_plain(value, &view, bits, 1)?;
            self.leave(scope);
            return Ok(());
        }
        let uncovered = family.count(rows, cols).is_err();
        if tensor.is_none() && uncovered && !matches!(self.form(value, family)?, Form::Slice { .. }) {
            let scope = self.enter();
            match self.is_made_anywhere(value) {
                true => self.store_plain(value, &view, bits, 1)?,
                false => self.store_brought(value, &view, bits)?,
            }
            self.leave(scope);
            return Ok(());
        }
        if let (Some(Bound::Lazy(_)), Ok(form @ Form::Tile { .. })) =
            (self.bound.get(&value), self.form(value, family))
        {
            self.reach(value, &self.places(value, family, form)?)?;
        }
        match (family, tensor) {
            (_, None) if matches!(self.form(value, family)?, Form::Slice { .. }) => {
                return self.store_lanes(value, &view, family, bits);
            }
            (Family::Rows(family), Some(columns)) if columns.rows != HALF_ROWS => {
                return self.store_tensor(value, &view, family, columns, bits);
            }
            (Family::Wgmma(half), Some(columns))
                if columns.rows == half.block_rows()
                    && rows == 64 * half.groups()
                    && half.groups() <= 2
                    && half.columns <= 1
                    && bits > 8 =>
            {
                return self.store_half(value, &view, half, columns, bits);
            }
            (Family::Rows(family), None) => {
                return self.store_rows(value, &view, family, (rows, cols), bits);
            }
            (_, Some(_)) => {
                let text = "warploom.tile_store into tensor memory by lanes that do not hold its rows";
                let fix = "a partition of layout rows, of layout wgmma_pairs, or of layout wgmma and one warpgroup for 64 rows";
                return Err(refuse(Code::Layout, text).rule("C66").note("instead", fix).into());
            }
            (Family::MmaSync(_) | Family::Blocked(_), None) => {
                return self.store_lanes(value, &view, family, bits);
            }
            _ => {}
        }
        let family = self.wgmma()?;
        match family.columns {
            _ if bits == 16 && layout.panel >= 32 && family.part_of(cols).is_multiple_of(16) => {
                self.store_matrices(value, &view, family)
            }
            0 | 1 => self.store_pairs(value, &view, family, bits),
            _ => self.store_lanes(value, &view, Family::Wgmma(family), bits),
        }
    }

    /// 16 columns at a time, panels innermost so that addresses differ by constants.
    fn store_matrices(&mut self, value: ValueId, view: &View<'c>, family: Wgmma) -> Result<()> {
        let (rows, cols) = self.matrix(value)?;
        let (blocks, cols) = (family.blocks(rows)?, family.part_of(cols));
        let layout = self.program.rings[view.ring].payloads[view.payload].layout;
        let panel = layout.panel.min(2 * cols);
        let per_panel = panel / 32;
        // A read from shared memory cannot move before a store: each store waits for the reads of later ones.
        let mut waiting = VecDeque::new();
        for block in 0..blocks {
            for inside in 0..per_panel {
                for panel in 0..cols * 2 / panel {
                    let chunk = panel * per_panel + inside;
                    let address = self.matrix_address(view, family, block, chunk)?;
                    let mut args: Vec<Val<'c>> = vec![address.into()];
                    for part in 0..4 {
                        let i = block * cols / 2 + 8 * chunk + 2 * part;
                        let at = self.place_at(value, Family::Wgmma(family), i)?;
                        args.push(self.pair_at(value, &at)?);
                    }
                    waiting.push_back(args);
                    if waiting.len() > STORES_BEHIND {
                        self.store_matrix(waiting.pop_front())?;
                    }
                }
            }
        }
        waiting.into_iter().try_for_each(|args| self.store_matrix(Some(args)))
    }

    /// One `stmatrix` of four registers behind an address.
    pub(super) fn store_matrix(&mut self, args: Option<Vec<Val<'c>>>) -> Result<()> {
        let args = args.ok_or_else(|| internal("a store without values"))?;
        self.ir.overloaded_effect(stmatrix(4, false)?, &args)
    }

    /// Two columns of one row at a time.
    fn store_pairs(&mut self, value: ValueId, view: &View<'c>, family: Wgmma, bits: u32) -> Result<()> {
        let (rows, cols) = self.matrix(value)?;
        let blocks = family.blocks(rows)?;
        let layout = self.program.rings[view.ring].payloads[view.payload].layout;
        let group = 8 * layout.elem;
        let per_panel = layout.panel / group;
        let slot = self.slot_at(view.ring, view.payload, view.slot)?;
        for block in 0..blocks {
            for inside in 0..per_panel {
                let line = self.pair_line(view, Family::Wgmma(family), inside * group)?;
                let at = self.ir.offset(slot, self.ir.int(8).into(), line)?;
                for panel in 0..cols * layout.elem / layout.panel {
                    for half in 0..2 {
                        let rows = block * 64 * family.groups() + 8 * half;
                        let at = self.ir.plus(at, panel * layout.panel_bytes() + rows * layout.panel)?;
                        let i = block * cols / 2 + 4 * (panel * per_panel + inside) + 2 * half;
                        let coords = self.place_at(value, Family::Wgmma(family), i)?;
                        let pair = self.stored_pair(value, &coords, bits)?;
                        self.ir.store(pair, at, bits / 4)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Byte of this lane's two columns in the group that starts at byte `inside` of a panel row, in the
    /// lane's first row. Rows 8 further have the same swizzle.
    fn pair_line(
        &mut self,
        view: &View<'c>,
        family: Family,
        inside: u64,
    ) -> Result<inkwell::values::IntValue<'c>> {
        let layout = self.program.rings[view.ring].payloads[view.payload].layout;
        let (row, col) = (family.first(self, Axis::Row)?, family.first(self, Axis::Col)?);
        let line = self.ir.add(self.ir.scale(row, layout.panel)?, self.ir.scale(col, layout.elem)?)?;
        let line = self.swizzled(line, inside & !15, view)?;
        self.ir.add(line, self.ir.c32(inside & 15))
    }

    /// Two columns as one value of twice the width.
    pub(super) fn stored_pair(&mut self, value: ValueId, even: &Coords, bits: u32) -> Result<Val<'c>> {
        let mut odd = even.clone();
        if let Some(col) = odd.last_mut() {
            col.offset += 1;
        }
        match bits {
            16 => self.pair_at(value, even),
            8 => {
                if let Some(pair) = self.converted_bytes(value, even, &odd)? {
                    return Ok(pair);
                }
                let (low, high) = (self.at(value, even.clone())?, self.at(value, odd)?);
                let (low, high) = (self.as_bits(low, 8)?, self.as_bits(high, 8)?);
                let high = self.ir.shl(high, 8)?;
                Ok(self.ir.or(low, high)?.into())
            }
            _ => {
                let (low, high) = (self.at(value, even.clone())?, self.at(value, odd)?);
                self.ir.pair(low, high)
            }
        }
    }
}
