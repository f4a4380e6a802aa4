//! Operands that a product cannot read as they lie: lanes read the tile, and store it again with K inside (C62, T13).
//!
//! wgmma reads elements of 8 bits, and every asynchronous instruction those of 32 bits, only with K inside; and none reads
//! rows of less than 16 bytes. `dot a, x` becomes `dot a, trans y`, with y the transposed tile as lanes hold it, which is
//! stored like every operand that is computed.

use warploom_chips::mma::MmaInstruction;
use warploom_ir::{Attr, LocId, Module, OpId, Opcode, Type, ValueId};

use crate::views::{look_through, non_unit};
use crate::walk::preorder;

/// Lays such operands of a function down again, whose products are multiplied by this instruction; whether there were any.
pub(crate) fn relay(kernel: &mut Module, func: OpId, by: MmaInstruction) -> bool {
    let dots = preorder(kernel, func).into_iter().filter(|&op| kernel.ops[op].opcode == Opcode::Dot);
    let operands = dots.flat_map(|dot| [(dot, false), (dot, true)]);
    let found: Vec<(OpId, bool)> =
        operands.filter(|&(dot, second)| lies_across(kernel, dot, second, by)).collect();
    for &(dot, second) in &found {
        relay_operand(kernel, dot, second);
    }
    !found.is_empty()
}

/// Whether an operand is a tile whose rows are not along K where they must be.
fn lies_across(kernel: &Module, dot: OpId, second: bool, by: MmaInstruction) -> bool {
    let Some(&operand) = kernel.ops[dot].operands.get(usize::from(second)) else { return false };
    let seen = look_through(kernel, operand);
    let bits = kernel.ty(operand).elem_bits();
    let bound = match bits {
        Some(8) => by == MmaInstruction::Wgmma,
        Some(32) => by != MmaInstruction::MmaSync,
        _ => false,
    };
    let row = non_unit(kernel.ty(seen.base).shape()).last().copied().unwrap_or(0);
    let short = bits.is_some_and(|bits| row.saturating_mul(bits.into()) < 128);
    (bound || short)
        && kernel.ty(operand).shape().len() == 2
        && seen.order.len() == 2
        && seen.transposed() != second
}

/// Puts arithmetic that changes nothing between the tile and the product, so that it is one that lanes compute.
fn relay_operand(kernel: &mut Module, dot: OpId, second: bool) -> Option<()> {
    let (block, loc) = (kernel.ops[dot].block?, kernel.ops[dot].loc);
    let old = *kernel.ops[dot].operands.get(usize::from(second))?;
    let ty = kernel.ty(old).clone();
    let bits = Type::int(ty.elem_bits()?);
    let through = if *ty.elem() == bits { Type::Float(warploom_ir::FloatKind::F8E5M2) } else { bits };
    let mut made = Vec::new();
    let first = if second { transposed(kernel, old, loc, &mut made)? } else { old };
    let lying = kernel.ty(first).clone();
    let cast = same_bits(kernel, first, lying.with_elem(through), loc, &mut made)?;
    let held = same_bits(kernel, cast, lying, loc, &mut made)?;
    let new = if second { transposed(kernel, held, loc, &mut made)? } else { held };
    *kernel.ops[dot].operands.get_mut(usize::from(second))? = new;
    let at = kernel.blocks[block].ops.iter().position(|&op| op == dot)?;
    for (index, op) in made.into_iter().enumerate() {
        kernel.insert(block, at + index, op);
    }
    Some(())
}

fn transposed(kernel: &mut Module, value: ValueId, loc: LocId, made: &mut Vec<OpId>) -> Option<ValueId> {
    let &[rows, cols] = kernel.ty(value).shape() else { return None };
    let ty = Type::tensor(&[cols, rows], kernel.ty(value).elem().clone());
    let op = kernel.create_op(Opcode::Trans, &[value], &[ty], loc);
    kernel.ops[op].props.set("order", Attr::DenseArray { elem: Type::I32, values: vec![1, 0] });
    made.push(op);
    kernel.result(op)
}

/// The same bits as elements of another type.
fn same_bits(
    kernel: &mut Module,
    value: ValueId,
    ty: Type,
    loc: LocId,
    made: &mut Vec<OpId>,
) -> Option<ValueId> {
    let op = kernel.create_op(Opcode::Bitcast, &[value], &[ty], loc);
    made.push(op);
    kernel.result(op)
}
