//! Making scalar and tile arithmetic.

use std::collections::HashMap;

use warploom_ir::{Attr, BlockId, LocId, Module, OpId, Opcode, Type, ValueId};

use crate::emit::{Emit, number};

impl Emit<'_> {
    /// An operation with one result.
    pub(crate) fn value(&mut self, opcode: Opcode, operands: &[ValueId], ty: &Type) -> ValueId {
        let op = self.op(opcode, operands, std::slice::from_ref(ty), &[]);
        self.out.ops[op].results[0]
    }

    /// A tile in a type of as many elements; itself where it has that type.
    pub(crate) fn shaped(&mut self, value: ValueId, ty: &Type) -> ValueId {
        if self.out.ty(value) == ty { value } else { self.value(Opcode::Reshape, &[value], ty) }
    }

    /// An operation with operands and a result of one type.
    pub(crate) fn same(&mut self, opcode: Opcode, a: ValueId, b: ValueId) -> ValueId {
        let ty = self.out.ty(a).clone();
        self.value(opcode, &[a, b], &ty)
    }

    /// A scalar constant of any type.
    pub(crate) fn scalar(&mut self, value: i64, ty: &Type) -> ValueId {
        let attr = match ty {
            &Type::I1 => Attr::Bool(value != 0),
            _ => Attr::Int { value: i128::from(value), ty: ty.clone() },
        };
        let op = self.op(Opcode::Constant, &[], std::slice::from_ref(ty), &[("value", attr)]);
        self.out.ops[op].results[0]
    }

    /// A comparison of scalars or of tiles.
    pub(crate) fn compare(&mut self, predicate: &str, a: ValueId, b: ValueId) -> ValueId {
        self.compared(Opcode::CmpI, predicate, a, b)
    }

    /// A comparison of floats.
    pub(crate) fn compare_floats(&mut self, predicate: &str, a: ValueId, b: ValueId) -> ValueId {
        self.compared(Opcode::CmpF, predicate, a, b)
    }

    fn compared(&mut self, opcode: Opcode, predicate: &str, a: ValueId, b: ValueId) -> ValueId {
        let attr = [("predicate", Attr::Opaque(predicate.to_owned()))];
        let ty = self.out.ty(a).with_elem(Type::I1);
        let op = self.op(opcode, &[a, b], &[ty], &attr);
        self.out.ops[op].results[0]
    }

    /// A scalar everywhere in a tile.
    pub(crate) fn splat(&mut self, scalar: ValueId, shape: &[u64]) -> ValueId {
        let ty = Type::tensor(shape, self.out.ty(scalar).clone());
        self.value(Opcode::Splat, &[scalar], &ty)
    }

    /// A tile repeated along its extents of 1.
    pub(crate) fn broadcast(&mut self, tile: ValueId, shape: &[u64]) -> ValueId {
        if self.out.ty(tile).shape() == shape {
            return tile;
        }
        let ty = Type::tensor(shape, self.out.ty(tile).elem().clone());
        self.value(Opcode::Broadcast, &[tile], &ty)
    }

    /// A matrix with rows and columns exchanged; what is none as it is.
    pub(crate) fn transposed(&mut self, value: ValueId) -> ValueId {
        let Some(op) = transposition(self.out, value, self.loc) else { return value };
        self.out.append(self.block, op);
        self.out.result(op).unwrap_or(value)
    }

    /// A vector as dimension `axis` of a tile of `rank` dimensions, the others 1.
    pub(crate) fn stand(&mut self, vector: ValueId, axis: usize, rank: usize) -> ValueId {
        let mut value = vector;
        for at in (0..rank).filter(|&d| d != axis) {
            let ty = self.out.ty(value).clone();
            let mut shape = ty.shape().to_vec();
            shape.insert(at, 1);
            let ty = Type::tensor(&shape, ty.elem().clone());
            let op = self.op(Opcode::ExpandDims, &[value], &[ty], &[("axis", number(at))]);
            value = self.out.ops[op].results[0];
        }
        value
    }

    /// The numbers `0 .. extent`, as `i32`.
    pub(crate) fn range(&mut self, extent: u64) -> ValueId {
        let props = [("end", number(extent)), ("start", number(0u64))];
        let op = self.op(Opcode::MakeRange, &[], &[Type::tensor(&[extent], Type::I32)], &props);
        self.out.ops[op].results[0]
    }

    /// An integer, or a tile of them, as `i64`.
    pub(crate) fn wide(&mut self, value: ValueId) -> ValueId {
        let ty = self.out.ty(value).clone();
        let scalar = if ty.is_tensor() { ty.elem() } else { &ty };
        if *scalar == Type::I64 {
            return value;
        }
        let to = if ty.is_tensor() { ty.with_elem(Type::I64) } else { Type::I64 };
        self.value(Opcode::ExtSI, &[value], &to)
    }

    /// A tile of pointers moved by the same amount everywhere.
    pub(crate) fn moved(&mut self, tile: ValueId, by: ValueId) -> ValueId {
        let ty = self.out.ty(tile).clone();
        let offsets = ty.with_elem(self.out.ty(by).clone());
        let splat = self.value(Opcode::Splat, &[by], &offsets);
        self.value(Opcode::AddPtr, &[tile, splat], &ty)
    }
}

/// An operation, without a place yet, that sees a matrix with rows and columns exchanged; `None` of what is none.
pub(crate) fn transposition(out: &mut Module, value: ValueId, loc: LocId) -> Option<OpId> {
    let to = flipped(out.ty(value));
    if to.shape().len() != 2 {
        return None;
    }
    let op = out.create_op(Opcode::Trans, &[value], &[to], loc);
    out.ops[op].props.set("order", Attr::DenseArray { elem: Type::I32, values: vec![1, 0] });
    Some(op)
}

/// Gives operations places one behind the other, from one of a block on.
pub(crate) fn place_all(out: &mut Module, block: BlockId, at: usize, ops: Vec<OpId>) {
    for (n, op) in ops.into_iter().enumerate() {
        out.insert(block, at + n, op);
    }
}

/// The type of a matrix with rows and columns exchanged.
pub(crate) fn flipped(ty: &Type) -> Type {
    match ty.shape() {
        &[rows, cols] => Type::tensor(&[cols, rows], ty.elem().clone()),
        _ => ty.clone(),
    }
}

/// A copy of an operation without the marks of earlier stages.
pub(crate) fn clone(out: &mut Module, op: OpId, block: BlockId, map: &mut HashMap<ValueId, ValueId>) {
    let copy = out.clone_op(op, block, map);
    let attrs = &out.ops[copy].attrs;
    let kept = attrs.iter().filter(|(name, _)| !name.starts_with("warploom."));
    out.ops[copy].attrs = kept.map(|(name, attr)| (name, attr.clone())).collect();
}
