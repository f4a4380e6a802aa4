//! What memory answers that other programs write meanwhile: atomic operations and volatile loads (C35).
//!
//! Nobody knows it, and loops and branches may depend on it (locks, counters, flags): it is sampled. Every warp of a
//! partition is given the same, as the lanes of a program share the one answer of a scalar operation.

use warploom_ir::{Attr, OpId, Opcode, Type};

use super::{Run, Val};

impl Run<'_, '_> {
    /// Whether the result of an operation depends on what other programs do meanwhile.
    pub(super) fn asks(&self, op: OpId) -> bool {
        let module = self.model.module;
        match module.ops[op].opcode {
            Opcode::AtomicCas | Opcode::AtomicRmw => true,
            Opcode::Load => matches!(module.attr(op, "isVolatile"), Some(Attr::Bool(true))),
            _ => false,
        }
    }

    /// What a warp is answered this time; `None` for what is no integer.
    pub(super) fn sample(&mut self, w: usize, op: OpId) -> Option<Val> {
        let module = self.model.module;
        let integer = matches!(module.ty(module.result(op)?), Type::Int(..));
        let asked = self.warps.get_mut(w)?.asked.entry(op).or_default();
        *asked += 1;
        let time = *asked;
        integer.then(|| Val::Int(self.inputs.sampled(time)))
    }
}
