//! What a lane has of rows: columns of a matrix are shared by its rows, and rows by lanes of a warp (T42).

use warploom_chips::cost::Op;
use warploom_chips::mma::MmaInstruction;
use warploom_ir::{CostClass, OpId, Opcode, ValueId};

use super::price::{COMPUTING, Prices};

impl Prices<'_> {
    /// A row of indices that more than addresses are made of: each lane has those of its part of the tile.
    pub(super) fn row(&self, op: OpId, tile: ValueId, class: CostClass) -> Option<Op> {
        let spread = self.indices.spread(tile).filter(|_| self.indices.varies(tile))?;
        if class == CostClass::Convert || self.is_part_of_another(op, tile) {
            return None;
        }
        let compares = matches!(self.module.ops[op].opcode, Opcode::CmpI | Opcode::CmpF);
        let alone = spread == self.elements(tile);
        let spread = if alone { spread } else { spread.div_ceil(self.share.replicas) };
        // With a row of a product to each lane, columns are numbers that a comparison takes in; otherwise two rows of a lane
        // share them.
        match self.share.rows > 0 && self.sharing(1) == 1 && !alone {
            true => compares.then_some(Op::Logic { elements: spread }),
            false => Some(Op::Logic { elements: if alone { spread } else { spread.div_ceil(2) } }),
        }
    }

    /// Lanes of a warp that share a row: four of a product's fragments, one where a lane reads a row of tensor memory, and
    /// where nothing is multiplied as many as there are for so many rows.
    pub(super) fn sharing(&self, rows: u64) -> u64 {
        let warp = u64::from(self.target.threads.per_warp);
        match self.instruction {
            _ if self.share.rows == 0 => (warp * u64::from(COMPUTING) / rows.max(1)).clamp(1, warp),
            MmaInstruction::Tcgen05 if !self.one_partition => 1,
            _ => 4,
        }
    }
}
