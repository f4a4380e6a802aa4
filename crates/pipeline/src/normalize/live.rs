//! What nobody uses is left out (C9): operations without an effect whose results nobody reads, innermost first.

use std::collections::HashSet;

use warploom_ir::{Attr, Effect, Module, OpId, Opcode, SecondaryMap, ValueId, walk};

use crate::walk::preorder;

/// Takes out of a function what has no effect and whose results nobody uses, in time linear in its size for each level of
/// regions.
pub(crate) fn drop_unused(module: &mut Module, func: OpId) {
    let order = preorder(module, func);
    let mut uses: SecondaryMap<ValueId, u32> = SecondaryMap::new();
    for &op in &order {
        for &operand in &module.ops[op].operands {
            uses[operand] += 1;
        }
    }
    // Users stand behind what they use, and regions behind their owner.
    let mut dropped = HashSet::new();
    for &op in order.iter().rev().filter(|&&op| op != func) {
        let unused = module.ops[op].results.iter().all(|&result| uses[result] == 0);
        let left: Vec<OpId> = walk::ops(module, op).filter(|op| !dropped.contains(op)).collect();
        if !unused || !left.iter().all(|&inner| is_harmless(module, op, inner)) {
            continue;
        }
        for inner in left {
            for &operand in &module.ops[inner].operands {
                uses[operand] -= 1;
            }
            dropped.insert(inner);
        }
    }
    let blocks: HashSet<_> = dropped.iter().filter_map(|&op| module.ops[op].block).collect();
    for block in blocks {
        module.blocks[block].ops.retain(|op| !dropped.contains(op));
    }
    for op in dropped {
        module.ops[op].block = None;
    }
}

/// Whether an operation, `owner` or one inside it, does nothing beside its results. A `while` may never end.
fn is_harmless(module: &Module, owner: OpId, op: OpId) -> bool {
    match module.ops[op].opcode.facts().effect {
        Effect::None | Effect::Divides => true,
        Effect::Read => !module.is_volatile(op),
        Effect::Regions => matches!(module.ops[op].opcode, Opcode::For | Opcode::If),
        Effect::Control => op != owner,
        Effect::Foreign => module.attr(op, "pure") == Some(&Attr::Bool(true)),
        _ => false,
    }
}
