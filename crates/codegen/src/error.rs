//! How refusals travel inside the crate: one boxed diagnostic, tied to the operation that caused it.

use warploom_ir::diag::Code;
use warploom_ir::{Diagnostic, Loc, Module, OpId};

/// A refusal on its way up.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// What will be said.
    pub diagnostic: Box<Diagnostic>,
    /// The operation it is about, once that is known.
    pub op: Option<OpId>,
}

impl From<Diagnostic> for Refusal {
    fn from(diagnostic: Diagnostic) -> Refusal {
        Refusal { diagnostic: Box::new(diagnostic), op: None }
    }
}

/// Result of every step that can refuse.
pub(crate) type Result<T> = std::result::Result<T, Refusal>;

/// A refusal of this kind without a place yet; [`locate`] adds it.
pub(crate) fn refuse(code: Code, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, message)
}

/// Something that a verified program cannot ask for: the fault is in an earlier stage or in this crate.
pub(crate) fn internal(message: impl Into<String>) -> Refusal {
    refuse(Code::Internal, message).into()
}

/// Names the operation a refusal is about, unless a nested one was named already.
pub(crate) fn locate(module: &Module, op: OpId, mut refusal: Refusal) -> Refusal {
    let place = &mut refusal.diagnostic;
    if refusal.op.is_none() {
        refusal.op = Some(op);
        place.offset = place.offset.or(module.ops[op].span);
        place.op = Some(describe(module, op));
        place.source = place.source.take().or_else(|| source(module, op));
    }
    refusal
}

/// The operation on one line: name and types, as in the generic form without values.
fn describe(module: &Module, op: OpId) -> String {
    let types = |values: &[warploom_ir::ValueId]| {
        values.iter().map(|&v| module.ty(v).to_string()).collect::<Vec<_>>().join(", ")
    };
    let (operands, results) = (types(&module.ops[op].operands), types(&module.ops[op].results));
    format!("{} : ({operands}) -> ({results})", module.op_name(op))
}

/// File, line and column in the kernel's own source: where the kernel calls what the operation is part of.
pub(crate) fn called_from(module: &Module, op: OpId) -> Option<(&str, u32, u32)> {
    let mut loc = module.ops[op].loc;
    for _ in 0..64 {
        match module.resolve_loc(loc) {
            Loc::File { file, line, column } => return Some((file, *line, *column)),
            Loc::Name { child: Some(child), .. } => loc = *child,
            Loc::CallSite { caller, .. } => loc = *caller,
            Loc::Fused { parts, .. } => loc = *parts.first()?,
            _ => return None,
        }
    }
    None
}

/// `file:line:column` of the kernel's own source, through names and call sites.
fn source(module: &Module, op: OpId) -> Option<String> {
    let mut loc = module.ops[op].loc;
    for _ in 0..64 {
        match module.resolve_loc(loc) {
            Loc::File { file, line, column } => return Some(format!("{file}:{line}:{column}")),
            Loc::Name { child: Some(child), .. } => loc = *child,
            Loc::CallSite { callee, .. } => loc = *callee,
            _ => return None,
        }
    }
    None
}
