//! Tiles that leave the registers for tensor memory, some columns at a time: each lane writes its row, or, of a tile of 64
//! rows, what it holds as wgmma's lanes do (C24, C25, C61, C66).

use inkwell::values::IntValue;
use warploom_ir::{OpId, Opcode, ValueId};

use super::Lower;
use super::value::{Bound, Memory, View};
use crate::error::{Result, internal};
use crate::family::{Family, Rows, Wgmma};
use crate::llvm::Val;
use crate::program::Columns;

/// Stores of 32 lanes by so many columns, widest first. None is narrower than the load of the same columns.
const STORES: [(u64, &str); 3] = [
    (32, "nvvm.tcgen05.st.32x32b.x32"),
    (16, "nvvm.tcgen05.st.32x32b.x16"),
    (8, "nvvm.tcgen05.st.32x32b.x8"),
];

/// Stores of 16 lanes by so many columns, which take 32-bit elements as wgmma's lanes hold them (E48, C61): the width is that
/// of the load of the same columns.
const HALF_STORES: [(u64, &str); 2] =
    [(64, "nvvm.tcgen05.st.16x256b.x8"), (16, "nvvm.tcgen05.st.16x256b.x2")];

/// The same for pairs of 16-bit elements.
const HALF_PAIRS: [(u64, &str); 3] = [
    (32, "nvvm.tcgen05.st.16x128b.x8"),
    (16, "nvvm.tcgen05.st.16x128b.x4"),
    (8, "nvvm.tcgen05.st.16x128b.x2"),
];

impl<'c> Lower<'c, '_> {
    /// A tile of 64 rows, 16 of them in each quarter of the lanes (E44), or of 128 that two warpgroups share. A lane holds
    /// rows `l / 4` and 8 further, and of each 8 columns two neighbours: register `j` of a store of elements has row
    /// `8 (j / 2 % 2)` and column `8 (j / 4) + j % 2`, of a store of pairs row `8 (j % 2)` and columns `8 (j / 2)` and the
    /// next.
    pub(super) fn store_half(
        &mut self,
        value: ValueId,
        view: &View<'c>,
        family: Wgmma,
        columns: Columns,
        bits: u32,
    ) -> Result<()> {
        let pairs = bits == 16;
        let stores: &[(u64, &'static str)] = if pairs { &HALF_PAIRS } else { &HALF_STORES };
        let fits = stores.iter().find(|(width, _)| columns.width.is_multiple_of(*width));
        let &(width, name) = fits.ok_or_else(|| internal("columns that no store covers"))?;
        let slot = self.tensor_slot(view)?;
        let own = self.half_offset(family, columns.width)?;
        let start = self.ir.add(slot, own)?;
        for first in (0..columns.width).step_by(width as usize) {
            let place = |j: u64| match pairs {
                true => (8 * (j % 2), 2 * first + 8 * (j / 2)),
                false => (8 * (j / 2 % 2), first + 8 * (j / 4) + j % 2),
            };
            let words = (0..width / 2)
                .map(|j| self.word_at(value, Family::Wgmma(family), place(j), bits))
                .collect::<Result<Vec<_>>>()?;
            self.store_columns(name, start, first, &words)?;
        }
        self.ir.effect("nvvm.tcgen05.wait.st", &[])
    }

    /// One store of registers into the columns from `first` on.
    fn store_columns(
        &mut self,
        name: &'static str,
        start: IntValue<'c>,
        first: u64,
        words: &[Val<'c>],
    ) -> Result<()> {
        let vector = self.ir.vector(words)?;
        let address = self.ir.add(start, self.ir.c32(first))?;
        let pointer = self.tensor_pointer(address)?;
        let packed = self.ir.int(1).const_zero().into();
        self.ir.effect(name, &[pointer, vector, packed])
    }

    /// Columns in order, so that a tile which is read from the very slot passes through few registers; then the
    /// wait that lets others be told (C24).
    pub(super) fn store_tensor(
        &mut self,
        value: ValueId,
        view: &View<'c>,
        family: Rows,
        columns: Columns,
        bits: u32,
    ) -> Result<()> {
        let (rows, cols) = self.matrix(value)?;
        let per_column = u64::from(32 / bits);
        let slot = self.tensor_slot(view)?;
        let own = family.tensor_offset(self, columns.width)?;
        let start = self.ir.add(slot, own)?;
        for block in 0..family.blocks(rows)? {
            let (row, _) = Family::Rows(family).place(cols, block * cols);
            let block = row / 128 * columns.width;
            let mut first = 0;
            while first < columns.width {
                let fits = STORES.iter().find(|(width, _)| first + width <= columns.width);
                let &(width, name) = fits.ok_or_else(|| internal("columns that no store covers"))?;
                let words = (first..first + width)
                    .map(|column| self.word_at(value, Family::Rows(family), (row, column * per_column), bits))
                    .collect::<Result<Vec<_>>>()?;
                self.store_columns(name, start, block + first, &words)?;
                first += width;
            }
        }
        self.ir.effect("nvvm.tcgen05.wait.st", &[])
    }

    /// The tile that an operation stores into tensor memory, if it may be computed while it is stored: what it
    /// reads of these columns is the same columns of the same slot, each just before it is overwritten.
    pub(super) fn streamed(&self, op: OpId, changed: Memory) -> Option<ValueId> {
        if self.module.ops[op].opcode != Opcode::TileStore {
            return None;
        }
        let (ring, payload) = self.payload_of(op).ok()?;
        self.program.rings[ring].payloads[payload].columns?;
        let slot = self.int(self.operand(op, 1).ok()?).ok()?;
        let value = self.operand(op, 0).ok()?;
        let same =
            |view: &View| (view.ring, view.payload, view.slot) == (ring, payload, slot) && !view.transposed;
        let (mut stack, mut seen) = (vec![value], hashbrown::HashSet::new());
        while let Some(value) = stack.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.bound.get(&value) {
                Some(Bound::View(view)) if Memory::ring(view.ring).meets(changed) && !same(view) => {
                    return None;
                }
                Some(Bound::Lazy(_)) => {
                    stack.extend(&self.module.ops[self.module.def_op(value)?].operands);
                }
                _ => {}
            }
        }
        Some(value)
    }
}
