//! The wait for matrix products: where the loop knows that operands are no longer read (C30).
//!
//! A product is only issued by its `tt.dot`. A `warploom.mma_wait` before the loop's yield waits until at most
//! `pending` products are unfinished; behind it the slots used `pending` iterations ago are free. The wait is
//! an operation of the scheduled kernel, with a place in the schedule, since buffers live until it.

use std::collections::BTreeMap;

use warploom_ir::{Attr, Module, OpId, Opcode};

use crate::select::Selection;

/// The wait of the loop, if the kernel has one already (a scheduled or assigned form).
pub(crate) fn find(module: &Module, selection: &Selection) -> Option<(OpId, u64)> {
    let ops = &module.blocks[selection.loop_body].ops;
    let wait = ops.iter().copied().find(|&op| module.ops[op].opcode == Opcode::MmaWait)?;
    let pending = module.attr(wait, "pending").and_then(Attr::as_i64).and_then(|p| u64::try_from(p).ok())?;
    Some((wait, pending))
}

/// Puts a wait for all but `pending` products behind the product; its result is carried instead.
pub(crate) fn insert(module: &mut Module, selection: &Selection, pending: u64) -> Option<OpId> {
    let dot = selection.dot.op;
    let result = module.result(dot)?;
    let (ty, loc) = (module.ty(result).clone(), module.ops[dot].loc);
    let wait = module.create_op(Opcode::MmaWait, &[result], &[ty], loc);
    module.ops[wait].span = module.ops[dot].span;
    module.ops[wait].props.set("pending", Attr::i32(i32::try_from(pending).ok()?));
    let waited = module.result(wait)?;
    let yielded = module.terminator(selection.loop_body)?;
    let map = BTreeMap::from([(result, waited)]);
    for operand in &mut module.ops[yielded].operands {
        *operand = *map.get(operand).unwrap_or(operand);
    }
    let at = module.blocks[selection.loop_body].ops.len().saturating_sub(1);
    module.insert(selection.loop_body, at, wait);
    Some(wait)
}

/// Changes how many products may be unfinished behind a wait.
pub(crate) fn set_pending(module: &mut Module, wait: OpId, pending: u64) {
    let pending = i32::try_from(pending).unwrap_or(i32::MAX);
    module.ops[wait].props.set("pending", Attr::i32(pending));
}
