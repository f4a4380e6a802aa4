//! What an agent must compute: the values that its copies, products and stores are made from.

use std::collections::BTreeSet;

use warploom_ir::{Module, OpId, Opcode, ValueDef, ValueId};

use crate::loops::Role;
use crate::select::{Selection, SumKind};
use crate::walk::preorder;

/// The values and the control flow that an agent needs.
#[derive(Clone, Debug, Default)]
pub(super) struct Needed {
    pub values: BTreeSet<ValueId>,
    /// Loops and branches around what the agent does.
    pub control: BTreeSet<OpId>,
}

impl Needed {
    /// What the agent of a role needs in a function.
    pub fn of(module: &Module, selection: &Selection, role: Role) -> Needed {
        let (func, sums) = (selection.func, &selection.sums);
        let mut needed = Needed::default();
        let mut roots: Vec<ValueId> = Vec::new();
        for op in preorder(module, func) {
            let acts = match module.ops[op].opcode {
                Opcode::DescriptorLoad => role == Role::Load,
                // Its operands are slots.
                Opcode::Dot if role == Role::Mma => {
                    needed.around(module, op, &mut roots);
                    false
                }
                Opcode::DescriptorStore | Opcode::Store | Opcode::AtomicRmw => role == Role::Math,
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
        if role == Role::Math {
            // Whether a sum was written at all is a matter of its loop's bounds.
            roots.extend(sums.iter().flat_map(|s| module.ops[s.scf_for].operands.iter().copied().take(2)));
            needed.tensor(module, selection, &mut roots);
        }
        needed.close(module, role, roots, selection);
        needed
    }

    /// What the computing agent writes into tensor memory, and the products that it reads there.
    fn tensor(&mut self, module: &Module, selection: &Selection, roots: &mut Vec<ValueId>) {
        for factor in &selection.factors {
            let dot = selection.dots.get(factor.dot);
            dot.into_iter().for_each(|d| self.around(module, d.op, roots));
            roots.push(factor.value);
        }
        for (index, sum) in selection.sums.iter().enumerate() {
            if sum.kind != SumKind::Plain {
                let dot = selection.dots.get(sum.dot);
                dot.into_iter().for_each(|d| self.around(module, d.op, roots));
            }
            let (SumKind::Scaled { scaled, .. }, Some(at)) = (sum.kind, sum.at) else { continue };
            roots.push(scaled);
            // The first loop that adds to it starts it.
            if sum.home == index {
                roots.extend(module.ops[sum.scf_for].operands.get(3 + at));
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
    fn close(&mut self, module: &Module, role: Role, mut stack: Vec<ValueId>, selection: &Selection) {
        let sums = &selection.sums;
        let sum = |op: OpId, at: usize| sums.iter().any(|s| s.scf_for == op && s.at == Some(at));
        let tensor = !sums.is_empty();
        while let Some(value) = stack.pop() {
            if !self.values.insert(value) {
                continue;
            }
            match module.values[value].def {
                ValueDef::Result { op, index } => match module.ops[op].opcode {
                    // A sum is read out of tensor memory.
                    Opcode::For if sum(op, index as usize) => {}
                    Opcode::For => stack.extend(carried(module, op, index as usize)),
                    Opcode::If => stack.extend(chosen(module, op, index as usize)),
                    // The other agent computes the coordinates of copies.
                    Opcode::DescriptorLoad if role == Role::Math => {}
                    // The issuing agent computes products, tensor memory has them.
                    Opcode::Dot if role == Role::Math && tensor => {}
                    _ => stack.extend(operands(module, op)),
                },
                ValueDef::Argument { block, index } => {
                    let owner = module.blocks[block].region.and_then(|r| module.regions[r].parent);
                    match owner.filter(|&op| module.ops[op].opcode == Opcode::For) {
                        Some(op) if index > 0 && sum(op, index as usize - 1) => {}
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
