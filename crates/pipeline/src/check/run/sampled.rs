//! Scalars that a run does not know: what memory answers that other programs write meanwhile (atomic operations, volatile
//! loads), and what is computed from the elements of tiles and from floats (C35).
//!
//! Loops and branches may depend on it (locks, counters, flags, a tile that is masked whole): it is sampled. Every warp of
//! a partition is given the same, as the lanes of a program share the one answer of a scalar operation.

use warploom_ir::{Attr, OpId, Opcode, Type};

use super::scalars::wrapped;
use super::{Run, Val};

impl Run<'_, '_> {
    /// Whether the result of an operation depends on what other programs do meanwhile.
    pub(super) fn asks(&self, op: OpId) -> bool {
        let module = self.model.module;
        match module.ops[op].opcode {
            Opcode::AtomicCas | Opcode::AtomicRmw | Opcode::AtomicLoad | Opcode::AtomicPoll => true,
            Opcode::Load => matches!(module.attr(op, "isVolatile"), Some(Attr::Bool(true))),
            _ => false,
        }
    }

    /// Whether the result of an operation is made of elements of tiles or of floats.
    pub(super) fn depends_on_data(&self, w: usize, op: OpId) -> bool {
        let operands = &self.model.module.ops[op].operands;
        operands.iter().any(|&v| matches!(self.value(w, v), Val::Other))
    }

    /// What a warp is answered this time; `None` for what is no integer.
    pub(super) fn sample(&mut self, w: usize, op: OpId) -> Option<Val> {
        let module = self.model.module;
        let ty = module.ty(module.result(op)?);
        if !matches!(ty, Type::Int(..)) {
            return None;
        }
        let asked = self.warps.get_mut(w)?.asked.entry(op).or_default();
        *asked += 1;
        let time = *asked;
        Some(Val::Int(wrapped(self.inputs.sampled(time), ty)))
    }
}
