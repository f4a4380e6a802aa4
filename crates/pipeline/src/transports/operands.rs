//! Where the operands of the products of one partition come from (C61, C67).
//!
//! mma.sync reads B from shared memory, and A too unless it lies in the registers of its rows. An operand that is
//! loaded has a slot: in a ring, or where it is blocking. One that is computed, a P or dequantised weights, stays in
//! registers where it is A, of 16 bits, and all warps stand along M; else it is stored to shared memory first
//! (`stored`). One that stays what it is in the loops around its product, a scaled Q, is stored once in front of them.

use std::collections::BTreeSet;

use warploom_chips::mma::MmaInstruction;
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId, Opcode, Type, ValueDef, ValueId};

use crate::engines::PartitionShape;
use crate::nest::{is_inside, repeats};
use crate::place::remark;
use crate::transports::find::{Found, copied_tile};
use crate::views::{Seen, look_through, non_unit, reshapes};
use crate::walk::preorder;

/// A slot that a load fills.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Slot {
    /// By a pipelined load, or by the copy engine.
    Ring,
    /// Where the load stands.
    Blocking,
}

/// An operand of a product.
#[derive(Clone, Debug)]
pub(crate) struct DotOperand {
    pub dot: OpId,
    /// 0 for A, 1 for B; 3 and 4 for the tables of their scales.
    pub index: usize,
    /// What it is, seen through views.
    pub seen: Seen,
    /// How it is loaded, where it is.
    pub slot: Option<Slot>,
    /// In front of what it is stored, where it is computed: its product, or the outermost loop around that in which it
    /// stays what it is.
    pub at: OpId,
}

/// The operands of all products of a function, in the order of the text. Where shared memory is `tight`, an A of 16 bits
/// that no loop loads stays in registers, and none keeps a slot over the trips of a loop.
pub(crate) fn operands(module: &Module, func: OpId, found: &[Found], tight: bool) -> Vec<DotOperand> {
    let pipelined: BTreeSet<OpId> = found.iter().flat_map(|f| &f.tiles).map(|t| t.op).collect();
    let slot = |base: ValueId| {
        let op = module.def_op(base)?;
        let running = || found.iter().any(|f| is_inside(module, op, f.scf_for));
        match module.ops[op].opcode {
            Opcode::DescriptorLoad => Some(Slot::Ring),
            Opcode::Load if pipelined.contains(&op) => Some(Slot::Ring),
            // A copy that is waited for at once would make pipelined ones wait too.
            Opcode::Load if !running() => copied_tile(module, op).map(|_| Slot::Blocking),
            _ => None,
        }
    };
    let dots = preorder(module, func).into_iter().filter(|&op| module.ops[op].opcode.is_product());
    let read = |dot: OpId| (0..module.ops[dot].operands.len()).filter(|&index| index != 2);
    let all = dots.flat_map(|dot| read(dot).map(move |index| (dot, index)));
    all.filter_map(|(dot, index)| {
        let value = *module.ops[dot].operands.get(index)?;
        let seen = match index {
            0 | 1 => look_through(module, value),
            _ => table(module, value, found),
        };
        let stays = tight && index == 0 && seen.plain() && module.ty(seen.base).elem_bits() == Some(16);
        let slot = slot(seen.base).filter(|slot| !(stays && *slot == Slot::Blocking));
        let at = if tight { None } else { settled(module, dot, seen.base) };
        Some(DotOperand { dot, index, at: at.filter(|_| slot.is_none()).unwrap_or(dot), seen, slot })
    })
    .collect()
}

/// A table of scales: the tile that a pipelined load brings, where it lies as the product reads it, else itself.
fn table(module: &Module, value: ValueId, found: &[Found]) -> Seen {
    let (base, views) = reshapes(module, value);
    let brought =
        found.iter().flat_map(|f| &f.tiles).any(|t| Some(t.op) == module.def_op(base) && t.swizzle == 0);
    match brought {
        true => Seen { base, views, order: Vec::new() },
        false => Seen { base: value, views: Vec::new(), order: vec![0, 1] },
    }
}

/// The outermost loop around a product in which an operand stays what it is; none where it has no place in shared memory.
fn settled(module: &Module, dot: OpId, base: ValueId) -> Option<OpId> {
    let around = std::iter::successors(module.parent(dot), |&at| module.parent(at));
    let outside = around.take_while(|&at| !is_made_in(module, base, at));
    let at = outside.filter(|&at| matches!(module.ops[at].opcode, Opcode::For | Opcode::While)).last()?;
    // Nobody waits for a sum in the loop around this one before it is stored again.
    let summed = repeats(module, at)
        && module.ops[dot].operands.get(2).is_some_and(|&into| !module.is_const_zero(into));
    (has_place(module.ty(base)) && !summed).then_some(at)
}

/// Whether a value is made somewhere inside an operation.
fn is_made_in(module: &Module, value: ValueId, around: OpId) -> bool {
    let block = match module.values[value].def {
        ValueDef::Result { op, .. } => module.ops[op].block,
        ValueDef::Argument { block, .. } => Some(block),
    };
    let owner = block.and_then(|block| module.blocks[block].region).and_then(|r| module.regions[r].parent);
    owner.is_some_and(|owner| owner == around || is_inside(module, owner, around))
}

/// Whether a tile has a slot that products read: rows of 16 B or more, of 8- to 32-bit elements.
pub(crate) fn has_place(tile: &Type) -> bool {
    let bits = tile.elem_bits().unwrap_or(0);
    let extents = non_unit(tile.shape());
    let row = extents.last().copied().unwrap_or(0).saturating_mul(u64::from(bits)) / 8;
    extents.len() == 2 && row >= 16 && matches!(bits, 8 | 16 | 32)
}

/// The loops with the tiles alone that products read as they are, and a remark for each other one: lanes can load those without
/// room in shared memory.
pub(crate) fn alone(module: &Module, func: OpId, found: &[Found]) -> (Vec<Found>, Vec<Diagnostic>) {
    let read: BTreeSet<ValueId> =
        operands(module, func, found, false).iter().map(|operand| operand.seen.base).collect();
    let (mut fewer, mut remarks) = (found.to_vec(), Vec::new());
    for found in &mut fewer {
        found.tiles.retain(|tile| {
            let kept = tile.plan.is_some() || module.result(tile.op).is_some_and(|v| read.contains(&v));
            if !kept {
                let text = "this load is not pipelined: shared memory has no room for its tile";
                remarks.push(remark(module, tile.op, Code::Loop, text).rule("C92"));
            }
            kept
        });
    }
    fewer.retain(|found| !found.tiles.is_empty());
    (fewer, remarks)
}

impl DotOperand {
    /// Whether it is stored once, in front of the loops in which it stays what it is.
    pub fn is_settled(&self) -> bool {
        self.at != self.dot
    }

    /// Whether each trip of its loop brings or makes another.
    pub fn is_of_trip(&self) -> bool {
        self.slot == Some(Slot::Ring) || (self.slot.is_none() && !self.is_settled())
    }

    /// Whether it goes to shared memory where a kernel has this shape: A of 16 bits may stay in registers, unless it would
    /// for all trips of a loop, warps stand along the columns, or the product reads none.
    pub fn is_stored(&self, module: &Module, shape: &PartitionShape) -> bool {
        let narrow = module.ty(self.seen.base).elem_bits() == Some(16);
        let registers = shape.columns() == 1 && shape.instruction() != MmaInstruction::Tcgen05;
        let plain = match shape.instruction() {
            MmaInstruction::Wgmma => self.seen.views.is_empty(),
            _ => self.seen.plain(),
        };
        self.slot.is_none() && (self.is_settled() || !(self.index == 0 && registers && narrow && plain))
    }

    /// Whether `m` x `n` warps hold it in registers (C67).
    pub fn is_covered(&self, module: &Module, m: u64, n: u64) -> bool {
        match non_unit(module.ty(self.seen.base).shape()).as_slice() {
            &[rows, cols] => rows.is_multiple_of(16 * m) && cols.is_multiple_of(8 * n),
            _ => false,
        }
    }
}
