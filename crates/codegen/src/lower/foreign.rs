//! Functions of libdevice by their name (C3, C68).

use inkwell::values::InstructionOpcode as Llvm;
use warploom_ir::diag::Code;
use warploom_ir::{Attr, FloatKind, OpId, Opcode, Type};

use super::Lower;
use crate::double;
use crate::error::{Result, refuse};
use crate::llvm::Val;

/// What the f32 functions of libdevice that we have are called among the operations.
const LIBDEVICE: [(&str, Opcode); 18] = [
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
    ("__nv_fast_logf", Opcode::Log),
    ("__nv_fast_log2f", Opcode::Log2),
    ("__nv_fast_sinf", Opcode::Sin),
    ("__nv_fast_cosf", Opcode::Cos),
];

/// Functions that the machine has, right to the last bit, by their names without `__nv_` and the `f` of f32: their intrinsics
/// and numbers of operands.
const MACHINE: [(&str, &str, usize); 13] = [
    ("ceil", "ceil", 1),
    ("copysign", "copysign", 2),
    ("dsqrt_rn", "sqrt", 1),
    ("fabs", "fabs", 1),
    ("floor", "floor", 1),
    ("fma", "fma", 3),
    ("fmax", "maxnum", 2),
    ("fmin", "minnum", 2),
    ("nearbyint", "rint", 1),
    ("rint", "rint", 1),
    ("round", "round", 1),
    ("sqrt", "sqrt", 1),
    ("trunc", "trunc", 1),
];

/// Quotients of f32, by their whole names; all are right to the last bit.
const QUOTIENTS: [&str; 3] = ["__nv_fdiv_rn", "__nv_fdividef", "__nv_fast_fdividef"];

/// How a function of libdevice is computed without it.
enum Own {
    /// An operation on an f32.
    Single(Opcode),
    /// An intrinsic.
    Machine(&'static str),
    /// A division.
    Quotient,
    /// The remainder of a division.
    Remainder,
    /// Steps in f64.
    Steps(double::Form),
}

impl<'c> Lower<'c, '_> {
    /// Refuses functions that may do something beside their result, used or not: there is no place in the order of
    /// memory for it, and lanes that hold copies of an element would do it again.
    pub(super) fn has_no_effects(&self, op: OpId) -> Result<()> {
        let symbol = self.module.attr(op, "symbol").and_then(Attr::as_str);
        let ours = symbol.is_some_and(|symbol| {
            let operands = self.module.ops[op].operands.len();
            let of = |kind| self.own_function(symbol, kind, operands).is_some();
            of(FloatKind::F32) || of(FloatKind::F64)
        });
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

    /// `tt.extern_elementwise`: our own function of that name, or libdevice's.
    pub(super) fn foreign_function(&mut self, op: OpId, args: &[Val<'c>]) -> Result<Val<'c>> {
        let symbol = self.module.attr(op, "symbol").and_then(Attr::as_str).unwrap_or("?").to_owned();
        if !symbol.starts_with("__nv_") {
            let text = format!("tt.extern_elementwise of {symbol}");
            return Err(refuse(Code::Op, text)
                .rule("C68")
                .note("supported", "functions of libdevice")
                .into());
        }
        let result = self.result_type(op)?;
        let mut types = self.module.ops[op].operands.iter().map(|&v| self.module.ty(v).elem());
        match *self.result_elem(op)? {
            Type::Float(kind) if types.all(|ty| *ty == Type::Float(kind)) => {
                self.named_function(op, &symbol, kind, args)
            }
            _ => self.ir.call_library(&symbol, result, args),
        }
    }

    /// A function of libdevice by its name, all of whose numbers are of this kind: our own, or libdevice's.
    pub(super) fn named_function(
        &mut self,
        op: OpId,
        symbol: &str,
        kind: FloatKind,
        args: &[Val<'c>],
    ) -> Result<Val<'c>> {
        let result = self.result_type(op)?;
        match (self.own_function(symbol, kind, args.len()), args) {
            (Some(Own::Single(opcode)), [x]) => self.single_function(op, opcode, *x),
            (Some(Own::Machine(intrinsic)), _) => self.ir.overloaded(intrinsic, args),
            (Some(Own::Quotient), [a, b]) => self.ir.binary(Llvm::FDiv, *a, *b),
            (Some(Own::Remainder), [a, b]) => self.long_division(*a, *b),
            (Some(Own::Steps(form)), _) => {
                let double = self.ir.f64().into();
                let wide = |x: &Val<'c>| match kind {
                    FloatKind::F64 => Ok(*x),
                    _ => self.ir.cast(Llvm::FPExt, *x, double),
                };
                let args: Vec<_> = args.iter().map(wide).collect::<Result<_>>()?;
                let value = self.steps(&form.function(), &args)?;
                if kind == FloatKind::F64 { Ok(value) } else { self.ir.cast(Llvm::FPTrunc, value, result) }
            }
            _ => self.ir.call_library(symbol, result, args),
        }
    }

    /// Our own function of that name. Where the user names a libdevice, it has those of f64, and those of f32 that would go
    /// through them.
    fn own_function(&self, symbol: &str, kind: FloatKind, operands: usize) -> Option<Own> {
        if kind == FloatKind::F32
            && let Some((_, opcode)) = LIBDEVICE.iter().find(|(name, _)| *name == symbol)
        {
            return Some(Own::Single(*opcode));
        }
        if kind == FloatKind::F32 && operands == 2 && QUOTIENTS.contains(&symbol) {
            return Some(Own::Quotient);
        }
        let name = symbol.strip_prefix("__nv_")?;
        let name = match kind {
            FloatKind::F64 => name,
            FloatKind::F32 => name.strip_suffix('f')?,
            _ => return None,
        };
        let machine = MACHINE.iter().find(|(known, _, count)| (*known, *count) == (name, operands));
        if let Some((_, intrinsic, _)) = machine {
            return Some(Own::Machine(intrinsic));
        }
        match (name, operands) {
            _ if self.ir.has_library() => None,
            ("fmod", 2) => Some(Own::Remainder),
            _ => double::form(name, operands).map(Own::Steps),
        }
    }
}
