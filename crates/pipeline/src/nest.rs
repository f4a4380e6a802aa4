//! Loops around operations.

use warploom_ir::{Module, OpId, Opcode};

use crate::walk::preorder;

/// The pipelined loops of a function (C9): each innermost `scf.for` that loads a tile, in the order of the text.
pub fn pipelined_loops(module: &Module, func: OpId) -> Vec<OpId> {
    let mut loops: Vec<OpId> = Vec::new();
    for op in preorder(module, func) {
        let tile = module.ops[op].results.iter().any(|&v| module.ty(v).is_tensor());
        if !(matches!(module.ops[op].opcode, Opcode::DescriptorLoad | Opcode::Load) && tile) {
            continue;
        }
        loops.extend(innermost_for(module, op).filter(|scf_for| !loops.contains(scf_for)));
    }
    // A loop around another one with tile loads is not pipelined itself.
    let around = |outer: OpId| loops.iter().any(|&inner| inner != outer && is_inside(module, inner, outer));
    loops.iter().copied().filter(|&l| !around(l)).collect()
}

/// The innermost `scf.for` around an operation.
pub(crate) fn innermost_for(module: &Module, op: OpId) -> Option<OpId> {
    let mut at = module.parent(op)?;
    loop {
        match module.ops[at].opcode {
            Opcode::For => return Some(at),
            Opcode::Func => return None,
            _ => at = module.parent(at)?,
        }
    }
}

/// The outermost `scf.for` around an operation.
pub(crate) fn outermost_for(module: &Module, op: OpId) -> Option<OpId> {
    let around = std::iter::successors(module.parent(op), |&at| module.parent(at));
    around.filter(|&at| module.ops[at].opcode == Opcode::For).last()
}

/// How many loops stand around an operation.
pub(crate) fn loops_around(module: &Module, op: OpId) -> u32 {
    let around = std::iter::successors(module.parent(op), |&at| module.parent(at));
    around.filter(|&at| matches!(module.ops[at].opcode, Opcode::For | Opcode::While)).count() as u32
}

/// Whether an operation stands somewhere inside another.
pub(crate) fn is_inside(module: &Module, op: OpId, around: OpId) -> bool {
    let mut at = module.parent(op);
    while let Some(parent) = at {
        if parent == around {
            return true;
        }
        at = module.parent(parent);
    }
    false
}

/// Whether something around an operation repeats it.
pub(crate) fn repeats(module: &Module, op: OpId) -> bool {
    let mut at = module.parent(op);
    while let Some(parent) = at {
        if module.ops[parent].opcode == Opcode::While {
            return true;
        }
        at = module.parent(parent);
    }
    innermost_for(module, op).is_some()
}
