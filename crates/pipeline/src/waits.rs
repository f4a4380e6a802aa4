//! The wait for products whose result nothing in the loop reads (C30).
//!
//! A product is only issued by its `tt.dot`. Where something in the loop reads it, the wait stands before that reader
//! and is the program's affair. Where only the next product does, a `warploom.mma_wait` behind it waits until at most
//! `pending` products are unfinished; behind it the slots used `pending` iterations ago are free. That wait is an
//! operation of the scheduled kernel, with a place in the schedule, since buffers live until it.

use warploom_ir::{Attr, BlockId, Module, OpId, Opcode};

use crate::walk::Users;

/// The waits directly in a loop, with the products that each leaves pending (a scheduled or assigned form has them).
pub(crate) fn find(module: &Module, scf_for: OpId) -> Vec<(OpId, u64)> {
    let ops = module.entry(scf_for, 0).map(|b| module.blocks[b].ops.as_slice()).unwrap_or_default();
    let waits = ops.iter().copied().filter(|&op| module.ops[op].opcode == Opcode::MmaWait);
    waits
        .filter_map(|wait| {
            let pending = module.attr(wait, "pending").and_then(Attr::as_i64)?;
            Some((wait, u64::try_from(pending).ok()?))
        })
        .collect()
}

/// Changes how many products may be unfinished behind a wait.
pub(crate) fn set_pending(module: &mut Module, wait: OpId, pending: u64) {
    let pending = i32::try_from(pending).unwrap_or(i32::MAX);
    module.ops[wait].props.set("pending", Attr::i32(pending));
}

/// Puts a wait for all but `pending` products behind each product of a loop whose result nothing in the loop reads but
/// the next trip: nobody else would wait before its slots are given back. Its result is carried instead.
pub(crate) fn insert_lagging(module: &mut Module, scf_for: OpId, pending: u64) {
    let Some(body) = module.entry(scf_for, 0) else { return };
    let dots: Vec<OpId> =
        module.blocks[body].ops.iter().copied().filter(|&op| module.ops[op].opcode.is_product()).collect();
    for dot in dots {
        if lags(module, body, dot) {
            insert_behind(module, body, dot, pending);
        }
    }
}

/// Whether nothing but the yield reads a product, and nothing but the product what was yielded.
pub(crate) fn lags(module: &Module, body: BlockId, dot: OpId) -> bool {
    let users = Users::new(module);
    let (Some(result), Some(yielded)) = (module.result(dot), module.terminator(body)) else { return false };
    let carried = module.ops[yielded].operands.iter().position(|&v| v == result);
    let arg = carried.and_then(|at| module.blocks[body].args.get(at + 1).copied());
    users.of(result) == [yielded]
        && arg.is_some_and(|arg| module.ops[dot].operands.get(2) == Some(&arg) && users.of(arg) == [dot])
}

fn insert_behind(module: &mut Module, body: BlockId, dot: OpId, pending: u64) -> Option<OpId> {
    let result = module.result(dot)?;
    let (ty, loc) = (module.ty(result).clone(), module.ops[dot].loc);
    let yielded = module.terminator(body)?;
    let wait = module.create_op(Opcode::MmaWait, &[result], &[ty], loc);
    module.ops[wait].span = module.ops[dot].span;
    module.ops[wait].props.set("pending", Attr::i32(i32::try_from(pending).ok()?));
    let waited = module.result(wait)?;
    for operand in &mut module.ops[yielded].operands {
        if *operand == result {
            *operand = waited;
        }
    }
    let at = module.blocks[body].ops.iter().position(|&op| op == dot)?;
    module.insert(body, at + 1, wait);
    Some(wait)
}
