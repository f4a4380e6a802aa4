//! Along which dimension of the matrices a vector runs: `tensor<Mxf32>` has an element for every row, or for
//! every column.
//!
//! A vector that is computed where it is used needs no answer; one that stays in registers does, and those are
//! the results of reductions and what loops and conditionals carry. Values that must agree are joined:
//! operands and results of element-wise operations, and what a loop carries. Reductions and `tt.expand_dims`
//! say which dimension it is, the first of them for all that are joined; another one that says otherwise
//! [turns](Vectors::turns) its vector. Where nothing says it, either will do.

use std::collections::{HashMap, HashSet};

use cranelift_entity::EntityRef;

use crate::attr::Attr;
use crate::entity::{OpId, ValueId};
use crate::module::Module;
use crate::opcode::Opcode;

/// A dimension of the matrices. Exhaustive: they have two.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Along {
    /// An element for every row.
    Rows,
    /// An element for every column.
    Columns,
}

/// The dimension of every vector.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Vectors {
    of: HashMap<ValueId, Along>,
    turned: HashSet<OpId>,
}

/// Vectors that run along the same dimension: for each value another one that it is joined to, or itself.
struct Joined(Vec<usize>);

impl Joined {
    fn root(&mut self, value: ValueId) -> usize {
        let mut at = value.index();
        while let Some(&next) = self.0.get(at).filter(|&&next| next != at) {
            // Halves the way for who comes next.
            let further = self.0.get(next).copied().unwrap_or(next);
            if let Some(entry) = self.0.get_mut(at) {
                *entry = further;
            }
            at = next;
        }
        at
    }

    fn join(&mut self, a: ValueId, b: ValueId) {
        let (a, b) = (self.root(a), self.root(b));
        if let Some(entry) = self.0.get_mut(a.max(b)) {
            *entry = a.min(b);
        }
    }
}

impl Vectors {
    /// Looks at every vector of a function.
    pub fn new(module: &Module, func: OpId) -> Vectors {
        let mut joined = Joined((0..module.values.len()).collect());
        let mut said: Vec<(OpId, ValueId, Along)> = Vec::new();
        let mut vectors: Vec<ValueId> = Vec::new();
        let mut free: HashSet<ValueId> = HashSet::new();
        let mut stack = vec![func];
        while let Some(op) = stack.pop() {
            if is_free(module, op, &free) {
                free.extend(module.ops[op].results.iter().copied());
            }
            look(module, op, &free, &mut joined, &mut said);
            vectors.extend(module.ops[op].results.iter().filter(|&&v| is_vector(module, v)));
            for &region in &module.ops[op].regions {
                for &block in &module.regions[region].blocks {
                    vectors.extend(module.blocks[block].args.iter().filter(|&&v| is_vector(module, v)));
                    stack.extend(module.blocks[block].ops.iter().rev());
                }
            }
        }
        let mut roots: HashMap<usize, Along> = HashMap::new();
        let mut turned = HashSet::new();
        for (op, value, along) in said {
            if *roots.entry(joined.root(value)).or_insert(along) != along {
                turned.insert(op);
            }
        }
        let of = vectors.into_iter().filter_map(|value| Some((value, *roots.get(&joined.root(value))?)));
        Vectors { of: of.collect(), turned }
    }

    /// The dimension a vector runs along, where anything says it.
    pub fn of(&self, value: ValueId) -> Option<Along> {
        self.of.get(&value).copied()
    }

    /// Whether an operation says another dimension for its vector than the one it runs along.
    pub fn turns(&self, op: OpId) -> bool {
        self.turned.contains(&op)
    }
}

fn is_vector(module: &Module, value: ValueId) -> bool {
    module.ty(value).shape().len() == 1
}

/// Whether an operation is an index function: its results can be computed at every place, so that they join nothing.
fn is_free(module: &Module, op: OpId, free: &HashSet<ValueId>) -> bool {
    let operation = &module.ops[op];
    match operation.opcode {
        Opcode::Constant | Opcode::Splat | Opcode::MakeRange => true,
        Opcode::ElementwiseInlineAsm | Opcode::ExternElementwise => false,
        opcode if opcode.is_elementwise() || opcode == Opcode::AddPtr => {
            let vectors = || operation.operands.iter().filter(|&&v| module.ty(v).is_tensor());
            vectors().count() > 0 && vectors().all(|v| free.contains(v))
        }
        _ => false,
    }
}

/// What one operation says.
fn look(
    module: &Module,
    op: OpId,
    free: &HashSet<ValueId>,
    joined: &mut Joined,
    said: &mut Vec<(OpId, ValueId, Along)>,
) {
    let operation = &module.ops[op];
    let axis = || module.attr(op, "axis").and_then(Attr::as_i64);
    let mut join = |a: ValueId, b: ValueId| {
        let both = is_vector(module, a) && is_vector(module, b);
        if both && !free.contains(&a) && !free.contains(&b) {
            joined.join(a, b);
        }
    };
    let yielded = |index: usize| {
        let last = module.entry(op, index).and_then(|block| module.terminator(block));
        let last = last.filter(|&t| module.ops[t].opcode == Opcode::Yield);
        last.map(|t| module.ops[t].operands.to_vec()).unwrap_or_default()
    };
    match operation.opcode {
        Opcode::For => {
            let args =
                module.entry(op, 0).map(|block| module.blocks[block].args.to_vec()).unwrap_or_default();
            let args = args.get(1..).unwrap_or_default();
            let inits = operation.operands.get(3..).unwrap_or_default();
            for (n, &result) in operation.results.iter().enumerate() {
                let all = [inits.get(n), args.get(n), yielded(0).get(n)].map(|v| v.copied());
                all.into_iter().flatten().for_each(|value| join(result, value));
            }
        }
        Opcode::If => {
            for (n, &result) in operation.results.iter().enumerate() {
                for index in [0, 1] {
                    yielded(index).get(n).into_iter().for_each(|&value| join(result, value));
                }
            }
        }
        Opcode::While => {
            let args =
                |index| module.entry(op, index).map(|b| module.blocks[b].args.to_vec()).unwrap_or_default();
            let condition = module.entry(op, 0).and_then(|block| module.terminator(block));
            let passed = condition.map(|t| module.ops[t].operands.to_vec()).unwrap_or_default();
            let passed = passed.get(1..).unwrap_or_default();
            for (n, &first) in args(0).iter().enumerate() {
                let all = [operation.operands.get(n), yielded(1).get(n)].map(|v| v.copied());
                all.into_iter().flatten().for_each(|value| join(first, value));
            }
            for (n, &value) in passed.iter().enumerate() {
                let all = [operation.results.get(n), args(1).get(n)].map(|v| v.copied());
                all.into_iter().flatten().for_each(|other| join(value, other));
            }
        }
        Opcode::ExpandDims => {
            if let (&[source], Some(axis)) = (operation.operands.as_slice(), axis())
                && is_vector(module, source)
            {
                said.push((op, source, if axis == 0 { Along::Columns } else { Along::Rows }));
            }
        }
        Opcode::Reshape => {
            if let (&[source], &[result]) = (operation.operands.as_slice(), operation.results.as_slice()) {
                join(source, result);
                for (vector, matrix) in [(source, result), (result, source)] {
                    match module.ty(matrix).shape() {
                        [.., _, 1] if is_vector(module, vector) => said.push((op, vector, Along::Rows)),
                        [.., 1, _] if is_vector(module, vector) => said.push((op, vector, Along::Columns)),
                        _ => {}
                    }
                }
            }
        }
        Opcode::Reduce => {
            let rank = operation.operands.first().map_or(0, |&v| module.ty(v).shape().len());
            let last = axis().is_some_and(|axis| usize::try_from(axis) == Ok(rank.wrapping_sub(1)));
            for &result in operation.results.iter().filter(|&&v| is_vector(module, v)) {
                said.push((op, result, if last { Along::Rows } else { Along::Columns }));
            }
        }
        _ => {
            for &result in &operation.results {
                operation.operands.iter().for_each(|&operand| join(result, operand));
            }
            // Operations without results want their operands at the same places.
            if let [first, rest @ ..] = operation.operands.as_slice()
                && operation.opcode == Opcode::Store
            {
                rest.iter().for_each(|&operand| join(*first, operand));
            }
        }
    }
}
