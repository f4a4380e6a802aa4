//! Operations that handshakes pass by: they make tiles of registers from tiles of registers, and neither wait nor say
//! anything that a loop or branch could depend on.

use warploom_ir::{Category, Module, OpId, Opcode, SecondaryMap, ValueId};

/// Whether each of these operations is one of those.
pub(super) fn inert(module: &Module, ops: impl Iterator<Item = OpId>) -> SecondaryMap<OpId, bool> {
    let mut found = SecondaryMap::new();
    for op in ops {
        let data = &module.ops[op];
        let in_registers =
            |&v: &ValueId| !module.ty(v).is_tensor() || module.def_op(v).is_some_and(|d| makes(module, d));
        found[op] = makes(module, op)
            && data.results.iter().all(|&result| module.ty(result).is_tensor())
            && data.operands.iter().all(in_registers);
    }
    found
}

/// Whether an operation makes tiles of registers, whatever it reads: transposes and reshapes may be of tiles in slots, and
/// products may be under way.
fn makes(module: &Module, op: OpId) -> bool {
    let opcode = module.ops[op].opcode;
    match opcode.facts().category {
        Category::Integers | Category::Floats | Category::Elements | Category::Source => true,
        Category::Exchange | Category::Reduction | Category::Pointers => true,
        Category::View => !matches!(opcode, Opcode::Trans | Opcode::Reshape),
        _ => false,
    }
}
