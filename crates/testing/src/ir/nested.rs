//! Operations with regions.

use warploom_ir::{Attr, Opcode, Shape, Type, ValueId};

use super::attrs::{any_dict, any_type};
use super::modules::Maker;

impl Maker<'_, '_> {
    pub(super) fn loop_(&mut self) {
        let Some(bound) = self.pick(|t| matches!(t, Type::Index) || *t == Type::I32) else { return };
        let index = self.m.ty(bound).clone();
        let inits: Vec<ValueId> = (0..self.choices.below(3)).filter_map(|_| self.pick(|_| true)).collect();
        let types: Vec<Type> = inits.iter().map(|v| self.m.ty(*v).clone()).collect();
        let operands = [&[bound, bound, bound], inits.as_slice()].concat();
        let op = self.op(Opcode::For, &operands, &types);
        // The results are not known inside.
        let hidden = self.values.split_off(self.values.len() - types.len());
        let args = [&[index], types.as_slice()].concat();
        self.region(op, &args, |maker| {
            maker.operations();
            maker.end(&types, &inits);
        });
        self.values.extend(hidden);
    }

    /// `scf.yield` of values of these types; `fallback` has some.
    fn end(&mut self, types: &[Type], fallback: &[ValueId]) {
        let mut values = Vec::new();
        for (ty, init) in types.iter().zip(fallback) {
            values.push(self.pick(|t| t == ty).unwrap_or(*init));
        }
        let op = self.op(Opcode::Yield, &values, &[]);
        if self.choices.once_in(2) {
            self.m.ops[op].loc = self.m.unknown_loc();
            self.m.ops[op].attrs = Default::default();
        }
    }

    pub(super) fn condition(&mut self) {
        let Some(condition) = self.pick(|t| *t == Type::I1) else { return };
        let chosen: Vec<ValueId> = (0..self.choices.below(3)).filter_map(|_| self.pick(|_| true)).collect();
        let types: Vec<Type> = chosen.iter().map(|v| self.m.ty(*v).clone()).collect();
        let op = self.op(Opcode::If, &[condition], &types);
        let hidden = self.values.split_off(self.values.len() - types.len());
        let both = !types.is_empty() || self.choices.once_in(2);
        for _ in 0..if both { 2 } else { 1 } {
            self.region(op, &[], |maker| {
                maker.operations();
                maker.end(&types, &chosen);
            });
        }
        if !both {
            self.m.add_region(op);
        }
        self.values.extend(hidden);
    }

    pub(super) fn while_loop(&mut self) {
        let Some(condition) = self.pick(|t| *t == Type::I1) else { return };
        let inits: Vec<ValueId> = (0..self.choices.below(3)).filter_map(|_| self.pick(|_| true)).collect();
        let types: Vec<Type> = inits.iter().map(|v| self.m.ty(*v).clone()).collect();
        let op = self.op(Opcode::While, &inits, &types);
        let hidden = self.values.split_off(self.values.len() - types.len());
        self.region(op, &types, |maker| {
            let passed = [&[condition], inits.as_slice()].concat();
            maker.op(Opcode::Condition, &passed, &[]);
        });
        self.region(op, &types, |maker| {
            maker.operations();
            maker.end(&types, &inits);
        });
        self.values.extend(hidden);
    }

    /// An operation outside the known dialects.
    pub(super) fn unknown(&mut self) {
        let name = self.m.names.push(format!("my.op{}", self.choices.below(3)));
        let operands: Vec<ValueId> = (0..self.choices.below(3)).filter_map(|_| self.pick(|_| true)).collect();
        let results: Vec<Type> = (0..self.choices.below(4)).map(|_| any_type(self.choices, 2)).collect();
        let op = self.op(Opcode::Other(name), &operands, &results);
        self.m.ops[op].props = any_dict(self.choices, 2);
        let hidden = self.values.split_off(self.values.len() - results.len());
        for _ in 0..self.choices.below(3) {
            let args: Vec<Type> = (0..self.choices.below(3)).map(|_| any_type(self.choices, 1)).collect();
            self.region(op, &args, |maker| {
                if maker.choices.once_in(2) {
                    maker.operations();
                }
            });
        }
        self.values.extend(hidden);
    }

    pub(super) fn reduce(&mut self) {
        let Some(x) = self.pick(|t| t.is_tensor() && matches!(t.elem(), Type::Float(_))) else { return };
        let ty = self.m.ty(x).clone();
        let mut shape = Shape::from_slice(ty.shape());
        let axis = self.choices.below(shape.len());
        shape.remove(axis);
        let elem = ty.elem().clone();
        let result = if shape.is_empty() { elem.clone() } else { Type::tensor(&shape, elem.clone()) };
        let op = self.op(Opcode::Reduce, &[x], &[result]);
        self.m.ops[op].props.set("axis", Attr::i32(axis as i32));
        let hidden = self.values.pop();
        self.region(op, &[elem.clone(), elem], |maker| {
            if let [.., a, b] = maker.values[..] {
                let ty = maker.m.ty(a).clone();
                let sum = maker.op(Opcode::AddF, &[a, b], &[ty]);
                let sum = maker.m.ops[sum].results.clone();
                maker.op(Opcode::ReduceReturn, &sum, &[]);
            }
        });
        self.values.extend(hidden);
    }
}
