//! Scalars that a run does not know: what memory answers that other programs write meanwhile (atomic operations, volatile
//! loads), and what is computed from the elements of tiles, from floats and by operations that a run does not follow (C35).
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

    /// Gives a warp what it is answered this time: a number for each result that is one.
    pub(super) fn sample(&mut self, w: usize, op: OpId) {
        let module = self.model.module;
        let results = &module.ops[op].results;
        let number = if results.iter().any(|&result| matches!(module.ty(result), Type::Int(..))) {
            let Some(asked) = self.warps.get_mut(w).map(|warp| warp.asked.entry(op).or_default()) else {
                return;
            };
            *asked += 1;
            self.inputs.sampled(*asked)
        } else {
            0
        };
        for &result in results {
            let ty = module.ty(result);
            let number = matches!(ty, Type::Int(..)).then(|| Val::Int(wrapped(number, ty)));
            self.set(w, result, number.unwrap_or(Val::Other));
        }
    }
}
