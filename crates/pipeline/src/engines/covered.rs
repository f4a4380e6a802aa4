//! Tiles that lanes hold, and those that they make wherever they are wanted (C8, C61).

use std::collections::BTreeSet;

use warploom_ir::vectors::{Along, Vectors};
use warploom_ir::{Category, Module, OpId, Opcode, ValueDef, ValueId};

use crate::transports::slice::{pointer_step, yielded};
use crate::views::non_unit;
use crate::walk::preorder;

/// Rows of the tiles that lanes must hold in the layout of their partition.
#[derive(Default)]
pub(crate) struct Held {
    rows: BTreeSet<u64>,
}

impl Held {
    /// Those that go round loops and out of branches, those that are folded, and those that are stored.
    pub fn of(module: &Module, func: OpId) -> Held {
        let (mut rows, vectors) = (BTreeSet::new(), Vectors::new(module, func));
        for op in preorder(module, func) {
            let data = &module.ops[op];
            let values: Vec<ValueId> = match data.opcode {
                Opcode::For => {
                    let kept = |&(at, _): &(usize, &ValueId)| !is_moved(module, op, at);
                    data.results.iter().enumerate().filter(kept).map(|(_, &v)| v).collect()
                }
                Opcode::If | Opcode::While => data.results.to_vec(),
                Opcode::Reduce | Opcode::Scan => data.operands.to_vec(),
                // Lanes write what they hold, wherever it goes; what they make anywhere they make there.
                Opcode::Store => data.operands.iter().filter_map(|&v| held_by(module, v)).collect(),
                Opcode::DescriptorStore | Opcode::AtomicRmw | Opcode::AtomicStore => {
                    data.operands.iter().copied().filter(|&v| module.ty(v).is_tensor()).collect()
                }
                _ => continue,
            };
            rows.extend(values.iter().filter_map(|&v| match *non_unit(module.ty(v).shape()).as_slice() {
                [rows, _] => Some(rows),
                // A vector lies along the rows where nothing says otherwise.
                [extent] if vectors.of(v) != Some(Along::Columns) => Some(extent),
                _ => None,
            }));
        }
        Held { rows }
    }

    /// More of them.
    pub fn extend(&mut self, rows: impl IntoIterator<Item = u64>) {
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

/// Whether a value is such a pointer in the body of its loop.
fn is_moved_argument(module: &Module, value: ValueId) -> bool {
    let ValueDef::Argument { block, index } = module.values[value].def else { return false };
    let owner = module.blocks[block].region.and_then(|region| module.regions[region].parent);
    let scf_for = owner.filter(|&op| module.ops[op].opcode == Opcode::For && index > 0);
    scf_for.is_some_and(|op| is_moved(module, op, index as usize - 1))
}

/// The tile that lanes hold where another is made of it element by element, turned or not; none where it can be made in any
/// layout.
fn held_by(module: &Module, value: ValueId) -> Option<ValueId> {
    if is_free(module, value) {
        return None;
    }
    let made_of = module.def_op(value).map(|op| &module.ops[op]).filter(|data| {
        data.regions.is_empty() && (data.opcode == Opcode::Trans || data.opcode.is_elementwise())
    });
    let Some(data) = made_of else { return Some(value) };
    let mut held = data.operands.iter().filter(|&&v| !is_free(module, v));
    match (held.next(), held.next()) {
        (Some(&one), None) => held_by(module, one),
        _ => Some(value),
    }
}

/// Whether a tile can be made in any layout: loads, constants and arithmetic on them, nothing that lanes hold.
pub(crate) fn is_free(module: &Module, value: ValueId) -> bool {
    let (mut stack, mut seen) = (vec![value], BTreeSet::new());
    while let Some(value) = stack.pop() {
        if !module.ty(value).is_tensor() || !seen.insert(value) {
            continue;
        }
        let Some(op) = module.def_op(value) else {
            if is_moved_argument(module, value) {
                continue;
            }
            return false;
        };
        let data = &module.ops[op];
        let facts = data.opcode.facts();
        let made = match data.opcode {
            Opcode::Gather | Opcode::Cat => false,
            // Their elements are found by where they stand (G5).
            Opcode::Load | Opcode::Join | Opcode::Split => true,
            opcode => matches!(facts.category, Category::Source | Category::View) || opcode.is_elementwise(),
        };
        if !made || !data.regions.is_empty() {
            return false;
        }
        stack.extend(&data.operands);
    }
    true
}
