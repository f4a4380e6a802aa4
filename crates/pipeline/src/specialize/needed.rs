//! What a partition must compute: the values that its copies, products and stores are made from.

use std::collections::BTreeSet;

use warploom_ir::{Module, OpId, Opcode, ValueDef, ValueId};

use crate::loops::PartitionRole;
use crate::select::{AccumulatorKind, Selection};
use crate::sets::IdSet;
use crate::walk::preorder;

/// The values and the control flow that a partition needs.
#[derive(Clone, Debug, Default)]
pub(super) struct Needed {
    pub values: IdSet<ValueId>,
    /// Loops and branches around what the partition does.
    pub control: BTreeSet<OpId>,
}

impl Needed {
    /// What the partition of a role needs in a function.
    pub fn of(module: &Module, selection: &Selection, role: PartitionRole) -> Needed {
        let (func, accumulators) = (selection.func, &selection.accumulators);
        let mut needed = Needed::default();
        let mut roots: Vec<ValueId> = Vec::new();
        for op in preorder(module, func) {
            let acts = match module.ops[op].opcode {
                Opcode::DescriptorLoad => role == PartitionRole::Load,
                // Its operands are slots.
                Opcode::Dot | Opcode::DotBlockScaled if role == PartitionRole::Mma => {
                    needed.around(module, op, &mut roots);
                    false
                }
                Opcode::DescriptorStore | Opcode::Store | Opcode::AtomicRmw => role == PartitionRole::Math,
                _ => false,
            };
            if acts {
                roots.extend(module.ops[op].operands.iter().copied());
                // What an atomic operation found is made with it, wanted or not.
                if module.ops[op].opcode == Opcode::AtomicRmw {
                    roots.extend(module.ops[op].results.iter().copied());
                }
                needed.around(module, op, &mut roots);
            }
        }
        if role == PartitionRole::Math {
            // Whether an accumulator was written at all is a matter of its loop's bounds.
            roots.extend(
                accumulators.iter().flat_map(|s| module.ops[s.scf_for].operands.iter().copied().take(2)),
            );
            needed.tensor(module, selection, &mut roots);
        }
        needed.close(module, role, roots, selection);
        needed
    }

    /// What the computing partition writes into tensor memory, and the products that it reads there.
    fn tensor(&mut self, module: &Module, selection: &Selection, roots: &mut Vec<ValueId>) {
        for operand in &selection.operands {
            let dot = selection.dots.get(operand.dot);
            dot.into_iter().for_each(|d| self.around(module, d.op, roots));
            roots.push(operand.value);
        }
        for (index, accumulator) in selection.accumulators.iter().enumerate() {
            if accumulator.kind != AccumulatorKind::Plain {
                let dot = selection.dots.get(accumulator.dot);
                dot.into_iter().for_each(|d| self.around(module, d.op, roots));
            }
            let (AccumulatorKind::Scaled { scaled, .. }, Some(at)) = (accumulator.kind, accumulator.at)
            else {
                continue;
            };
            roots.push(scaled);
            // The first loop that adds to it starts it.
            if accumulator.home == index {
                roots.extend(module.ops[accumulator.scf_for].operands.get(3 + at));
            }
        }
    }

    /// The loops and branches around an operation, with their bounds and conditions.
    fn around(&mut self, module: &Module, op: OpId, roots: &mut Vec<ValueId>) {
        let mut at = module.parent(op);
        while let Some(parent) = at.filter(|&p| module.ops[p].opcode != Opcode::Func) {
            let count = if module.ops[parent].opcode == Opcode::For { 3 } else { 1 };
            roots.extend(module.ops[parent].operands.iter().copied().take(count));
            self.control.insert(parent);
            at = module.parent(parent);
        }
    }

    /// Everything that values are computed from, round loops and out of branches.
    fn close(
        &mut self,
        module: &Module,
        role: PartitionRole,
        mut stack: Vec<ValueId>,
        selection: &Selection,
    ) {
        let accumulators = &selection.accumulators;
        let accumulator =
            |op: OpId, at: usize| accumulators.iter().any(|s| s.scf_for == op && s.at == Some(at));
        let tensor = !accumulators.is_empty();
        while let Some(value) = stack.pop() {
            if !self.values.insert(value) {
                continue;
            }
            match module.values[value].def {
                ValueDef::Result { op, index } => match module.ops[op].opcode {
                    // An accumulator is read out of tensor memory.
                    Opcode::For if accumulator(op, index as usize) => {}
                    Opcode::For => stack.extend(carried(module, op, index as usize)),
                    Opcode::If => stack.extend(chosen(module, op, index as usize)),
                    // The other partition computes the coordinates of copies.
                    Opcode::DescriptorLoad if role == PartitionRole::Math => {}
                    // The issuing partition computes products, tensor memory has them.
                    Opcode::Dot | Opcode::DotBlockScaled if role == PartitionRole::Math && tensor => {}
                    _ => stack.extend(operands(module, op)),
                },
                ValueDef::Argument { block, index } => {
                    let owner = module.blocks[block].region.and_then(|r| module.regions[r].parent);
                    match owner.filter(|&op| module.ops[op].opcode == Opcode::For) {
                        Some(op) if index > 0 && accumulator(op, index as usize - 1) => {}
                        Some(op) if index > 0 => stack.extend(carried(module, op, index as usize - 1)),
                        Some(op) => stack.extend(module.ops[op].operands.iter().copied().take(3)),
                        None => {}
                    }
                }
            }
        }
    }
}

/// Values from elsewhere that an operation reads, those read inside its regions included, in the order of the text.
pub(super) fn operands(module: &Module, op: OpId) -> Vec<ValueId> {
    if module.ops[op].regions.is_empty() {
        return module.ops[op].operands.to_vec();
    }
    let inside: Vec<OpId> = preorder(module, op);
    let made: BTreeSet<OpId> = inside.iter().copied().filter(|&o| o != op).collect();
    let local = |value: ValueId| match module.values[value].def {
        ValueDef::Result { op, .. } => made.contains(&op),
        ValueDef::Argument { block, .. } => {
            let owner = module.blocks[block].region.and_then(|r| module.regions[r].parent);
            owner.is_some_and(|o| o == op || made.contains(&o))
        }
    };
    inside.iter().flat_map(|&o| module.ops[o].operands.iter().copied()).filter(|&v| !local(v)).collect()
}

/// What the loop-carried value number `index` of an `scf.for` depends on: bounds, first and next value.
fn carried(module: &Module, scf_for: OpId, index: usize) -> Vec<ValueId> {
    let operands = &module.ops[scf_for].operands;
    let body = module.entry(scf_for, 0);
    let yielded = body.and_then(|body| module.terminator(body));
    let next = yielded.and_then(|y| module.ops[y].operands.get(index).copied());
    let argument = body.and_then(|body| module.blocks[body].args.get(index + 1).copied());
    let first = operands.get(index + 3).copied();
    operands.iter().copied().take(3).chain(first).chain(next).chain(argument).collect()
}

/// What result number `index` of an `scf.if` depends on: the condition, and what the branches yield.
fn chosen(module: &Module, scf_if: OpId, index: usize) -> Vec<ValueId> {
    let branches = (0..module.ops[scf_if].regions.len()).filter_map(|r| module.entry(scf_if, r));
    let yields = branches.filter_map(|b| module.terminator(b));
    let values = yields.filter_map(|y| module.ops[y].operands.get(index).copied());
    module.ops[scf_if].operands.iter().copied().take(1).chain(values).collect()
}
