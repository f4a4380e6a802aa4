//! Matrices of 16-bit elements on their way from accumulators to global memory: each warp leaves 16 rows of a panel in
//! its part of the scratch memory, by `stmatrix`, and each lane takes 16 bytes of a row from there, so that neighbouring
//! lanes store neighbouring bytes (C65, G12).

use inkwell::values::{IntValue, PointerValue};
use smallvec::SmallVec;
use warploom_chips::Feature;

use super::Lower;
use super::update::Stored;
use super::value::{Coord, Coords};
use crate::error::{Result, internal};
use crate::family::Family;
use crate::llvm::Val;

/// Rows of a panel: those of two of the matrices of `stmatrix`.
const ROWS: u64 = 16;

/// Columns of a panel, 128 and 64 bytes of a row, the wider one first.
const WIDTHS: [u64; 2] = [64, 32];

/// Elements of 16 bytes.
const CHUNK: u64 = 8;

/// A panel in scratch memory as a lane sees it. The 16-byte chunks of rows that lie in the same banks change places.
struct Panel<'c> {
    /// Where its row of the matrices goes that hold 16 columns each.
    to: Vec<PointerValue<'c>>,
    /// Where the 16 bytes lie that it takes, 32 lanes at a time.
    from: Vec<PointerValue<'c>>,
    /// Its first row and column of what it takes.
    place: [Coord; 2],
    /// Rows from one piece that it takes to the next.
    step: u64,
}

impl<'c> Lower<'c, '_> {
    /// Columns of the panels in which a matrix of `cols` columns is stored, `together` neighbours being neighbours in
    /// memory; `None` where the lanes do it alone.
    pub(super) fn panels(&self, stored: &Stored, family: Family, cols: u64, together: u64) -> Option<u64> {
        let bytes = self.place.scratch?.bytes / self.place.warps.max(1) / ROWS;
        let whole = stored.atomic.is_none() && stored.bits == 16 && together >= CHUNK;
        let able = family.is_quads() && self.ir.target.has(Feature::Stmatrix) && !self.place.elected;
        let made =
            [Some(stored.pointer), stored.mask].into_iter().flatten().all(|v| self.is_made_anywhere(v));
        let fits = |width: &u64| cols.is_multiple_of(*width) && 2 * width <= bytes;
        WIDTHS.into_iter().find(fits).filter(|_| whole && able && made)
    }

    /// Stores a matrix by panels of so many columns. All lanes have met before, and meet behind it: others may use the
    /// memory again.
    pub(super) fn put_panels(&mut self, stored: &Stored, family: Family, width: u64) -> Result<()> {
        let (rows, cols) = self.matrix(stored.value)?;
        let count = family.count(rows, cols)?;
        let panel = self.panel(family, width)?;
        let mut first = true;
        for i in (0..count).step_by(2) {
            let (row, col) = family.place(cols, i);
            // The lane's own first row of 16: the other one is 8 further on.
            if !row.is_multiple_of(ROWS) || !col.is_multiple_of(width) {
                continue;
            }
            if !std::mem::take(&mut first) {
                self.meet_warp()?;
            }
            for (matrices, &to) in panel.to.iter().enumerate() {
                let mut args: Vec<Val<'c>> = vec![to.into()];
                for (down, along) in [(0, 0), (8, 0), (0, 8), (8, 8)] {
                    let index = family.find(cols, row + down, col + ROWS * matrices as u64 + along);
                    let index = index.ok_or_else(|| internal("a row or column of another lane"))?;
                    let at = self.place_at(stored.value, family, index)?;
                    args.push(self.pair_at(stored.value, &at)?);
                }
                self.store_matrix(Some(args))?;
            }
            self.meet_warp()?;
            self.take_panel(stored, &panel, (row, col))?;
        }
        self.meet_all()
    }

    /// Sends a panel off, whose first row and column these are.
    fn take_panel(&mut self, stored: &Stored, panel: &Panel<'c>, (row, col): (u64, u64)) -> Result<()> {
        let outer = self.module.ty(stored.value).shape().len().saturating_sub(2);
        for (piece, &from) in panel.from.iter().enumerate() {
            let all = self.ir.load(self.ir.i32().vec_type(4).into(), from, 16)?;
            let words = (0..4).map(|n| self.ir.lane(all, n)).collect::<Result<SmallVec<[Val<'c>; 4]>>>()?;
            let mut at: Coords = std::iter::repeat_n(Coord::ZERO, outer).collect();
            let offsets = [row + panel.step * piece as u64, col];
            at.extend(
                panel.place.iter().zip(offsets).map(|(c, offset)| Coord { offset: offset as u32, ..*c }),
            );
            let to = self.at(stored.pointer, at.clone())?;
            let mask = stored.mask.map(|m| self.at(m, at)).transpose()?;
            self.put_words(stored, to, &words, mask)?;
        }
        Ok(())
    }

    /// The panel of this lane's warp.
    fn panel(&mut self, family: Family, width: u64) -> Result<Panel<'c>> {
        let (chunks, pitch) = (width / CHUNK, 2 * width);
        let offset = self.scratch()?.offset;
        let own = self.ir.sub(self.thread, self.ir.c32(32 * self.place.warp))?;
        let (lane, warp) = (self.ir.and(own, 31)?, self.ir.shr(own, 5)?);
        let start = self.ir.scale(warp, ROWS * pitch)?;
        let address = |this: &Self, row: IntValue<'c>, chunk: IntValue<'c>| {
            // Rows of the same banks follow each other every 128 bytes.
            let turn = this.ir.and(this.ir.shr(row, (CHUNK / chunks).ilog2().into())?, chunks - 1)?;
            let byte = this.ir.shl(this.ir.xor(chunk, turn)?, 4)?;
            let at = this.ir.add(start, this.ir.add(this.ir.scale(row, pitch)?, byte)?)?;
            this.ir.plus(this.ir.shared_at(at)?, offset)
        };
        let (row, half) = (self.ir.and(lane, ROWS - 1)?, self.ir.shr(lane, 4)?);
        let mut to = Vec::new();
        for matrices in 0..width / ROWS {
            to.push(address(self, row, self.ir.xor(half, self.ir.c32(2 * matrices))?)?);
        }
        let (row, chunk) = (self.ir.shr(lane, chunks.ilog2().into())?, self.ir.and(lane, chunks - 1)?);
        let (step, mut from) = (32 / chunks, Vec::new());
        for piece in 0..ROWS / step {
            let row = self.ir.add(row, self.ir.c32(step * piece))?;
            from.push(address(self, row, chunk)?);
        }
        let above = match family {
            Family::Wgmma(family) => family.warp_row(self)?,
            _ => self.ir.scale(warp, ROWS)?,
        };
        let first = self.ir.add(above, row)?;
        let column = self.ir.scale(chunk, CHUNK)?;
        let place = [self.computed(first), self.computed(column)];
        Ok(Panel { to, from, place, step })
    }
}
