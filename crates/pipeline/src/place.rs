//! Diagnostics that know their place: the operation, its offset in the text, its line in the kernel's source.

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::text::print_op;
use warploom_ir::{Loc, LocId, Module, OpId, ValueId};

/// An error at an operation (C90).
pub(crate) fn refuse(module: &Module, op: OpId, code: Code, message: impl Into<String>) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(code, message).at(module.ops[op].span);
    diagnostic.op = Some(summary(module, op));
    diagnostic.source = source(module, module.ops[op].loc);
    diagnostic
}

/// A remark at an operation.
pub(crate) fn remark(module: &Module, op: OpId, code: Code, message: impl Into<String>) -> Diagnostic {
    let mut diagnostic = Diagnostic::remark(code, message).at(module.ops[op].span);
    diagnostic.op = Some(summary(module, op));
    diagnostic.source = source(module, module.ops[op].loc);
    diagnostic
}

/// Printing one operation numbers the values of the whole module; beyond so many operations only name and types
/// are given, so that a large file with many refusals stays linear.
const PRINTED_IN_FULL: usize = 2000;

/// The operation on one line.
fn summary(module: &Module, op: OpId) -> String {
    if module.ops.len() <= PRINTED_IN_FULL {
        return print_op(module, op);
    }
    let types =
        |values: &[ValueId]| values.iter().map(|&v| module.ty(v).to_string()).collect::<Vec<_>>().join(", ");
    let data = &module.ops[op];
    format!("{} : ({}) -> ({})", module.op_name(op), types(&data.operands), types(&data.results))
}

/// `file:line:column` of a location, the innermost place where the operation itself was written.
fn source(module: &Module, mut loc: LocId) -> Option<String> {
    // Locations may be nested by the file at will; a bounded walk also ends circles of aliases.
    for _ in 0..64 {
        match module.resolve_loc(loc) {
            Loc::File { file, line, column } => return Some(format!("{file}:{line}:{column}")),
            Loc::Name { child: Some(child), .. } => loc = *child,
            Loc::CallSite { callee, .. } => loc = *callee,
            Loc::Fused { parts, .. } => loc = *parts.first()?,
            _ => return None,
        }
    }
    None
}

/// Sorts diagnostics into file order; those without a place come last (C90).
pub(crate) fn file_order(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|d| d.offset.map_or(u64::MAX, u64::from));
}
