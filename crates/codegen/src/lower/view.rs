//! Tiles in shared memory, read where their elements are used: `ldmatrix` in the layouts of accumulators, up to 16
//! bytes of a row elsewhere (C60, C64).

use inkwell::types::BasicTypeEnum;
use inkwell::values::PointerValue;
use warploom_ir::ValueId;

use super::Lower;
use super::transfer::ldmatrix;
use super::value::{Base, Coord, Coords, View};
use crate::error::{Result, internal};
use crate::family::{Axis, Family, MmaSync, Wgmma};
use crate::llvm::Val;

impl<'c> Lower<'c, '_> {
    /// Two elements of a view of 16-bit elements in the accumulator layout; `None` where `ldmatrix` does not
    /// reach. Four pairs come at once and are kept.
    pub(super) fn view_pair(
        &mut self,
        value: ValueId,
        view: &View<'c>,
        even: &Coords,
    ) -> Result<Option<Val<'c>>> {
        let payload = &self.program.rings[view.ring].payloads[view.payload];
        let (layout, columns) = (payload.layout, payload.columns);
        let family = self.place.family;
        let width = self.module.ty(value).shape().last().copied().unwrap_or(1);
        let own = |coord: &Coord, axis| coord.base == family.sized(width).base(axis);
        let own = matches!(even.as_slice(), [.., row, col] if own(row, Axis::Row) && own(col, Axis::Col));
        if columns.is_some()
            || !self.is_flat(value)
            || layout.elem != 2
            || layout.panel < 32 && !view.transposed && matches!(family, Family::Wgmma(_))
            || !own
            || self.place.elected
        {
            return Ok(None);
        }
        let key = (value, even.clone());
        if let Some(pair) = self.pairs.get(&key) {
            return Ok(Some(*pair));
        }
        let (rows, cols) = self.matrix(value)?;
        // The matrices of all warps lie in the tile: one of fewer rows ends before them.
        let below = match family {
            Family::MmaSync(sync) => sync.row_step(),
            Family::Wgmma(accumulators) => 64 * accumulators.groups(),
            _ => return Ok(None),
        };
        if !rows.is_multiple_of(below) {
            return Ok(None);
        }
        let i = self.index_of(family, cols, even)?;
        let from = match family {
            Family::MmaSync(family) if !(cols / family.col_step()).is_multiple_of(2) => return Ok(None),
            Family::MmaSync(sync) if !view.transposed => {
                self.matrices_at(view, sync, family.place(cols, i / 8 * 8))?
            }
            Family::Wgmma(accumulators) => {
                let part = accumulators.part_of(cols);
                if !part.is_multiple_of(16) && (part < cols || view.transposed) {
                    return Ok(None);
                }
                match view.transposed {
                    true => self.turned_matrices(view, family.sized(cols), family.place(cols, i / 8 * 8))?,
                    false => self.matrix_address(view, accumulators, i / (part / 2), i % (part / 2) / 8)?,
                }
            }
            _ => self.turned_matrices(view, family, family.place(cols, i / 8 * 8))?,
        };
        let four = self.ir.overloaded(ldmatrix(4, view.transposed)?, &[from.into()])?;
        for part in 0..4u32 {
            let register = self.ir.member(four, part)?;
            let key = (value, self.place_at(value, family, i / 8 * 8 + 2 * u64::from(part))?);
            self.pairs_log.push(key.clone());
            self.pairs.insert(key, register);
        }
        Ok(self.pairs.get(&key).copied())
    }

    /// One element of a view.
    pub(super) fn view_element(&mut self, value: ValueId, view: &View<'c>, at: &Coords) -> Result<Val<'c>> {
        if self.program.rings[view.ring].payloads[view.payload].columns.is_some() {
            return self.tensor_element(value, view, at);
        }
        let mut even = at.clone();
        if let Some(col) = even.last_mut() {
            col.offset &= !1;
        }
        let odd = u64::from(at.last().is_some_and(|col| col.offset % 2 == 1));
        if let Some(pair) = self.view_pair(value, view, &even)? {
            return self.half(value, pair, odd);
        }
        if let Some(element) = self.view_run(value, view, at)? {
            return Ok(element);
        }
        let elem = self.program.rings[view.ring].payloads[view.payload].layout.elem;
        let address = self.element_address(value, view, at)?;
        let ty = self.element_type(self.module.ty(value))?;
        self.ir.load(ty, address, elem as u32)
    }

    /// Whether a tile is one matrix, or a vector: other dimensions have one element.
    fn is_flat(&self, value: ValueId) -> bool {
        self.module.ty(value).shape().iter().rev().skip(2).all(|&n| n == 1)
    }

    /// Where one element of a tile in a slot lies. All dimensions but the last one count its rows, the outermost slowest.
    pub(super) fn element_address(
        &mut self,
        value: ValueId,
        view: &View<'c>,
        at: &Coords,
    ) -> Result<PointerValue<'c>> {
        let [outer @ .., col] = at.as_slice() else {
            return Err(internal("an element of a tile without dimensions"));
        };
        let module = self.module;
        let mut row = self.coordinate(Coord::ZERO)?;
        for (&coord, &extent) in outer.iter().zip(module.ty(value).shape()) {
            row = self.ir.scale(row, extent)?;
            let own = self.coordinate(coord)?;
            row = self.ir.add(row, own)?;
        }
        let mut col = self.coordinate(*col)?;
        if view.transposed {
            std::mem::swap(&mut row, &mut col);
        }
        let layout = self.program.rings[view.ring].payloads[view.payload].layout;
        // byte = panel * panel bytes + swizzled (row * row bytes + rest)
        let byte = self.ir.scale(col, layout.elem)?;
        let panel = self.ir.shr(byte, u64::from(layout.panel.trailing_zeros()))?;
        let rest = self.ir.and(byte, layout.panel - 1)?;
        let line = self.ir.add(self.ir.scale(row, layout.panel)?, rest)?;
        let bits = self.ir.and(self.ir.shr(line, 7)?, layout.swizzle.mask())?;
        let line = self.ir.xor(line, self.ir.shl(bits, 4)?)?;
        let offset = self.ir.add(self.ir.scale(panel, layout.panel_bytes())?, line)?;
        let slot = self.slot_at(view.ring, view.payload, view.slot)?;
        self.ir.offset(slot, self.ir.int(8).into(), offset)
    }

    /// Neighbours in a row that a lane holds come together, up to 16 bytes of them, and are kept; `None` where the
    /// element comes alone.
    fn view_run(&mut self, value: ValueId, view: &View<'c>, at: &Coords) -> Result<Option<Val<'c>>> {
        let elem = self.program.rings[view.ring].payloads[view.payload].layout.elem;
        let (row, col) = match at.as_slice() {
            [.., row, col] => (*row, col),
            [col] => (Coord::ZERO, col),
            [] => return Ok(None),
        };
        let Base::Lane(family, Axis::Col) = col.base else { return Ok(None) };
        let count = family.run().min(16 / elem);
        // All lanes read the only row.
        let single = row == Coord::ZERO;
        // Neighbours that a reshape takes elsewhere may be neighbours there.
        let own = match family {
            Family::Blocked(blocked) => u64::from(blocked.warp) == self.place.warp,
            _ => false,
        };
        let own = own && (single || self.starts_alike(row.base, family.base(Axis::Row)));
        let same = family.bare() == self.place.family;
        let own = own || same && (single || row.base == family.base(Axis::Row));
        if view.transposed || !self.is_flat(value) || !own || count < 2 {
            return Ok(None);
        }
        let wanted = u64::from(col.offset);
        let first = wanted / count * count;
        let from = match single {
            true => {
                let byte = self.ir.scale(family.first(self, Axis::Col)?, elem)?;
                self.far_chunk(view, (self.ir.c32(0), byte, family.col_span() * elem), 0, first * elem)?
            }
            false => self.lane_address(view, family, (u64::from(row.offset), first))?,
        };
        let ty = self.element_type(self.module.ty(value))?;
        let words = match ty {
            BasicTypeEnum::FloatType(ty) => ty.vec_type(count as u32),
            BasicTypeEnum::IntType(ty) => ty.vec_type(count as u32),
            _ => return Ok(None),
        };
        let loaded = self.ir.load(words.into(), from, (count * elem) as u32)?;
        let mut found = None;
        for i in 0..count {
            let element = self.ir.lane(loaded, i)?;
            let mut place = at.clone();
            if let Some(col) = place.last_mut() {
                col.offset = (first + i) as u32;
            }
            match first + i == wanted {
                true => found = Some(element),
                false => self.remember((value, place), element),
            }
        }
        Ok(found)
    }

    /// Address for `ldmatrix.x4` or `stmatrix.x4` of 16 rows and two neighbouring tiles of a warp: rows first, then
    /// tiles (C64, C67).
    pub(super) fn matrices_at(
        &mut self,
        view: &View<'c>,
        family: MmaSync,
        (row, col): (u64, u64),
    ) -> Result<PointerValue<'c>> {
        let elem = self.program.rings[view.ring].payloads[view.payload].layout.elem;
        let (down, along) = (family.warp(self, Axis::Row)?, family.warp(self, Axis::Col)?);
        let lane = self.ir.and(self.thread, 15)?;
        let own = self.ir.or(self.ir.shl(down, 4)?, lane)?;
        let tile = self.ir.and(self.ir.shr(self.thread, 4)?, 1)?;
        let tile = self.ir.scale(tile, family.col_step() * elem)?;
        let byte = self.ir.or(self.ir.scale(along, 8 * elem)?, tile)?;
        self.far_chunk(view, (own, byte, 2 * family.col_step() * elem), row, col * elem)
    }

    /// Address for `ldmatrix.x4.trans` of 16 rows and two neighbouring tiles of a warp of a tile that is seen turned: its rows
    /// lie along the slot's (C64).
    fn turned_matrices(
        &mut self,
        view: &View<'c>,
        family: Family,
        (row, col): (u64, u64),
    ) -> Result<PointerValue<'c>> {
        let elem = self.program.rings[view.ring].payloads[view.payload].layout.elem;
        let (first, along, height, step) = match family {
            Family::MmaSync(sync) => {
                let (down, along) = (sync.warp(self, Axis::Row)?, sync.warp(self, Axis::Col)?);
                (self.ir.shl(down, 4)?, self.ir.shl(along, 3)?, sync.row_step(), sync.col_step())
            }
            Family::Wgmma(accumulators) => {
                (accumulators.warp_row(self)?, accumulators.part_first(self)?, 64 * accumulators.groups(), 8)
            }
            Family::Blocked(_) | Family::Rows(_) => {
                return Err(internal("lanes that hold no matrices of 8 x 8"));
            }
        };
        let tile = self.ir.scale(self.ir.and(self.ir.shr(self.thread, 4)?, 1)?, step)?;
        let line = self.ir.add(along, self.ir.or(tile, self.ir.and(self.thread, 7)?)?)?;
        let lower = self.ir.and(self.thread, 8)?;
        let byte = self.ir.scale(self.ir.or(first, lower)?, elem)?;
        self.far_chunk(view, (line, byte, height * elem), col, row * elem)
    }

    /// Address for `ldmatrix.x4` or `stmatrix.x4` of this lane: 16 rows of the warp, columns `16 * chunk`
    /// on of its part (C64).
    pub(super) fn matrix_address(
        &mut self,
        view: &View<'c>,
        family: Wgmma,
        block: u64,
        chunk: u64,
    ) -> Result<PointerValue<'c>> {
        let layout = self.program.rings[view.ring].payloads[view.payload].layout;
        let byte = chunk * 32;
        let (panel, inside) = (byte / layout.panel, byte % layout.panel);
        let lane = self.ir.and(self.thread, 31)?;
        let first = family.warp_row(self)?;
        let row = self.ir.or(first, self.ir.and(lane, 15)?)?;
        let half = self.ir.shl(self.ir.and(self.ir.shr(lane, 4)?, 1)?, 4)?;
        let line = self.ir.add(self.ir.scale(row, layout.panel)?, half)?;
        // Parts are whole panels, or lie in one.
        let (part, column) = (family.part_of(layout.cols) * layout.elem, family.column(self)?);
        let (line, own) = match part {
            _ if family.columns <= 1 => (line, None),
            part if part < layout.panel => {
                let within = self.ir.and(self.ir.scale(column, part)?, layout.panel - 1)?;
                let panel = self.ir.quotient(column, layout.panel / part)?;
                (self.ir.add(line, within)?, Some(self.ir.scale(panel, layout.panel_bytes())?))
            }
            part => (line, Some(self.ir.scale(column, part / layout.panel * layout.panel_bytes())?)),
        };
        let line = self.swizzled(line, inside, view)?;
        let line = own.map_or(Ok(line), |own| self.ir.add(line, own))?;
        let fixed = panel * layout.panel_bytes() + block * 64 * family.groups() * layout.panel;
        let slot = self.slot_at(view.ring, view.payload, view.slot)?;
        let slot = self.ir.offset(slot, self.ir.int(8).into(), line)?;
        self.ir.plus(slot, fixed)
    }
}
