//! Walking over operations and values.

use std::collections::BTreeSet;

use warploom_ir::{Module, OpId, Opcode, SecondaryMap, ValueDef, ValueId};

/// All operations inside an operation, in the order of the text, itself first. Iterative: files may nest
/// regions as deep as they like.
pub(crate) fn preorder(module: &Module, root: OpId) -> Vec<OpId> {
    let mut found = Vec::new();
    let mut stack = vec![root];
    while let Some(op) = stack.pop() {
        found.push(op);
        let inner = module.ops[op].regions.iter().flat_map(|&r| &module.regions[r].blocks);
        let ops: Vec<OpId> = inner.flat_map(|&b| module.blocks[b].ops.iter().copied()).collect();
        stack.extend(ops.into_iter().rev());
    }
    found
}

/// Who reads each value.
pub(crate) struct Users {
    map: SecondaryMap<ValueId, Vec<OpId>>,
}

impl Users {
    /// The readers of every value, in arena order; detached operations do not count.
    pub fn new(module: &Module) -> Users {
        let mut map: SecondaryMap<ValueId, Vec<OpId>> = SecondaryMap::new();
        for (op, data) in module.ops.iter().filter(|(_, data)| data.block.is_some()) {
            for &operand in &data.operands {
                if map[operand].last() != Some(&op) {
                    map[operand].push(op);
                }
            }
        }
        Users { map }
    }

    /// The operations that read `value`.
    pub fn of(&self, value: ValueId) -> &[OpId] {
        &self.map[value]
    }

    /// The same through transposes and reshapes, each with the value as it sees it, in arena order.
    pub fn through_views(&self, module: &Module, value: ValueId) -> Vec<(OpId, ValueId)> {
        let (mut found, mut stack) = (Vec::new(), vec![value]);
        while let Some(seen) = stack.pop() {
            for &user in self.of(seen) {
                match module.ops[user].opcode {
                    Opcode::Trans | Opcode::Reshape => stack.extend(module.result(user)),
                    _ => found.push((user, seen)),
                }
            }
        }
        found.sort();
        found
    }
}

/// The values that `roots` are computed from, themselves included, through loops and branches and out of them: what a loop
/// yields and starts from belongs to what it carries, its bounds to everything it makes.
pub(crate) fn slice(module: &Module, roots: &[ValueId]) -> BTreeSet<ValueId> {
    let mut seen = BTreeSet::new();
    let mut stack = roots.to_vec();
    while let Some(value) = stack.pop() {
        if !seen.insert(value) {
            continue;
        }
        match module.values[value].def {
            ValueDef::Result { op, index } if module.ops[op].opcode == Opcode::For => {
                stack.extend(carried(module, op, index as usize));
            }
            ValueDef::Result { op, index } => {
                let branches = (0..module.ops[op].regions.len()).filter_map(|r| module.entry(op, r));
                let yields = branches.filter_map(|branch| module.terminator(branch));
                stack.extend(yields.filter_map(|y| module.ops[y].operands.get(index as usize).copied()));
                stack.extend(module.ops[op].operands.iter().copied());
            }
            ValueDef::Argument { block, index } => {
                let owner = module.blocks[block].region.and_then(|r| module.regions[r].parent);
                match owner.filter(|&op| module.ops[op].opcode == Opcode::For) {
                    Some(op) if index > 0 => stack.extend(carried(module, op, index as usize - 1)),
                    Some(op) => stack.extend(module.ops[op].operands.iter().copied().take(3)),
                    None => {}
                }
            }
        }
    }
    seen
}

/// What the loop-carried value number `index` of an `scf.for` depends on: bounds, first and next value.
fn carried(module: &Module, scf_for: OpId, index: usize) -> Vec<ValueId> {
    let operands = &module.ops[scf_for].operands;
    let yielded = module.entry(scf_for, 0).and_then(|body| module.terminator(body));
    let next = yielded.and_then(|y| module.ops[y].operands.get(index).copied());
    let argument = module.entry(scf_for, 0).and_then(|body| module.blocks[body].args.get(index + 1).copied());
    let first = operands.get(index + 3).copied();
    operands.iter().copied().take(3).chain(first).chain(next).chain(argument).collect()
}
