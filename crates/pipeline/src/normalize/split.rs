//! Products of f32 that ask for more bits than tf32 has, and fewer than all: sums of products of parts that tensor cores
//! multiply (C7). `tf32x3` takes two parts of each operand, `bf16x3` two of 8 bits, `bf16x6` three; what is left out is
//! the product of the smallest.
//!
//! Parts are cut off, not rounded: no part of a finite number is infinite, and three of 8 bits are the number. Of an infinite
//! number, or none, the first part is one with its sign, and the last the number itself: it meets first parts alone, so that
//! nothing infinite is multiplied by the zero that an exact number leaves over.

use std::borrow::Cow;
use std::collections::HashMap;

use warploom_ir::{Attr, FloatKind, Module, OpId, Opcode, Type, ValueId};

use crate::emit::{Emit, number};
use crate::normalize::each::each;
use crate::views::look_through;

/// The bits of an f32 that tensor cores read of tf32.
pub(super) const TF32: u64 = 0xffff_e000;

/// Bits of f32 that stand for its sign, and those of one.
const SIGN: u64 = 0x8000_0000;
const ONE: u64 = 0x3f80_0000;
/// The least extents of a product of tensor cores.
const LEAST: u64 = 16;

/// How a product is made of several.
#[derive(Clone, Copy)]
struct Split {
    /// Whether parts are bf16; they are tf32 otherwise.
    narrow: bool,
    /// Parts of each operand.
    parts: usize,
}

impl Split {
    fn of(module: &Module, dot: OpId) -> Option<Split> {
        match module.attr(dot, "inputPrecision").and_then(Attr::as_str)? {
            "tf32x3" => Some(Split { narrow: false, parts: 2 }),
            "bf16x3" => Some(Split { narrow: true, parts: 2 }),
            "bf16x6" => Some(Split { narrow: true, parts: 3 }),
            _ => None,
        }
    }

    /// Bits of f32 that a part keeps.
    fn mask(self) -> u64 {
        if self.narrow { 0xffff_0000 } else { TF32 }
    }

    /// The parts that are multiplied, the smallest products first.
    fn pairs(self) -> Vec<(usize, usize)> {
        let sums = (0..self.parts).rev();
        sums.flat_map(|sum| (0..=sum).rev().map(move |left| (left, sum - left))).collect()
    }
}

/// The module with several products for each such product of matrices in the function `entry`; others are multiplied with
/// all bits.
pub(crate) fn split(module: Cow<'_, Module>, entry: OpId) -> Cow<'_, Module> {
    let product = |module: &Module, op: OpId| {
        let large = module.ops[op].opcode == Opcode::Dot && is_large(module, op);
        large.then(|| Some((op, Split::of(module, op)?))).flatten()
    };
    each(module, entry, product, |module, (dot, split)| {
        rewrite(module, dot, split);
    })
}

/// Whether a product is one of matrices of f32 that tensor cores multiply.
fn is_large(module: &Module, dot: OpId) -> bool {
    let mut operands = module.ops[dot].operands.iter().take(2).map(|&v| module.ty(v));
    operands.all(|ty| {
        *ty.elem() == Type::F32 && ty.shape().len() == 2 && ty.shape().iter().all(|&extent| extent >= LEAST)
    })
}

/// One product, as several in front of what stood behind it.
fn rewrite(module: &mut Module, dot: OpId, split: Split) -> Option<()> {
    let block = module.ops[dot].block?;
    let at = module.blocks[block].ops.iter().position(|&op| op == dot)?;
    let &[a, b, sum] = module.ops[dot].operands.as_slice() else { return None };
    let result = module.result(dot)?;
    let (ty, loc, span) = (module.ty(result).clone(), module.ops[dot].loc, module.ops[dot].span);
    let behind = module.blocks[block].ops.split_off(at + 1);
    module.blocks[block].ops.pop();
    let mut emit = Emit { out: module, block, loc };
    let right = if split.narrow { emit.parts(b, split) } else { emit.columns(b, split) };
    let operands = [emit.parts(a, split), right];
    let mut all = sum;
    if let [Some(left), Some(right)] = operands {
        let precision = Attr::Opaque(if split.narrow { "ieee" } else { "tf32" }.to_owned());
        let most = number(0u64);
        let props = [("inputPrecision", precision), ("maxNumImpreciseAcc", most)];
        for (i, j) in split.pairs() {
            let operands = [*left.get(i)?, *right.get(j)?, all];
            let part = emit.op(Opcode::Dot, &operands, std::slice::from_ref(&ty), &props);
            emit.out.ops[part].span = span;
            all = emit.out.result(part)?;
        }
    }
    module.blocks[block].ops.extend(behind);
    module.replace_all_uses(result, all);
    Some(())
}

impl Emit<'_> {
    /// The parts of an operand, the largest first: the tile behind its views is cut, and each part is seen the same way.
    fn parts(&mut self, operand: ValueId, split: Split) -> Option<Vec<ValueId>> {
        let seen = look_through(self.out, operand);
        let cut = self.cut(seen.base, split);
        cut.into_iter().map(|part| self.seen_as(part, &seen.views)).collect()
    }

    /// The same of B for products of tf32, which want K contiguous: as its columns.
    fn columns(&mut self, operand: ValueId, split: Split) -> Option<Vec<ValueId>> {
        if look_through(self.out, operand).transposed() {
            return self.parts(operand, split);
        }
        let columns = self.turned(operand)?;
        let parts = self.cut(columns, split);
        parts.into_iter().map(|part| self.turned(part)).collect()
    }

    /// These bits of a tile of f32.
    pub(super) fn high(&mut self, tile: ValueId, mask: u64) -> ValueId {
        let ty = self.out.ty(tile).clone();
        let bits = self.value(Opcode::ArithBitcast, &[tile], &ty.with_elem(Type::I32));
        let high = self.with(Opcode::AndI, bits, mask);
        self.value(Opcode::ArithBitcast, &[high], &ty)
    }

    /// A tile of f32 cut into parts.
    fn cut(&mut self, tile: ValueId, split: Split) -> Vec<ValueId> {
        let ty = self.out.ty(tile).clone();
        let whole = ty.with_elem(Type::I32);
        let (mut parts, mut rest) = (Vec::new(), tile);
        for _ in 1..split.parts {
            let high = self.high(rest, split.mask());
            rest = self.same(Opcode::SubF, rest, high);
            parts.push(high);
        }
        // What an infinite number, or none, leaves over is no number.
        let finite = self.compare_floats("ord", rest, rest);
        let bits = self.value(Opcode::ArithBitcast, &[tile], &whole);
        let sign = self.with(Opcode::AndI, bits, SIGN);
        let one = self.with(Opcode::OrI, sign, ONE);
        let one = self.value(Opcode::ArithBitcast, &[one], &ty);
        let none = self.like(tile, 0);
        let mut other = one;
        for part in &mut parts {
            *part = self.value(Opcode::Select, &[finite, *part, other], &ty);
            other = none;
        }
        // A sum of two has high bits of what is no number: tf32 has no others.
        let twice = self.same(Opcode::AddF, tile, tile);
        parts.push(self.value(Opcode::Select, &[finite, rest, twice], &ty));
        if split.narrow {
            let narrow = ty.with_elem(Type::Float(FloatKind::BF16));
            for part in &mut parts {
                *part = self.value(Opcode::TruncF, &[*part], &narrow);
            }
        }
        parts
    }

    /// A tile seen through copies of views.
    pub(super) fn seen_as(&mut self, tile: ValueId, views: &[OpId]) -> Option<ValueId> {
        let mut value = tile;
        for &view in views.iter().rev() {
            let elem = self.out.ty(tile).elem().clone();
            let from = *self.out.ops[view].operands.first()?;
            let to = self.out.ty(self.out.result(view)?).with_elem(elem);
            let copy = self.out.clone_op(view, self.block, &mut HashMap::from([(from, value)]));
            value = self.out.result(copy)?;
            self.out.values[value].ty = to;
        }
        Some(value)
    }
}
