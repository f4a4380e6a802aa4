//! The normal form of C8 and C9: one block without calls, nothing that nobody uses, loads along rows in memory,
//! loop-invariant scalars outside the loop.
//!
//! Views, index functions and zero accumulators need no rewriting: later steps see through them. Every pass
//! rebuilds whole blocks, so that its time is linear in the size of the kernel.

use warploom_ir::diag::Diagnostics;
use warploom_ir::{BlockId, Module, OpId, Opcode, ValueDef, ValueId};

use crate::classes::{is_scalar, is_speculatable};
use crate::normalize::live::drop_unused;
use crate::normalize::plain::plain;
use crate::orient::orient;
use crate::walk::preorder;

/// A copy of the module in normal form, for the function `entry`.
///
/// # Errors
/// Control flow without structure, and every call that cannot be inlined (C9), in the order of the text.
pub fn normalize(module: &Module, entry: OpId) -> Result<Module, Diagnostics> {
    let mut module = plain(module, entry)?.into_owned();
    drop_unused(&mut module, entry);
    orient(&mut module, entry);
    hoist(&mut module, entry);
    Ok(module)
}

/// Moves operations on scalars, and descriptors that are made, whose operands come from outside out of their loop, innermost loops first.
fn hoist(module: &mut Module, entry: OpId) {
    let loops: Vec<OpId> =
        preorder(module, entry).into_iter().filter(|&op| module.ops[op].opcode == Opcode::For).collect();
    for &scf_for in loops.iter().rev() {
        let (Some(body), Some(home)) = (module.entry(scf_for, 0), module.ops[scf_for].block) else {
            continue;
        };
        let (mut moved, mut kept) = (Vec::new(), Vec::new());
        for op in module.blocks[body].ops.clone() {
            let data = &module.ops[op];
            let single = is_scalar(module, op) || data.opcode == Opcode::MakeTensorDescriptor;
            let movable = single && is_speculatable(module, op);
            if movable && module.ops[op].operands.iter().all(|&v| !belongs_to(module, v, body)) {
                module.ops[op].block = Some(home);
                moved.push(op);
            } else {
                kept.push(op);
            }
        }
        module.blocks[body].ops = kept;
        let list = &mut module.blocks[home].ops;
        let at = list.iter().position(|&op| op == scf_for).unwrap_or(list.len());
        list.splice(at..at, moved);
    }
}

/// Whether a value is an argument of a block or made by an operation directly in it.
fn belongs_to(module: &Module, value: ValueId, body: BlockId) -> bool {
    match module.values[value].def {
        ValueDef::Argument { block, .. } => block == body,
        ValueDef::Result { op, .. } => module.ops[op].block == Some(body),
    }
}
