//! How lanes reach a tile in global memory through pointers: how wide their moves are, how many addresses and masks they
//! compute for it in a trip (T42).

use std::cell::OnceCell;

use warploom_chips::cost::Access;
use warploom_ir::axis::{AxisFacts, facts};
use warploom_ir::{Module, OpId, Type, ValueId};

use super::index::Indices;
use crate::walk::Users;

/// Bytes that one lane moves at a time at most.
const WIDEST: u64 = 16;

/// What neighbours do together, found when it is first asked for.
pub(super) struct Accesses<'a> {
    module: &'a Module,
    func: OpId,
    known: OnceCell<AxisFacts>,
}

/// What an access reads or writes.
#[derive(Clone, Copy)]
pub(super) struct Reached {
    pub pointers: Option<ValueId>,
    pub mask: Option<ValueId>,
    pub bytes: u64,
    /// Parts of a move may be masked: what `cp.async` does not read is zero.
    pub partial: bool,
}

impl<'a> Accesses<'a> {
    pub fn new(module: &'a Module, func: OpId) -> Accesses<'a> {
        Accesses { module, func, known: OnceCell::new() }
    }

    /// The moves, addresses and masks of an access; those that no trip changes are computed before the loop, and a mask that
    /// several accesses have is computed once.
    pub fn of(&self, op: OpId, reached: Reached, indices: &Indices<'_>, users: &Users, lanes: u64) -> Access {
        let Reached { pointers, mask, bytes, partial } = reached;
        let Some(pointers) = pointers else { return Access::widest(bytes) };
        let moving = indices.varies(pointers);
        if !self.module.ty(pointers).is_tensor() {
            // Every lane of a warp does the same.
            return Access { moves: lanes, addresses: if moving { lanes } else { 0 }, masks: 0, partial: 0 };
        }
        let wide = self.width(pointers, mask, partial);
        let moves = bytes.div_ceil(wide.moved);
        let addresses = if moving { bytes.div_ceil(wide.together) } else { 0 };
        let computed =
            mask.is_some_and(|mask| indices.varies(mask) && self.first(mask, op, users) == Some(op));
        let masks = if computed { moves } else { 0 };
        match wide.in_part {
            true => Access { moves, addresses, masks: 0, partial: masks },
            false => Access { moves, addresses, masks, partial: 0 },
        }
    }

    fn width(&self, pointers: ValueId, mask: Option<ValueId>, partial: bool) -> Width {
        let (module, known) = (self.module, self.known.get_or_init(|| facts(self.module, self.func)));
        let ty = module.ty(pointers);
        let each = match ty.elem() {
            Type::Ptr { pointee, .. } => u64::from(pointee.elem_bits().unwrap_or(8)).div_ceil(8),
            _ => 1,
        };
        let along = |dim: usize| {
            let run = known.along(module, pointers, dim);
            let masked = mask.map(|mask| known.along(module, mask, dim));
            let alike = masked.map_or(u64::MAX, |run| run.equal);
            let most = if partial { masked.map_or(u64::MAX, |run| run.leading()) } else { alike };
            let bytes = |elements: u64| elements.saturating_mul(each).min(WIDEST).max(each);
            let moved = bytes(run.consecutive.min(most)).min(run.multiple.max(each));
            let in_part = alike.saturating_mul(each) < moved;
            Width { moved, together: bytes(run.consecutive).max(moved), in_part }
        };
        (0..ty.shape().len()).map(along).max_by_key(|width| (width.moved, width.together)).unwrap_or(Width {
            moved: each,
            together: each,
            in_part: false,
        })
    }

    /// The first access of a kind that a mask belongs to.
    fn first(&self, mask: ValueId, like: OpId, users: &Users) -> Option<OpId> {
        let opcode = |op: OpId| self.module.ops[op].opcode;
        users.of(mask).iter().find(|&&op| opcode(op) == opcode(like)).copied()
    }
}

/// Bytes of a move, those of neighbours that lie side by side, and whether a mask may leave out part of a move.
struct Width {
    moved: u64,
    together: u64,
    in_part: bool,
}
