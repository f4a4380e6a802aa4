//! What a program writes to global memory it may read again: its lanes meet in between (C7).
//!
//! A kernel is one thread of control; its agent is many lanes, each of which moves elements of its own. Where an access
//! follows a write through the same argument, or one that cannot be told apart from it, all warps meet in front of it.

use std::collections::BTreeSet;

use warploom_ir::{Attr, Module, OpId, Opcode, ValueId};

use super::find::{root, writes};
use super::plan::Planned;
use crate::loops::is_inside;
use crate::walk::preorder;

/// An access of global memory.
struct Access {
    op: OpId,
    root: Option<ValueId>,
    writes: bool,
}

/// Where the warps of a kernel must meet: in front of these operations.
pub(super) fn meetings(module: &Module, func: OpId, planned: &Planned) -> BTreeSet<OpId> {
    let accesses: Vec<Access> = preorder(module, func)
        .into_iter()
        .filter(|&op| writes(module.ops[op].opcode) || module.ops[op].opcode == Opcode::Load)
        .map(|op| Access {
            op,
            root: root(module, module.ops[op].operands.first().copied()),
            writes: writes(module.ops[op].opcode),
        })
        .collect();
    let loops: Vec<OpId> = preorder(module, func)
        .into_iter()
        .filter(|&op| matches!(module.ops[op].opcode, Opcode::For | Opcode::While))
        .collect();
    let mut found = BTreeSet::new();
    for (at, later) in accesses.iter().enumerate() {
        let same = |a: &Access| a.root == later.root || a.root.is_none() || later.root.is_none();
        let before = accesses.iter().take(at).any(|a| a.writes && same(a));
        // In a loop, what stands behind it comes before it in the next trip.
        let around =
            |a: &Access| loops.iter().any(|&l| is_inside(module, a.op, l) && is_inside(module, later.op, l));
        let behind = accesses.iter().skip(at + 1).any(|a| a.writes && same(a) && around(a));
        if before || behind {
            // Tiles that are copied ahead begin to come in front of their loop.
            let ahead = planned.loops.iter().find(|l| l.tiles.iter().any(|t| t.op == later.op));
            found.insert(ahead.map_or(later.op, |l| l.scf_for));
        }
    }
    found
}

/// Lets all warps meet in front of operations.
pub(super) fn meet(out: &mut Module, at: &BTreeSet<OpId>, barrier: &str) -> Option<()> {
    for &op in at {
        let (block, loc) = (out.ops[op].block?, out.ops[op].loc);
        let place = out.blocks[block].ops.iter().position(|&o| o == op)?;
        let meeting = out.create_op(Opcode::BarrierSync, &[], &[], loc);
        out.ops[meeting].props.set("barrier", Attr::symbol(barrier));
        out.insert(block, place, meeting);
    }
    Some(())
}
