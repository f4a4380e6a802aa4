//! Slots that sums in tensor memory give back: by a commit behind the last product of a trip that reads them (C24, C66).

use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, ValueId};

use crate::emit::{Emit, number};
use crate::transports::turns::views;
use crate::walk::preorder;

/// Lets the last sum of a trip that reads a slot give it back, and issues all sums of the trip there, so that what is
/// issued is committed at once. Other products are waited for in their trip.
///
/// `none` are the flags of products that no loop carries.
pub(super) fn give_back(
    out: &mut Module,
    func: OpId,
    rings: &[String],
    (zero, none): (ValueId, [ValueId; 2]),
) -> Option<()> {
    for ring in rings {
        let (mut last, mut sums) = (None, Vec::new());
        for op in preorder(out, func) {
            let issues = matches!(out.ops[op].opcode, Opcode::Mma | Opcode::MmaBlockScaled);
            if !issues || out.ops[op].operands.get(3).is_some_and(|keep| none.contains(keep)) {
                continue;
            }
            let read = out.ops[op].operands.iter().enumerate().filter(|(n, _)| !matches!(n, 0 | 3));
            let mut read = read.map(|(_, v)| v);
            if let Some(slot) = read.find_map(|&v| slot_of(out, v, ring)) {
                last = Some((op, slot));
                sums.push(op);
            }
        }
        sums.pop();
        let (mma, slot) = last?;
        let (block, loc) = (out.ops[mma].block?, out.ops[mma].loc);
        for (index, sum) in sums.into_iter().enumerate() {
            let elected = out.parent(sum)?;
            out.detach(sum);
            out.insert(block, index, sum);
            out.detach(elected);
        }
        Emit { out, block, loc }.ring(Opcode::ConsumerRelease, ring, &[slot, zero], &[("lag", number(0))]);
        wait_where_issued(out, block, ring)?;
    }
    Some(())
}

/// Lets the lane alone that issues products wait for slots which come by TMA, and look at them: another warp could come so
/// late that the slot has been given back, and filled, since.
fn wait_where_issued(out: &mut Module, elected: BlockId, ring: &str) -> Option<()> {
    let around = out.ops[out.parent(*out.blocks[elected].ops.first()?)?].block?;
    let of = |op: OpId| out.attr(op, "pipeline").and_then(Attr::as_symbol) == Some(ring);
    let ops = &out.blocks[around].ops;
    let waits = |op: OpId| out.ops[op].opcode == Opcode::ConsumerWait && of(op);
    if !ops.iter().any(|&op| waits(op)) {
        return Some(());
    }
    let slots: Vec<OpId> =
        ops.iter().copied().filter(|&op| out.ops[op].opcode == Opcode::Slot && of(op)).collect();
    let seen = views(out, ops, &slots);
    let moved: Vec<OpId> = ops.iter().copied().filter(|&op| waits(op) || seen.contains(&op)).collect();
    for (at, op) in moved.into_iter().enumerate() {
        out.detach(op);
        out.insert(elected, at, op);
    }
    Some(())
}

/// The slot of a ring that a view shows.
fn slot_of(out: &Module, value: ValueId, ring: &str) -> Option<ValueId> {
    let seen = crate::views::look_through(out, value);
    let (base, _) = crate::views::reshapes(out, seen.base);
    let op = out.def_op(base).filter(|&op| out.ops[op].opcode == Opcode::Slot)?;
    let own = out.attr(op, "pipeline").and_then(Attr::as_symbol) == Some(ring);
    out.ops[op].operands.first().copied().filter(|_| own)
}
