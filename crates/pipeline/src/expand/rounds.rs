//! A ring that goes on from one run of its loop to the next: what was filled and read so often is known by (slot,
//! phase), which the loops around carry (C23).

use warploom_ir::{Attr, Module, OpId, Opcode, Type, ValueId};

/// The loops around an operation, innermost first.
fn around(out: &Module, op: OpId) -> Vec<OpId> {
    let mut found = Vec::new();
    let mut at = out.parent(op);
    while let Some(parent) = at {
        if out.ops[parent].opcode == Opcode::For {
            found.push(parent);
        }
        at = out.parent(parent);
    }
    found
}

/// The (slot, phase) that a loop starts with: 0, or what the loops around it carry from now on.
pub(crate) fn enter(out: &mut Module, scf_for: OpId) -> Option<[ValueId; 2]> {
    let loops = around(out, scf_for);
    let outermost = *loops.last().unwrap_or(&scf_for);
    let (block, loc) = (out.ops[outermost].block?, out.ops[scf_for].loc);
    let zero = out.create_op(Opcode::Constant, &[], &[Type::I32], loc);
    out.ops[zero].props.set("value", Attr::i32(0));
    match out.blocks[block].ops.iter().position(|&op| op == outermost) {
        Some(at) => out.insert(block, at, zero),
        // The loop has been taken out of its block already, which ends where it stood.
        None => out.append(block, zero),
    }
    let zero = out.result(zero)?;
    let mut iterator = [zero, zero];
    for &outer in loops.iter().rev() {
        out.ops[outer].operands.extend(iterator);
        let body = out.entry(outer, 0)?;
        iterator = [out.add_arg(body, Type::I32, loc), out.add_arg(body, Type::I32, loc)];
    }
    Some(iterator)
}

/// Hands the (slot, phase) behind a loop to the loops around it.
pub(crate) fn leave(out: &mut Module, scf_for: OpId, mut iterator: [ValueId; 2]) -> Option<()> {
    for outer in around(out, scf_for) {
        let yielded = out.terminator(out.entry(outer, 0)?)?;
        out.ops[yielded].operands.extend(iterator);
        iterator = [out.add_result(outer, Type::I32), out.add_result(outer, Type::I32)];
    }
    Some(())
}
