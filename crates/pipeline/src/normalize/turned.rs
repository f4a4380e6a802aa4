//! Products turned, and what is made of them: arithmetic on what a turned product gives is done on it as it lies, and seen
//! turned itself, as far as what it takes besides can be turned; reductions fold the other dimension (G5, Q25).

use std::collections::{BTreeSet, HashMap};

use warploom_ir::{Attr, Effect, Module, OpId, Opcode, ValueId};

use crate::emit::{flipped, number, place_all, transposition};
use crate::engines::covered::is_free;
use crate::normalize::plain::zero;
use crate::walk::preorder;

/// How far back an operand is followed to turn it.
const DEPTH: usize = 16;

/// Turns these products of a function: `dot a, b, c` becomes `trans (dot (trans b), (trans a), (trans c))`.
pub(super) fn turn(kernel: &mut Module, func: OpId, dots: &BTreeSet<OpId>) {
    let mut turned = Turned { kernel, known: HashMap::new() };
    for op in preorder(turned.kernel, func) {
        let data = &turned.kernel.ops[op];
        let sees = |v: &ValueId| turned.known.contains_key(v);
        match data.opcode {
            Opcode::Dot if dots.contains(&op) => drop(turned.product(op)),
            Opcode::Reduce if data.operands.iter().all(sees) => turned.fold(op),
            opcode if computes(opcode) && data.operands.iter().any(sees) => drop(turned.compute(op)),
            _ => {}
        }
    }
}

/// Whether an operation computes each element of its own, and nothing else: it may be done again.
fn computes(opcode: Opcode) -> bool {
    opcode.is_elementwise() && matches!(opcode.facts().effect, Effect::None | Effect::Divides)
}

/// What is made for one operation.
#[derive(Default)]
struct Made {
    ops: Vec<OpId>,
    /// Values that were turned for it: those that many take are turned once.
    turned: HashMap<ValueId, ValueId>,
}

struct Turned<'a> {
    kernel: &'a mut Module,
    /// Tiles that are seen turned, and what lies there.
    known: HashMap<ValueId, ValueId>,
}

impl Turned<'_> {
    /// One of the products.
    fn product(&mut self, dot: OpId) -> Option<()> {
        let result = self.kernel.result(dot)?;
        let &[a, b, into] = self.kernel.ops[dot].operands.get(..3)? else { return None };
        let mut made = Made::default();
        let operands = [
            self.transposed(dot, b, &mut made)?,
            self.transposed(dot, a, &mut made)?,
            self.turned_sum(dot, into, &mut made)?,
        ];
        self.kernel.ops[dot].operands = operands.into_iter().collect();
        self.place(dot, 0, made)?;
        let lying = flipped(self.kernel.ty(result));
        self.kernel.values[result].ty = lying;
        let mut made = Made::default();
        let seen = self.transposed(dot, result, &mut made)?;
        self.kernel.replace_all_uses(result, seen);
        self.place(dot, 1, made)?;
        self.known.insert(seen, result);
        Some(())
    }

    /// What a product adds to; zeros are made anew.
    fn turned_sum(&mut self, dot: OpId, into: ValueId, made: &mut Made) -> Option<ValueId> {
        if !self.kernel.is_const_zero(into) {
            let turned = self.flip(into, DEPTH, made);
            return turned.or_else(|| self.transposed(dot, into, made));
        }
        let (ty, loc) = (flipped(self.kernel.ty(into)), self.kernel.ops[dot].loc);
        let op = self.kernel.create_op(Opcode::Constant, &[], std::slice::from_ref(&ty), loc);
        self.kernel.ops[op].props.set("value", zero(&ty)?);
        made.ops.push(op);
        self.kernel.result(op)
    }

    /// Puts what was made in front of an operation, or `behind` it.
    fn place(&mut self, op: OpId, behind: usize, made: Made) -> Option<()> {
        let block = self.kernel.ops[op].block?;
        let at = self.kernel.blocks[block].ops.iter().position(|&o| o == op)?;
        place_all(self.kernel, block, at + behind, made.ops);
        Some(())
    }

    /// A reduction of turned tiles folds the other dimension of what lies there.
    fn fold(&mut self, reduce: OpId) {
        let axis = self.kernel.attr(reduce, "axis").and_then(Attr::as_i64);
        let Some(axis @ 0..=1) = axis else { return };
        self.kernel.ops[reduce].props.set("axis", number(1 - axis));
        for operand in &mut self.kernel.ops[reduce].operands {
            *operand = self.known.get(operand).copied().unwrap_or(*operand);
        }
    }

    /// Arithmetic on turned tiles is done as they lie; none where something that it takes cannot be turned.
    fn compute(&mut self, op: OpId) -> Option<()> {
        let old = self.kernel.result(op)?;
        if !self.kernel.ops[op].regions.is_empty() || self.kernel.ops[op].results.len() != 1 {
            return None;
        }
        let mut made = Made::default();
        let operands = self.kernel.ops[op].operands.to_vec();
        let operands =
            operands.into_iter().map(|v| self.flip(v, DEPTH, &mut made)).collect::<Option<Vec<_>>>()?;
        let new = self.like(op, &operands, &mut made)?;
        let seen = self.transposed(op, new, &mut made)?;
        self.place(op, 0, made)?;
        self.kernel.replace_all_uses(old, seen);
        self.kernel.erase(op);
        self.known.insert(seen, new);
        Some(())
    }

    /// A tile turned: what lies there, or what is made anew; `None` where lanes hold it otherwise.
    fn flip(&mut self, value: ValueId, depth: usize, made: &mut Made) -> Option<ValueId> {
        if let Some(&lying) = self.known.get(&value).or_else(|| made.turned.get(&value)) {
            return Some(lying);
        }
        if !self.kernel.ty(value).is_tensor() {
            return Some(value);
        }
        let op = self.kernel.def_op(value).filter(|_| depth > 0)?;
        let data = &self.kernel.ops[op];
        let (opcode, operands) = (data.opcode, data.operands.to_vec());
        let turned = match (opcode, operands.as_slice()) {
            (Opcode::Trans, &[source]) => Some(source),
            (Opcode::ExpandDims, &[vector]) if self.kernel.ty(vector).shape().len() == 1 => {
                let axis @ 0..=1 = self.kernel.attr(op, "axis").and_then(Attr::as_i64)? else { return None };
                let new = self.like(op, &[vector], made)?;
                let stood = self.kernel.def_op(new)?;
                self.kernel.ops[stood].props.set("axis", number(1 - axis));
                Some(new)
            }
            (opcode, _) if computes(opcode) || matches!(opcode, Opcode::Broadcast | Opcode::Splat) => {
                let turned = operands.iter().map(|&v| self.flip(v, depth - 1, made));
                let turned = turned.collect::<Option<Vec<_>>>()?;
                self.like(op, &turned, made)
            }
            _ if is_free(self.kernel, value) => self.transposed(op, value, made),
            _ => None,
        }?;
        made.turned.insert(value, turned);
        Some(turned)
    }

    /// The same operation of other operands, whose result is turned.
    fn like(&mut self, op: OpId, operands: &[ValueId], made: &mut Made) -> Option<ValueId> {
        let data = &self.kernel.ops[op];
        let &[result] = data.results.as_slice() else { return None };
        let (opcode, loc, span) = (data.opcode, data.loc, data.span);
        let (props, attrs) = (data.props.clone(), data.attrs.clone());
        let ty = flipped(self.kernel.ty(result));
        let new = self.kernel.create_op(opcode, operands, &[ty], loc);
        let data = &mut self.kernel.ops[new];
        (data.props, data.attrs, data.span) = (props, attrs, span);
        made.ops.push(new);
        self.kernel.result(new)
    }

    /// A tile seen turned, for this operation.
    fn transposed(&mut self, op: OpId, value: ValueId, made: &mut Made) -> Option<ValueId> {
        let view = transposition(self.kernel, value, self.kernel.ops[op].loc)?;
        made.ops.push(view);
        self.kernel.result(view)
    }
}
