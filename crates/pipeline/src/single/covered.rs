//! Tiles that lanes hold, and those that they make wherever they are wanted (C8, C61).

use std::collections::BTreeSet;

use warploom_ir::{Attr, Category, Module, OpId, Opcode, ValueId};

use super::slice::{pointer_step, yielded};
use crate::views::non_unit;
use crate::walk::{Users, preorder};

/// Rows of the tiles that lanes must hold in the layout of their partition.
pub(super) struct Held {
    rows: BTreeSet<u64>,
}

impl Held {
    /// Those that go round loops and out of branches, those that are folded, and those that are stored.
    pub fn of(module: &Module, func: OpId) -> Held {
        let (mut rows, users) = (BTreeSet::new(), Users::new(module));
        for op in preorder(module, func) {
            let data = &module.ops[op];
            let values: Vec<ValueId> = match data.opcode {
                Opcode::For => {
                    let kept = |&(at, _): &(usize, &ValueId)| !is_moved(module, op, at);
                    data.results.iter().enumerate().filter(kept).map(|(_, &v)| v).collect()
                }
                Opcode::If | Opcode::While => data.results.to_vec(),
                Opcode::Reduce | Opcode::Scan => data.operands.to_vec(),
                Opcode::Store | Opcode::DescriptorStore | Opcode::AtomicRmw => {
                    data.operands.iter().copied().filter(|&v| module.ty(v).is_tensor()).collect()
                }
                _ => continue,
            };
            rows.extend(values.iter().filter_map(|&v| match *non_unit(module.ty(v).shape()).as_slice() {
                [rows, _] => Some(rows),
                [extent] if runs_down(module, &users, v) => Some(extent),
                _ => None,
            }));
        }
        Held { rows }
    }

    /// More of them.
    pub fn extend(&mut self, rows: Vec<u64>) {
        self.rows.extend(rows);
    }

    /// Whether lanes that hold so many rows at once hold them all.
    pub fn by(&self, height: u64) -> bool {
        self.rows.iter().all(|rows| rows.is_multiple_of(height))
    }
}

/// Whether a loop carries pointers that move by the same everywhere: they become a number.
fn is_moved(module: &Module, scf_for: OpId, at: usize) -> bool {
    let Some(body) = module.entry(scf_for, 0) else { return false };
    pointer_step(module, scf_for, body, at).is_some() && yielded(module, body, at).is_some()
}

/// Whether a vector lies along the rows of matrices, as one does of which nothing says otherwise. Its ways to and from
/// matrices tell, through arithmetic.
fn runs_down(module: &Module, users: &Users, value: ValueId) -> bool {
    let (mut stack, mut seen, mut across) = (vec![value], BTreeSet::new(), false);
    let axis = |op: OpId| module.attr(op, "axis").and_then(Attr::as_i64);
    while let Some(value) = stack.pop() {
        if non_unit(module.ty(value).shape()).len() != 1 || !seen.insert(value) {
            continue;
        }
        let maker = module.def_op(value);
        for op in maker.into_iter().chain(users.of(value).iter().copied()) {
            match (module.ops[op].opcode, axis(op)) {
                (Opcode::ExpandDims, Some(1)) => return true,
                (Opcode::ExpandDims, Some(0)) => across = true,
                (Opcode::Reduce, Some(0)) if maker == Some(op) => across = true,
                (opcode, _) if opcode.is_elementwise() => {
                    stack.extend(module.ops[op].operands.iter().chain(&module.ops[op].results).copied());
                }
                _ => {}
            }
        }
    }
    !across
}

/// Whether a tile can be made in any layout: loads, constants and arithmetic on them, nothing that lanes hold.
pub(super) fn is_free(module: &Module, value: ValueId) -> bool {
    let (mut stack, mut seen) = (vec![value], BTreeSet::new());
    while let Some(value) = stack.pop() {
        if !module.ty(value).is_tensor() || !seen.insert(value) {
            continue;
        }
        let Some(op) = module.def_op(value) else { return false };
        let data = &module.ops[op];
        let facts = data.opcode.facts();
        let made = match data.opcode {
            Opcode::Gather | Opcode::Reshape | Opcode::Cat => false,
            Opcode::Load => true,
            opcode => matches!(facts.category, Category::Source | Category::View) || opcode.is_elementwise(),
        };
        if !made || !data.regions.is_empty() {
            return false;
        }
        stack.extend(&data.operands);
    }
    true
}
