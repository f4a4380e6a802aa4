//! The attributes of declarations.

use warploom_ir::diag::Code;
use warploom_ir::{Attr, Module, OpId};

use crate::error::{Refusal, Result, locate, refuse};

/// The `i32` or `i64` attribute of this name as a count.
pub(super) fn count(module: &Module, op: OpId, name: &str) -> Result<u64> {
    let value = module.attr(op, name).and_then(Attr::as_i64).and_then(|v| u64::try_from(v).ok());
    value.ok_or_else(|| missing(module, op, name, "a non-negative integer"))
}

pub(super) fn missing(module: &Module, op: OpId, name: &str, what: &str) -> Refusal {
    let text = format!("{} needs attribute {name}, {what}", module.op_name(op));
    locate(module, op, refuse(Code::Verify, text).rule("C35").into())
}

/// The integers of `array<..>` or `[..]`.
pub(super) fn integers(module: &Module, op: OpId, name: &str) -> Result<Vec<i64>> {
    let list = match module.attr(op, name) {
        Some(Attr::DenseArray { values, .. }) => Some(values.clone()),
        Some(Attr::Array(items)) => items.iter().map(Attr::as_i64).collect(),
        _ => None,
    };
    list.ok_or_else(|| missing(module, op, name, "an array of integers"))
}
