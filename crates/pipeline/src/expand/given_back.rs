//! Slots that warps store to again once the products that read them have given them back (C23, C24).

use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, ValueId};

use crate::emit::Emit;
use crate::expand::thread::{Site, thread};
use crate::walk::preorder;

/// Lets the warps wait, before they store to the slots of a ring again, until products have given them back: each wait
/// is for the other phase (C23).
pub(super) fn take_turns(out: &mut Module, func: OpId, ring: &str) -> Option<()> {
    let own = |op: &OpId| {
        let data = &out.ops[*op];
        data.opcode == Opcode::ProducerAcquire
            && out.attr(*op, "pipeline").and_then(Attr::as_symbol) == Some(ring)
    };
    let sites = preorder(out, func).into_iter().filter(own).collect();
    let (body, loc) = (out.entry(func, 0)?, out.ops[func].loc);
    let ops = std::mem::take(&mut out.blocks[body].ops);
    // A slot that was never filled is free.
    let one = Emit { out, block: body, loc }.constant(1);
    out.blocks[body].ops.extend(ops);
    thread(out, body, one, &sites, &mut Phases { one })?;
    Some(())
}

/// The phases of waits for free slots.
struct Phases {
    one: ValueId,
}

impl Site for Phases {
    fn at(&mut self, out: &mut Module, block: BlockId, op: OpId, now: ValueId) -> Option<ValueId> {
        *out.ops[op].operands.get_mut(1)? = now;
        let loc = out.ops[op].loc;
        out.append(block, op);
        Some(Emit { out, block, loc }.same(Opcode::XOrI, now, self.one))
    }

    fn before(&mut self, _: &mut Module, _: BlockId, _: OpId) {}

    fn behind(&mut self, _: &mut Module, _: BlockId, _: OpId) {}
}
