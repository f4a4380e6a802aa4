//! Along which dimension of the matrices a vector runs: `tensor<Mxf32>` has an element for every row, or for
//! every column.
//!
//! A vector that is computed where it is used needs no answer; one that stays in registers does, and those are
//! the results of reductions and what loops and conditionals carry. Values that must agree are joined:
//! operands and results of element-wise operations, and what a loop carries. Reductions and `tt.expand_dims`
//! say which dimension it is. Where nothing says it, either will do: the layout takes the one it likes better.

use hashbrown::HashMap;
use petgraph::unionfind::UnionFind;
use warploom_ir::{Attr, EntityRef, Module, OpId, Opcode, ValueId};

use crate::family::Axis;

/// The dimension of every vector.
#[derive(Debug, Default)]
pub(crate) struct Axes {
    of: HashMap<ValueId, Axis>,
}

/// Vectors that run along the same dimension: each has its own number.
struct Joined(UnionFind<usize>);

impl Joined {
    fn root(&self, value: ValueId) -> usize {
        self.0.find(value.index())
    }

    fn join(&mut self, a: ValueId, b: ValueId) {
        self.0.union(a.index(), b.index());
    }
}

impl Axes {
    /// Looks at every vector of a function.
    pub fn new(module: &Module, func: OpId) -> Axes {
        let mut joined = Joined(UnionFind::new(module.values.len()));
        let mut said: Vec<(ValueId, Axis)> = Vec::new();
        let mut vectors: Vec<ValueId> = Vec::new();
        let mut stack = vec![func];
        while let Some(op) = stack.pop() {
            look(module, op, &mut joined, &mut said);
            vectors.extend(module.ops[op].results.iter().filter(|&&v| is_vector(module, v)));
            for &region in &module.ops[op].regions {
                for &block in &module.regions[region].blocks {
                    vectors.extend(module.blocks[block].args.iter().filter(|&&v| is_vector(module, v)));
                    stack.extend(module.blocks[block].ops.iter().rev());
                }
            }
        }
        let mut roots: HashMap<usize, Axis> = HashMap::new();
        for (value, axis) in said {
            roots.entry(joined.root(value)).or_insert(axis);
        }
        let of = |value: ValueId| Some((value, *roots.get(&joined.root(value))?));
        Axes { of: vectors.into_iter().filter_map(of).collect() }
    }

    /// The dimension a vector runs along, where anything says it.
    pub fn of(&self, value: ValueId) -> Option<Axis> {
        self.of.get(&value).copied()
    }
}

fn is_vector(module: &Module, value: ValueId) -> bool {
    module.ty(value).shape().len() == 1
}

/// Whether a value can be computed at every place, so that it joins nothing.
fn is_free(module: &Module, value: ValueId) -> bool {
    let free = |op| matches!(module.ops[op].opcode, Opcode::Constant | Opcode::Splat | Opcode::MakeRange);
    module.def_op(value).is_some_and(free)
}

/// What one operation says.
fn look(module: &Module, op: OpId, joined: &mut Joined, said: &mut Vec<(ValueId, Axis)>) {
    let operation = &module.ops[op];
    let axis = || module.attr(op, "axis").and_then(Attr::as_i64);
    let mut join = |a: ValueId, b: ValueId| {
        let both = is_vector(module, a) && is_vector(module, b);
        if both && !is_free(module, a) && !is_free(module, b) {
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
                said.push((source, if axis == 0 { Axis::Col } else { Axis::Row }));
            }
        }
        Opcode::Reshape => {
            if let (&[source], &[result]) = (operation.operands.as_slice(), operation.results.as_slice()) {
                for (vector, matrix) in [(source, result), (result, source)] {
                    match module.ty(matrix).shape() {
                        [.., _, 1] if is_vector(module, vector) => said.push((vector, Axis::Row)),
                        [.., 1, _] if is_vector(module, vector) => said.push((vector, Axis::Col)),
                        _ => {}
                    }
                }
            }
        }
        Opcode::Reduce => {
            let rank = operation.operands.first().map_or(0, |&v| module.ty(v).shape().len());
            let last = axis().is_some_and(|axis| usize::try_from(axis) == Ok(rank.wrapping_sub(1)));
            for &result in operation.results.iter().filter(|&&v| is_vector(module, v)) {
                said.push((result, if last { Axis::Row } else { Axis::Col }));
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
