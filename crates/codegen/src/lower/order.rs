//! The order of a program's text: where operations stand, and where values are used last.

use warploom_ir::{Module, OpId, Opcode, SecondaryMap, ValueId};

/// Positions of operations in the order of the text, and of the last user of each value that needs it in
/// registers.
pub(super) fn positions(
    module: &Module,
    func: OpId,
) -> (SecondaryMap<OpId, u32>, SecondaryMap<ValueId, u32>) {
    let (mut position, mut last_use) = (SecondaryMap::new(), SecondaryMap::new());
    let mut next = 0u32;
    let mut stack = vec![func];
    while let Some(op) = stack.pop() {
        next = next.saturating_add(1);
        position[op] = next;
        for &operand in &module.ops[op].operands {
            if !reads_in_place(module, op, operand) {
                last_use[operand] = next;
            }
        }
        for &region in module.ops[op].regions.iter().rev() {
            for &block in module.regions[region].blocks.iter().rev() {
                stack.extend(module.blocks[block].ops.iter().rev());
            }
        }
    }
    (position, last_use)
}

/// Whether the operation takes the operand from shared memory itself, without registers between.
fn reads_in_place(module: &Module, op: OpId, operand: ValueId) -> bool {
    let opcode = |op| module.ops[op].opcode;
    let view = module.def_op(operand).map(opcode);
    matches!(opcode(op), Opcode::Dot | Opcode::Mma | Opcode::MmaBlockScaled | Opcode::Trans)
        && matches!(view, Some(Opcode::Slot | Opcode::Trans))
}
