//! Finding and changing operations of a program, to break it.

use warploom_ir::{Attr, Module, OpId, Opcode, ValueId};

/// Operations of a kind, in the order of the text.
pub fn all(m: &Module, opcode: Opcode) -> Vec<OpId> {
    let func = m.functions().next().unwrap();
    warploom_ir::walk::ops(m, func).filter(|&op| m.ops[op].opcode == opcode).collect()
}

pub fn nth(m: &Module, opcode: Opcode, n: usize) -> OpId {
    all(m, opcode)[n]
}

/// Changes a number that an operation has.
pub fn set(m: &mut Module, op: OpId, name: &str, value: i64) {
    let dict = &mut m.ops[op];
    let dict = if dict.props.contains(name) { &mut dict.props } else { &mut dict.attrs };
    let old = dict.get(name).unwrap_or_else(|| panic!("no attribute {name}"));
    let Attr::Int { ty, .. } = old.clone() else { panic!("{name} is no number") };
    dict.set(name, Attr::Int { value: value.into(), ty });
}

/// Removes an operation; its results become its operands.
pub fn drop_op(m: &mut Module, op: OpId) {
    let pairs: Vec<(ValueId, ValueId)> =
        m.ops[op].results.iter().copied().zip(m.ops[op].operands.iter().copied()).collect();
    for (result, operand) in pairs {
        m.replace_all_uses(result, operand);
    }
    m.detach(op);
}
