//! Addresses in a slot: what the lane contributes is computed once, and every other place of the lane differs from it
//! by constants, because the swizzle sees nothing but the row's place in its pattern (C14, C60, T9).

use inkwell::values::{IntValue, PointerValue};

use super::Lower;
use super::value::View;
use crate::error::Result;
use crate::family::{Axis, Family};

impl<'c> Lower<'c, '_> {
    /// The address of a place: the lane's own row and byte (below `span`, a power of two), and a constant distance
    /// from it: rows in multiples of 8; bytes in multiples of the span, or below those that the lanes differ by.
    pub(super) fn far_chunk(
        &mut self,
        view: &View<'c>,
        (row, byte, span): (IntValue<'c>, IntValue<'c>, u64),
        rows: u64,
        bytes: u64,
    ) -> Result<PointerValue<'c>> {
        let layout = self.program.rings[view.ring].payloads[view.payload].layout;
        let (panel, inside) = (bytes / layout.panel, bytes % layout.panel);
        let mut line = self.ir.scale(row, layout.panel)?;
        let mut beyond = None;
        if span > layout.panel {
            let own = self.ir.shr(byte, u64::from(layout.panel.trailing_zeros()))?;
            beyond = Some(self.ir.scale(own, layout.panel_bytes())?);
            line = self.ir.or(line, self.ir.and(byte, layout.panel - 1)?)?;
        } else {
            line = self.ir.or(line, byte)?;
        }
        line = self.swizzled(line, inside & !15, view)?;
        if let Some(beyond) = beyond {
            line = self.ir.add(line, beyond)?;
        }
        let slot = self.slot_at(view.ring, view.payload, view.slot)?;
        let address = self.ir.offset(slot, self.ir.int(8).into(), line)?;
        self.ir.plus(address, panel * layout.panel_bytes() + rows * layout.panel + (inside & 15))
    }

    /// The address of an element that the lane holds, `row` and `col` from its own first.
    pub(super) fn lane_address(
        &mut self,
        view: &View<'c>,
        family: Family,
        (row, col): (u64, u64),
    ) -> Result<PointerValue<'c>> {
        let layout = self.program.rings[view.ring].payloads[view.payload].layout;
        let (elem, family) = (layout.elem, family.sized(layout.cols));
        let (first, own) = (family.first(self, Axis::Row)?, family.first(self, Axis::Col)?);
        // The rows of a pattern of 8 differ in their swizzle, those 8 further do not.
        let first = self.ir.add(first, self.ir.c32(row % 8))?;
        let byte = self.ir.scale(own, elem)?;
        self.far_chunk(view, (first, byte, family.col_span() * elem), row / 8 * 8, col * elem)
    }

    /// The physical byte of `line + inside`, where `line` is the lane's place in the first bytes of its row and
    /// `inside` a multiple of 16 within the panel: swizzled once, then moved by xor (C64).
    pub(super) fn swizzled(
        &mut self,
        line: IntValue<'c>,
        inside: u64,
        view: &View<'c>,
    ) -> Result<IntValue<'c>> {
        let layout = self.program.rings[view.ring].payloads[view.payload].layout;
        let mask = layout.swizzle.mask();
        if mask == 0 {
            return self.ir.add(line, self.ir.c32(inside));
        }
        let bits = self.ir.and(self.ir.shr(line, 7)?, mask)?;
        let line = self.ir.xor(line, self.ir.shl(bits, 4)?)?;
        self.ir.xor(line, self.ir.c32(inside))
    }
}
