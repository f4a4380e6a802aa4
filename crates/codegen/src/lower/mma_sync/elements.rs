//! Operands of mma.sync that `ldmatrix` cannot bring: it exchanges rows and columns of 16-bit elements only. Each lane loads the elements of its registers itself (C60, C67).

use inkwell::values::IntValue;

use super::kind::Kind;
use crate::error::Result;
use crate::family::{Axis, MmaSync};
use crate::llvm::{Val, as_int};
use crate::lower::Lower;
use crate::lower::value::View;

/// Elements of an operand that a warp reads: the lane's own row of A, or column of B, of the first tile, which is below
/// `span`; and whether K runs along the rows in which the operand is stored.
#[derive(Clone, Copy)]
pub(super) struct Elements<'c> {
    view: View<'c>,
    own: IntValue<'c>,
    span: u64,
    along_rows: bool,
}

impl<'c> Lower<'c, '_> {
    /// Rows of A.
    pub(super) fn elements_a(&mut self, view: View<'c>, family: MmaSync) -> Result<Elements<'c>> {
        let warp = family.warp(self, Axis::Row)?;
        let own = self.ir.or(self.ir.shl(warp, 4)?, self.group()?)?;
        Ok(Elements { view, own, span: family.row_step(), along_rows: !view.transposed })
    }

    /// Columns of B.
    pub(super) fn elements_b(&mut self, view: View<'c>, family: MmaSync) -> Result<Elements<'c>> {
        let warp = family.warp(self, Axis::Col)?;
        let own = self.ir.or(self.ir.shl(warp, 3)?, self.group()?)?;
        Ok(Elements { view, own, span: family.col_step(), along_rows: view.transposed })
    }

    /// The lane's row of A, or column of B, in a tile of eight.
    fn group(&self) -> Result<IntValue<'c>> {
        self.ir.and(self.ir.shr(self.thread, 2)?, 7)
    }

    /// The two registers of the lane's row or column at `far` from its own, a multiple of 8: 32 bytes of K, 4 of them in each half.
    pub(super) fn halves_of_k(
        &mut self,
        from: &Elements<'c>,
        kind: Kind,
        far: u64,
        step: u64,
    ) -> Result<[Val<'c>; 2]> {
        Ok([self.four_bytes(from, kind, far, step, 0)?, self.four_bytes(from, kind, far, step, 1)?])
    }

    /// 4 bytes of K: bytes `4 t + 16 half` on, t the lane's place in its group of four.
    fn four_bytes(
        &mut self,
        from: &Elements<'c>,
        kind: Kind,
        far: u64,
        step: u64,
        half: u64,
    ) -> Result<Val<'c>> {
        let place = self.ir.and(self.thread, 3)?;
        let word = self.ir.i32();
        if from.along_rows {
            let byte = self.ir.or(self.ir.shl(place, 2)?, self.ir.c32(16 * half))?;
            let at = self.far_chunk(&from.view, (from.own, byte, 32), far, step * 32)?;
            return self.ir.load(word.into(), at, 4);
        }
        let per_word = 4 / kind.bytes;
        let first = self.ir.scale(place, per_word)?;
        let byte = self.ir.scale(from.own, kind.bytes)?;
        let mut found = self.ir.c32(0);
        for n in 0..per_word {
            let row = self.ir.add(first, self.ir.c32(half * 4 * per_word + n))?;
            let lane = (row, byte, from.span * kind.bytes);
            let at = self.far_chunk(&from.view, lane, step * kind.k(), far * kind.bytes)?;
            let bits = self.ir.int(8 * kind.bytes as u32);
            let element = as_int(self.ir.load(bits.into(), at, kind.bytes as u32)?)?;
            let element = self.ir.shl(self.ir.zext(element, word)?, 8 * kind.bytes * n)?;
            found = self.ir.or(found, element)?;
        }
        Ok(found.into())
    }
}
