//! Loops, conditions and reductions: bodies are closures.

use super::Builder;
use crate::attr::{Attr, AttrDict};
use crate::entity::{BlockId, OpId, ValueId};
use crate::opcode::Opcode;
use crate::types::{Shape, Type};

impl Builder {
    /// Runs `body` with a block at hand.
    fn inside<R>(&mut self, block: BlockId, body: impl FnOnce(&mut Builder) -> R) -> R {
        let outer = std::mem::replace(&mut self.block, block);
        let result = body(self);
        self.block = outer;
        result
    }

    /// A new region of an operation with one block that takes these arguments.
    fn block_of(&mut self, op: OpId, args: &[Type]) -> (BlockId, Vec<ValueId>) {
        let region = self.m.add_region(op);
        let block = self.m.add_block(region);
        let args = args.iter().map(|ty| self.m.add_arg(block, ty.clone(), self.loc)).collect();
        (block, args)
    }

    /// `scf.yield`; one without values is not written, and so has no location.
    fn finish_block(&mut self, values: &[ValueId]) {
        let op = self.emit(Opcode::Yield, values, &[]);
        if values.is_empty() {
            self.m.ops[op].loc = self.m.unknown_loc();
        }
    }

    /// `scf.for` from `low` to `high` by `step`. The body gets the counter and the carried values, and
    /// returns their next ones; the loop's results are the last.
    pub fn for_loop<const N: usize>(
        &mut self,
        low: ValueId,
        high: ValueId,
        step: ValueId,
        init: [ValueId; N],
        body: impl FnOnce(&mut Builder, ValueId, [ValueId; N]) -> [ValueId; N],
    ) -> [ValueId; N] {
        self.for_loop_with(low, high, step, init, AttrDict::new(), body)
    }

    /// [`Builder::for_loop`] with attributes (C6), as `tt.num_stages`.
    pub fn for_loop_with<const N: usize>(
        &mut self,
        low: ValueId,
        high: ValueId,
        step: ValueId,
        init: [ValueId; N],
        attrs: AttrDict,
        body: impl FnOnce(&mut Builder, ValueId, [ValueId; N]) -> [ValueId; N],
    ) -> [ValueId; N] {
        let carried: Vec<Type> = init.iter().map(|v| self.ty(*v)).collect();
        let operands: Vec<ValueId> = [low, high, step].into_iter().chain(init).collect();
        let op = self.emit(Opcode::For, &operands, &carried);
        self.m.ops[op].attrs = attrs;
        let counter = self.ty(low);
        let (block, args) = self.block_of(op, &[&[counter], carried.as_slice()].concat());
        let mut iter = args.into_iter();
        let counter = iter.next().unwrap_or(low);
        // The block has one argument for each value in `init`.
        let inner = init.map(|v| iter.next().unwrap_or(v));
        self.inside(block, |f| {
            let next = body(f, counter, inner);
            f.finish_block(&next);
        });
        let mut results = self.m.ops[op].results.clone().into_iter();
        init.map(|v| results.next().unwrap_or(v))
    }

    /// `scf.if`: both bodies return the values that the condition chooses between.
    pub fn if_else<const N: usize>(
        &mut self,
        condition: ValueId,
        then: impl FnOnce(&mut Builder) -> [ValueId; N],
        other: impl FnOnce(&mut Builder) -> [ValueId; N],
    ) -> [ValueId; N] {
        let op = self.emit(Opcode::If, &[condition], &[]);
        let (block, _) = self.block_of(op, &[]);
        let chosen = self.inside(block, |f| {
            let values = then(f);
            f.finish_block(&values);
            values
        });
        let (block, _) = self.block_of(op, &[]);
        self.inside(block, |f| {
            let values = other(f);
            f.finish_block(&values);
        });
        chosen.map(|v| {
            let ty = self.ty(v);
            self.m.add_result(op, ty)
        })
    }

    /// `scf.if` without results and without else.
    pub fn if_then(&mut self, condition: ValueId, then: impl FnOnce(&mut Builder)) {
        let op = self.emit(Opcode::If, &[condition], &[]);
        let (block, _) = self.block_of(op, &[]);
        self.inside(block, |f| {
            then(f);
            f.finish_block(&[]);
        });
        self.m.add_region(op);
    }

    /// `tt.reduce` of a tile along a dimension: the body combines two elements. A tile of rank 1 gives a
    /// scalar.
    pub fn reduce(
        &mut self,
        x: ValueId,
        axis: usize,
        body: impl FnOnce(&mut Builder, ValueId, ValueId) -> ValueId,
    ) -> ValueId {
        let ty = self.ty(x);
        let elem = ty.elem().clone();
        let mut shape = Shape::from_slice(ty.shape());
        if axis < shape.len() {
            shape.remove(axis);
        }
        let result = if shape.is_empty() { elem.clone() } else { Type::tensor(&shape, elem.clone()) };
        let number = i32::try_from(axis).unwrap_or(i32::MAX);
        let op = self.emit(Opcode::Reduce, &[x], &[result]);
        self.m.ops[op].props.set("axis", Attr::i32(number));
        let (block, args) = self.block_of(op, &[elem.clone(), elem]);
        if let [left, right] = args[..] {
            self.inside(block, |f| {
                let combined = body(f, left, right);
                f.emit(Opcode::ReduceReturn, &[combined], &[]);
            });
        }
        self.m.result(op).unwrap_or(x)
    }
}
