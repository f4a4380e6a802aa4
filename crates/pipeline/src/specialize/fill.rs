//! The loading partition: an elected lane acquires a slot, announces its bytes and copies the tiles (C21-C24).

use warploom_ir::{OpId, Opcode};

use crate::emit::number;
use crate::specialize::walker::Walker;

impl Walker<'_, '_> {
    /// One copy. The first of a slot acquires and announces it, the last one goes on to the next.
    pub(super) fn fill(&mut self, op: OpId) -> Option<()> {
        let selection = self.b.source.selection;
        let load = selection.load(op)?;
        let (index, payload) = selection.ring_of(load)?;
        let looped = selection.rings.get(index)?.looped;
        let ring = self.b.source.layout.rings.get(index)?;
        // A slot that is written once is never acquired: nobody has to free it.
        let iterator = if looped { self.iterator(index)? } else { [self.b.zero?, self.b.zero?] };
        if payload == 0 {
            let mut emit = self.emit(op);
            if looped {
                emit.ring(Opcode::ProducerAcquire, &ring.name, &iterator, &[]);
            }
            emit.ring(Opcode::ProducerCommit, &ring.name, &iterator, &[("bytes", number(ring.bytes))]);
        }
        let mut operands = vec![iterator[0]];
        for value in self.module().ops[op].operands.clone() {
            operands.push(self.read(value, 0, op)?);
        }
        let span = self.module().ops[op].span;
        let mut emit = self.emit(op);
        let copy = emit.ring(Opcode::TmaLoad, &ring.name, &operands, &[("payload", number(payload))]);
        self.b.out.ops[copy].span = span;
        if looped && payload + 1 == ring.payloads.len() {
            let next = self.emit(op).advance(&ring.name, iterator);
            self.bind_iterators(&[index], &next);
        }
        Some(())
    }
}
