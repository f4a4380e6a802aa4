//! Results on their way out by descriptor (C26, C33).

use warploom_ir::{Attr, OpId, Opcode, Type};

use crate::emit::number;
use crate::layout::RingUse;
use crate::nest::innermost_for;
use crate::specialize::walker::Walker;

impl Walker<'_, '_> {
    /// One store: everybody is behind the last read of the staging bytes, writes its part, makes it visible to
    /// the copy engine, and one lane sends it off.
    pub(super) fn store(&mut self, op: OpId) -> Option<()> {
        let (module, selection, layout) = (self.module(), self.b.source.selection, self.b.source.layout);
        let index = selection.stores.iter().position(|s| s.op == op)?;
        let store = selection.stores.get(index)?;
        let ring = layout.ring(RingUse::Staging(index))?;
        let barrier = [("barrier", Attr::symbol(layout.staging_barrier(index)?))];
        let zero = self.b.zero?;
        self.wait_for_accumulators(op)?;
        let value = self.read(store.value, 0, op)?;
        let ty = Type::tensor(&store.plan.matrix(), self.b.out.ty(value).elem().clone());
        let value = self.emit(op).shaped(value, &ty);
        let mut operands = vec![zero, self.read(store.descriptor, 0, op)?];
        for &coordinate in module.ops[op].operands.get(2..)? {
            operands.push(self.read(coordinate, 0, op)?);
        }
        // In a loop, the store of one turn goes on while the next is computed.
        let again = innermost_for(module, op).is_some();
        if again {
            self.wait_for_stores(op);
            self.storing = true;
        }
        let mut emit = self.emit(op);
        emit.op(Opcode::BarrierSync, &[], &[], &barrier);
        let props = [("pipeline", Attr::symbol(&ring.name)), ("payload", number(0))];
        emit.op(Opcode::TileStore, &[value, zero], &[], &props);
        emit.op(Opcode::ProxyFence, &[], &[], &[]);
        emit.op(Opcode::BarrierSync, &[], &[], &barrier);
        let outside = self.at;
        self.at = self.emit(op).region(Opcode::Elect, &[]);
        let mut emit = self.emit(op);
        emit.ring(Opcode::TmaStore, &ring.name, &operands, &[("payload", number(0))]);
        emit.op(Opcode::StoreCommit, &[], &[], &[]);
        if !again {
            emit.op(Opcode::StoreWait, &[], &[], &[("pending", number(0)), ("read", Attr::Bool(true))]);
        }
        self.at = outside;
        Some(())
    }

    /// The elected lane waits until its stores have read their staging.
    pub(super) fn wait_for_stores(&mut self, at: OpId) {
        let outside = self.at;
        self.at = self.emit(at).region(Opcode::Elect, &[]);
        let props = [("pending", number(0)), ("read", Attr::Bool(true))];
        self.emit(at).op(Opcode::StoreWait, &[], &[], &props);
        self.at = outside;
    }
}
