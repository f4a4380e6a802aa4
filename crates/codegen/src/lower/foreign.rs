//! Functions of libdevice by their name (C3, C68).

use warploom_ir::diag::Code;
use warploom_ir::{Attr, FloatKind, OpId, Opcode, Type};

use super::Lower;
use crate::error::{Result, refuse};
use crate::llvm::Val;

/// What the f32 functions of libdevice that we have are called among the operations.
const LIBDEVICE: [(&str, Opcode); 16] = [
    ("__nv_expf", Opcode::Exp),
    ("__nv_exp2f", Opcode::Exp2),
    ("__nv_logf", Opcode::Log),
    ("__nv_log2f", Opcode::Log2),
    ("__nv_sqrtf", Opcode::PreciseSqrt),
    ("__nv_fsqrt_rn", Opcode::PreciseSqrt),
    ("__nv_rsqrtf", Opcode::Rsqrt),
    ("__nv_sinf", Opcode::Sin),
    ("__nv_cosf", Opcode::Cos),
    ("__nv_tanhf", Opcode::Tanh),
    ("__nv_erff", Opcode::Erf),
    ("__nv_floorf", Opcode::Floor),
    ("__nv_ceilf", Opcode::Ceil),
    ("__nv_fast_expf", Opcode::Exp),
    ("__nv_fast_sinf", Opcode::Sin),
    ("__nv_fast_cosf", Opcode::Cos),
];

impl<'c> Lower<'c, '_> {
    /// Refuses functions that may do something beside their result, used or not: there is no place in the order of
    /// memory for it, and lanes that hold copies of an element would do it again.
    pub(super) fn has_no_effects(&self, op: OpId) -> Result<()> {
        let symbol = self.module.attr(op, "symbol").and_then(Attr::as_str);
        let ours = symbol.is_some_and(|symbol| LIBDEVICE.iter().any(|(name, _)| *name == symbol));
        if ours || self.is_pure(op) {
            return Ok(());
        }
        let text = format!("{} with side effects", self.module.op_name(op));
        Err(refuse(Code::Op, text).rule("C3").note("needs", "pure = true").into())
    }

    /// Whether the author says that foreign code does nothing beside its results.
    pub(super) fn is_pure(&self, op: OpId) -> bool {
        matches!(self.module.attr(op, "pure"), Some(Attr::Bool(true)))
    }

    /// `tt.extern_elementwise`: our own function of that name.
    pub(super) fn foreign_function(&mut self, op: OpId, args: &[Val<'c>]) -> Result<Val<'c>> {
        let symbol = self.module.attr(op, "symbol").and_then(Attr::as_str).unwrap_or("?");
        let single = |ty: &Type| *ty == Type::Float(FloatKind::F32);
        let known = LIBDEVICE.iter().find(|(name, _)| *name == symbol);
        match (known, args) {
            (Some((_, opcode)), [x])
                if single(self.operand_elem(op, 0)?) && single(self.result_elem(op)?) =>
            {
                self.single_function(op, *opcode, *x)
            }
            _ if symbol.starts_with("__nv_") => {
                let symbol = symbol.to_owned();
                let result = self.result_type(op)?;
                self.ir.call_library(&symbol, result, args)
            }
            _ => {
                let text = format!("tt.extern_elementwise of {symbol}");
                Err(refuse(Code::Op, text).rule("C68").note("supported", "functions of libdevice").into())
            }
        }
    }
}
