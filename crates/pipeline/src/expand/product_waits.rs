//! Waits of the partition that copies and multiplies asynchronously: each product is waited for where it is first read,
//! and at the latest where slots may be handed on (C30, C46).
//!
//! A product that nothing in its loop reads has its wait already (`crate::waits`); where that leaves some unfinished,
//! what the loop makes is waited for behind it.

use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, ValueId};

use crate::emit::Emit;
use crate::walk::preorder;

/// Puts waits behind the products of a function.
pub(crate) fn wait_for_products(out: &mut Module, func: OpId) {
    let mut blocks: Vec<BlockId> = out.entry(func, 0).into_iter().collect();
    for op in preorder(out, func) {
        if matches!(out.ops[op].opcode, Opcode::For | Opcode::If | Opcode::While) {
            let regions = out.ops[op].regions.clone();
            blocks.extend(regions.into_iter().flat_map(|r| out.regions[r].blocks.clone()));
        }
    }
    for block in blocks {
        wait_in_block(out, block);
    }
}

/// A product of the block under way.
struct Issued {
    result: ValueId,
    /// Products issued up to it, itself included.
    number: u64,
}

fn wait_in_block(out: &mut Module, block: BlockId) {
    let mut flying: Vec<Issued> = Vec::new();
    let mut count = 0;
    for op in out.blocks[block].ops.clone() {
        let opcode = out.ops[op].opcode;
        let read: Vec<ValueId> = match opcode {
            Opcode::MmaWait => Vec::new(),
            // The accumulator is handed on unfinished.
            Opcode::Dot => out.ops[op].operands.iter().copied().take(2).collect(),
            _ => preorder(out, op).iter().flat_map(|&op| out.ops[op].operands.clone()).collect(),
        };
        // Who comes to a meeting, or gives slots back, says that it has left them.
        let meets = matches!(opcode, Opcode::BarrierSync | Opcode::ConsumerRelease);
        if let Some(last) = flying.iter().rposition(|f| meets || read.contains(&f.result)) {
            let done: Vec<Issued> = flying.drain(..=last).collect();
            let pending = done.last().map_or(0, |f| count - f.number);
            let results: Vec<ValueId> = done.iter().map(|f| f.result).collect();
            wait(out, op, 0, &results, pending);
        }
        match opcode {
            Opcode::Dot => {
                count += 1;
                // Who waits for the accumulator waits for what was added up before.
                let into = out.ops[op].operands.get(2).copied();
                flying.retain(|f| Some(f.result) != into);
                flying.extend(out.result(op).map(|result| Issued { result, number: count }));
            }
            Opcode::MmaWait => flying.retain(|f| !out.ops[op].operands.contains(&f.result)),
            Opcode::For => behind(out, op),
            _ => {}
        }
    }
}

/// Waits for values so many operations behind another one; everything else reads them through the wait.
fn wait(out: &mut Module, at: OpId, further: usize, values: &[ValueId], pending: u64) {
    let (Some(block), loc) = (out.ops[at].block, out.ops[at].loc) else { return };
    let Some(position) = out.blocks[block].ops.iter().position(|&op| op == at) else { return };
    let rest = out.blocks[block].ops.split_off(position + further);
    let waited = Emit { out, block, loc }.mma_wait(values, pending);
    out.blocks[block].ops.extend(rest);
    let own = waited.first().and_then(|&v| out.def_op(v));
    for (&value, &behind) in values.iter().zip(&waited) {
        out.replace_all_uses(value, behind);
        if let Some(own) = own {
            out.replace_uses_below(own, behind, value);
        }
    }
}

/// What a loop leaves unfinished is waited for behind it.
fn behind(out: &mut Module, scf_for: OpId) {
    let yields = out.entry(scf_for, 0).and_then(|body| out.terminator(body));
    let Some(yielded) = yields.map(|y| out.ops[y].operands.clone()) else { return };
    let unfinished = |value: ValueId| {
        let wait = out.def_op(value).filter(|&op| out.ops[op].opcode == Opcode::MmaWait);
        wait.is_some_and(|op| out.attr(op, "pending").and_then(Attr::as_i64) != Some(0))
    };
    let results = out.ops[scf_for].results.iter().zip(&yielded);
    let open: Vec<ValueId> = results.filter(|&(_, &value)| unfinished(value)).map(|(&r, _)| r).collect();
    if !open.is_empty() {
        wait(out, scf_for, 1, &open, 0);
    }
}
