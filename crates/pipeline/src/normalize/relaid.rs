//! Operands that a product cannot read as they lie: lanes read the tile, and store it again with K inside (C62, T13).
//!
//! wgmma reads elements of 8 bits, and every asynchronous instruction those of 32 bits, only with K inside; and none reads
//! rows of less than 16 bytes. `dot a, x` becomes `dot a, trans y`, with y the transposed tile as lanes hold it, which is
//! stored like every operand that is computed.
//!
//! An operand that lanes compute of what they load is laid down along the dimension along which its loads are fewer: a lane
//! stores 16 bytes of a row, and neighbours there may come with one load, or be made of the same element (G20).

use std::collections::BTreeSet;

use warploom_chips::mma::MmaInstruction;
use warploom_ir::axis::{AxisFacts, facts};
use warploom_ir::{LocId, Module, OpId, Opcode, Type, ValueId};

use crate::emit::{place_all, transposition};
use crate::engines::covered::is_free;
use crate::views::{look_through, non_unit};
use crate::walk::preorder;

/// Lays such operands of a function down again, whose products are multiplied by this instruction; whether there were any.
pub(crate) fn relay(kernel: &mut Module, func: OpId, by: MmaInstruction) -> bool {
    let dots = preorder(kernel, func).into_iter().filter(|&op| kernel.ops[op].opcode == Opcode::Dot);
    let operands: Vec<(OpId, bool)> = dots.flat_map(|dot| [(dot, false), (dot, true)]).collect();
    let across = operands.iter().copied().filter(|&(dot, second)| lies_across(kernel, dot, second, by));
    let mut found: Vec<(OpId, bool, bool)> = across.map(|(dot, second)| (dot, second, true)).collect();
    let computed: Vec<_> =
        operands.into_iter().filter(|&(dot, second)| may_lie_anyhow(kernel, dot, second)).collect();
    if !computed.is_empty() {
        let known = facts(kernel, func);
        found.extend(computed.into_iter().filter_map(|(dot, second)| {
            let operand = *kernel.ops[dot].operands.get(usize::from(second))?;
            let k = usize::from(!second);
            let [k, other] = [k, 1 - k].map(|dim| loads(kernel, &known, operand, dim));
            let is_inside = look_through(kernel, operand).transposed() == second;
            let (now, turned) = if is_inside { (k, other) } else { (other, k) };
            (4 * turned <= 3 * now && turned < now).then_some((dot, second, !is_inside))
        }));
    }
    for &(dot, second, inside) in &found {
        relay_operand(kernel, dot, second, inside);
    }
    !found.is_empty()
}

/// Elements of a row that a lane stores at once are 16 bytes.
const CHUNK: u64 = 16;

/// Whether an operand is a matrix of 16-bit elements that lanes compute wherever it is stored: products read those either way.
fn may_lie_anyhow(kernel: &Module, dot: OpId, second: bool) -> bool {
    let Some(&operand) = kernel.ops[dot].operands.get(usize::from(second)) else { return false };
    let (ty, seen) = (kernel.ty(operand), look_through(kernel, operand));
    let whole = |extent: &u64| extent.is_multiple_of(CHUNK / 2);
    let computed = kernel.def_op(seen.base).is_some_and(|op| kernel.ops[op].opcode.is_elementwise());
    computed
        && ty.elem_bits() == Some(16)
        && ty.shape().len() == 2
        && ty.shape().iter().all(whole)
        && (seen.plain() || seen.transposed())
        && is_free(kernel, operand)
}

/// Loads of a lane for a chunk of a tile along a dimension, in sixty-fourths: those of all tiles that it is made of.
fn loads(kernel: &Module, known: &AxisFacts, tile: ValueId, dim: usize) -> u64 {
    let (mut stack, mut seen, mut all) = (vec![(tile, dim)], BTreeSet::new(), 0);
    while let Some((value, dim)) = stack.pop() {
        if kernel.ty(value).shape().len() != 2 || !seen.insert((value, dim)) {
            continue;
        }
        let Some(op) = kernel.def_op(value) else { continue };
        let data = &kernel.ops[op];
        match (data.opcode, data.operands.first()) {
            (Opcode::Load, Some(&pointers)) => {
                let bytes = u64::from(kernel.ty(value).elem_bits().unwrap_or(8) / 8).max(1);
                let run = known.along(kernel, pointers, dim);
                let mask = data.operands.get(1).filter(|&&mask| kernel.ty(mask).is_tensor());
                let alike = mask.map_or(u64::MAX, |&mask| known.along(kernel, mask, dim).equal);
                let together = run.consecutive.min(run.multiple / bytes).min(CHUNK / bytes).max(run.equal);
                let extent = kernel.ty(value).shape().get(dim).copied().unwrap_or(1);
                let together = if extent == 1 { u64::MAX } else { together.min(alike) };
                all += 64 / together.clamp(1, CHUNK / 2);
            }
            (Opcode::Trans, Some(&source)) => stack.push((source, 1 - dim)),
            (opcode, _) if opcode.is_elementwise() || opcode == Opcode::Broadcast => {
                stack.extend(data.operands.iter().map(|&operand| (operand, dim)));
            }
            _ => {}
        }
    }
    all
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

/// Puts arithmetic that changes nothing between the tile and the product, so that it is one that lanes compute, with K
/// `inside` or not.
fn relay_operand(kernel: &mut Module, dot: OpId, second: bool, inside: bool) -> Option<()> {
    let (block, loc) = (kernel.ops[dot].block?, kernel.ops[dot].loc);
    let old = *kernel.ops[dot].operands.get(usize::from(second))?;
    let ty = kernel.ty(old).clone();
    let bits = Type::int(ty.elem_bits()?);
    let through = if *ty.elem() == bits { Type::Float(warploom_ir::FloatKind::F8E5M2) } else { bits };
    let mut made = Vec::new();
    let turned = second == inside;
    let first = if turned { transposed(kernel, old, loc, &mut made)? } else { old };
    let lying = kernel.ty(first).clone();
    let cast = same_bits(kernel, first, lying.with_elem(through), loc, &mut made)?;
    let held = same_bits(kernel, cast, lying, loc, &mut made)?;
    let new = if turned { transposed(kernel, held, loc, &mut made)? } else { held };
    *kernel.ops[dot].operands.get_mut(usize::from(second))? = new;
    let at = kernel.blocks[block].ops.iter().position(|&op| op == dot)?;
    place_all(kernel, block, at, made);
    Some(())
}

fn transposed(kernel: &mut Module, value: ValueId, loc: LocId, made: &mut Vec<OpId>) -> Option<ValueId> {
    let op = transposition(kernel, value, loc)?;
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
