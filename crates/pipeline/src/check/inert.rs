//! Operations that handshakes pass by: they make tiles of registers from tiles of registers, and neither wait nor say
//! anything that a loop or branch could depend on.

use warploom_ir::{BlockId, Category, Module, OpId, Opcode, SecondaryMap, ValueId};

/// The others of these operations by the blocks that they stand in, in their order there.
pub(super) fn active(module: &Module, ops: impl Iterator<Item = OpId>) -> SecondaryMap<BlockId, Vec<OpId>> {
    let mut found = SecondaryMap::<BlockId, Vec<OpId>>::new();
    for op in ops.filter(|&op| !is_inert(module, op)) {
        if let Some(block) = module.ops[op].block {
            found[block].push(op);
        }
    }
    found
}

/// Whether an operation is one of those.
fn is_inert(module: &Module, op: OpId) -> bool {
    let data = &module.ops[op];
    let in_registers =
        |&v: &ValueId| !module.ty(v).is_tensor() || module.def_op(v).is_some_and(|d| makes(module, d));
    makes(module, op)
        && data.results.iter().all(|&result| module.ty(result).is_tensor())
        && data.operands.iter().all(in_registers)
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
