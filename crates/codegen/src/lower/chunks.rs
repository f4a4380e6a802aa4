//! Slots in chunks of 16 bytes of a row, each lane with its own: what copies and plain stores go by (C24, C60).

use inkwell::IntPredicate;
use inkwell::values::PointerValue;

use super::Lower;
use super::value::View;
use crate::error::Result;
use crate::family::{Axis, Blocked, Family};
use crate::layout::TileLayout;

/// Bytes of a chunk.
pub(super) const CHUNK: u64 = 16;

impl<'c> Lower<'c, '_> {
    /// Which lane of the partition has which chunks of a slot, or several neighbours for at least so many elements.
    pub(super) fn chunks(&self, layout: TileLayout, least: u64) -> Blocked {
        let vector = (CHUNK / layout.elem).max(least).min(layout.cols);
        let lanes = 32 * self.place.warps;
        let across = (layout.cols / vector).min(lanes);
        let (lanes, vector, across) = (lanes as u16, vector as u16, across as u16);
        Blocked { warp: self.place.warp as u16, lanes, vector, across }
    }

    /// Runs `body` for each chunk of the lane, with the chunk's first row and column before the lane's own are added, and
    /// its address. What the lanes keep from one chunk to the next is forgotten where not all of them had one.
    pub(super) fn each_chunk(
        &mut self,
        view: &View<'c>,
        blocked: Blocked,
        mut body: impl FnMut(&mut Self, (u64, u64), PointerValue<'c>) -> Result<()>,
    ) -> Result<()> {
        let layout = self.program.rings[view.ring].payloads[view.payload].layout;
        let down = blocked.row_step();
        let spare = down > layout.rows;
        // More lanes than chunks.
        let mine = match spare {
            true => {
                let row = blocked.first(self, Axis::Row)?;
                Some(self.ir.icmp(IntPredicate::ULT, row, self.ir.c32(layout.rows))?.into())
            }
            false => None,
        };
        let skip = self.only_where(mine)?;
        let scope = self.enter();
        let across = layout.cols / (u64::from(blocked.vector) * u64::from(blocked.across));
        for row in 0..layout.rows.div_ceil(down) {
            for col in 0..across {
                let at = (row * down, col * blocked.col_step());
                let to = self.lane_address(view, Family::Blocked(blocked), at)?;
                body(self, at, to)?;
            }
        }
        if spare {
            self.leave(scope);
        }
        self.rejoin(skip)
    }
}
