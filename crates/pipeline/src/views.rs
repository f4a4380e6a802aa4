//! Transposes and reshapes that move nothing: other ways to look at a tile (C8).

use warploom_ir::{Attr, Module, OpId, Opcode, ValueId};

/// A tile seen through views.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Seen {
    /// The value behind all views.
    pub base: ValueId,
    /// The view operations, outermost (last applied) first.
    pub views: Vec<OpId>,
    /// Extents other than 1 of the base, in the order in which the viewer sees them: positions in the list
    /// of the base's non-unit extents.
    pub order: Vec<usize>,
}

impl Seen {
    /// Whether the viewer sees rows and columns swapped.
    pub fn transposed(&self) -> bool {
        self.order == [1, 0]
    }

    /// Whether the viewer sees the base as it is.
    pub fn plain(&self) -> bool {
        self.order.iter().enumerate().all(|(at, &dim)| at == dim)
    }
}

/// Follows transposes and unit-extent reshapes from a value back to what they look at.
pub(crate) fn look_through(module: &Module, value: ValueId) -> Seen {
    let mut views = Vec::new();
    let mut base = value;
    while let Some(op) = module.def_op(base).filter(|&op| view_dims(module, op).is_some()) {
        let Some(&from) = module.ops[op].operands.first() else { break };
        views.push(op);
        base = from;
    }
    let rank = non_unit(module.ty(base).shape()).len();
    let mut order: Vec<usize> = (0..rank).collect();
    for &op in views.iter().rev() {
        if let Some(dims) = view_dims(module, op) {
            order = dims.iter().filter_map(|&d| order.get(d).copied()).collect();
        }
    }
    Seen { base, views, order }
}

/// A tile whose elements, row by row, are those of a value, and the reshapes between them, the last first.
pub(crate) fn reshapes(module: &Module, value: ValueId) -> (ValueId, Vec<OpId>) {
    let (mut base, mut views) = (value, Vec::new());
    while let Some(op) = module.def_op(base).filter(|&op| module.ops[op].opcode == Opcode::Reshape) {
        let Some(&from) = module.ops[op].operands.first() else { break };
        views.push(op);
        base = from;
    }
    (base, views)
}

/// What is stored row by row in place of a tile: of tiles of the same rows, one behind the other, the matrix that reshapes
/// made them of, else the tile itself.
pub(crate) fn rows_of(module: &Module, value: ValueId) -> ValueId {
    let shape = module.ty(value).shape();
    let mut at = value;
    while let Some(op) = module.def_op(at).filter(|&op| module.ops[op].opcode == Opcode::Reshape) {
        let Some(&from) = module.ops[op].operands.first() else { break };
        at = from;
        if non_unit(module.ty(at).shape()).len() <= 2 && module.ty(at).shape().last() == shape.last() {
            return at;
        }
    }
    value
}

/// For a view: which non-unit extent of its operand each non-unit extent of its result is. `None` for
/// operations that are not views.
fn view_dims(module: &Module, op: OpId) -> Option<Vec<usize>> {
    let data = &module.ops[op];
    let from = module.ty(*data.operands.first()?).shape();
    let to = module.ty(*data.results.first()?).shape();
    match data.opcode {
        Opcode::Reshape if non_unit(from) == non_unit(to) => Some((0..non_unit(to).len()).collect()),
        Opcode::Trans => {
            let order = permutation(module.attr(op, "order")?)?;
            // Number the non-unit extents of the operand, then read the numbers off in the new order.
            let mut number = vec![None; from.len()];
            let mut next = 0usize;
            for (slot, &extent) in number.iter_mut().zip(from) {
                if extent != 1 {
                    *slot = Some(next);
                    next += 1;
                }
            }
            let dims: Option<Vec<Option<usize>>> = order.iter().map(|&d| number.get(d).copied()).collect();
            Some(dims?.into_iter().flatten().collect())
        }
        _ => None,
    }
}

fn permutation(attr: &Attr) -> Option<Vec<usize>> {
    match attr {
        Attr::DenseArray { values, .. } => values.iter().map(|&v| usize::try_from(v).ok()).collect(),
        _ => None,
    }
}

/// Extents other than 1.
pub(crate) fn non_unit(shape: &[u64]) -> Vec<u64> {
    shape.iter().copied().filter(|&extent| extent != 1).collect()
}
