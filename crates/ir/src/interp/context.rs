//! What the evaluation of an element-wise operation needs to know of its surroundings.

use super::error::Fault;
use super::float;
use super::options::{Accumulate, InterpOptions};
use crate::entity::OpId;
use crate::module::Module;
use crate::types::FloatKind;

/// The kernel, and how it is to be evaluated.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub module: &'a Module,
    pub options: &'a InterpOptions,
}

impl Context<'_> {
    /// Rounds a computed value to its format. In `f64` accumulation `f32` values stay unrounded.
    pub(super) fn round(&self, kind: FloatKind, value: f64) -> f64 {
        float::round(self.held(kind), value)
    }

    /// The format in which values of `kind` are held.
    pub(super) fn held(&self, kind: FloatKind) -> FloatKind {
        match (kind, self.options.accumulate) {
            (FloatKind::F32, Accumulate::F64) => FloatKind::F64,
            _ => kind,
        }
    }
}

/// Refuses operands that no arm of an evaluation takes.
pub(super) fn wrong_operands(module: &Module, op: OpId) -> Fault {
    let types: Vec<String> = module.ops[op].operands.iter().map(|&v| module.ty(v).to_string()).collect();
    Fault::Malformed(format!("{} on ({})", module.op_name(op), types.join(", ")))
}
