//! Tiles in the layout of tensor memory's rows on their way into a slot: each lane writes its row, 16 bytes at a
//! time, which the swizzle spreads over the banks (C33, C60).

use warploom_ir::ValueId;

use super::Lower;
use super::value::View;
use crate::error::Result;
use crate::family::{Axis, Family, Rows};

/// Bytes of one store of a lane.
const CHUNK: u64 = 16;

impl<'c> Lower<'c, '_> {
    /// Columns in order, so that what tensor memory brings is used as it comes.
    pub(super) fn store_rows(
        &mut self,
        value: ValueId,
        view: &View<'c>,
        family: Rows,
        (rows, cols): (u64, u64),
        bits: u32,
    ) -> Result<()> {
        let layout = self.program.rings[view.ring].payloads[view.payload].layout;
        let per_chunk = CHUNK / layout.elem;
        let slot = self.slot_at(view.ring, view.payload, view.slot)?;
        let row = self.coordinate(Family::Rows(family).coord(Axis::Row, 0))?;
        let line = self.ir.scale(row, layout.panel)?;
        for block in 0..family.blocks(rows)? {
            let (first, _) = Family::Rows(family).place(cols, block * cols);
            for chunk in 0..cols / per_chunk {
                let (panel, inside) = (chunk * CHUNK / layout.panel, chunk * CHUNK % layout.panel);
                let at = self.swizzled(line, inside, view)?;
                let at = self.ir.offset(slot, self.ir.int(8).into(), at)?;
                let at = self.ir.plus(at, panel * layout.panel_bytes() + first * layout.panel)?;
                let words = (0..CHUNK / 4).map(|word| {
                    let col = chunk * per_chunk + word * 4 / layout.elem;
                    self.word_at(value, Family::Rows(family), (first, col), bits)
                });
                let words = words.collect::<Result<Vec<_>>>()?;
                let vector = self.ir.vector(&words)?;
                self.ir.store(vector, at, CHUNK as u32)?;
            }
        }
        Ok(())
    }
}
