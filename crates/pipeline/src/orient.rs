//! Loads go along the dimension in which neighbours lie in memory (C8, G20).
//!
//! A matrix whose columns are consecutive in memory is loaded as its transpose and seen transposed: copies to shared
//! memory move rows, and products read either way.

use std::collections::{BTreeMap, BTreeSet};

use warploom_ir::axis::{AxisFacts, facts};
use warploom_ir::{BlockId, Module, OpId, Opcode, Type, ValueId};

use crate::emit::{Emit, flipped};
use crate::walk::preorder;

/// Bytes of the widest copy of a lane, and of the shortest row of a copied tile.
const ROW: u64 = 16;

/// Turns the loads of a function so that neighbours in memory are neighbours in a row.
pub(crate) fn orient(module: &mut Module, func: OpId) {
    let loads: Vec<OpId> =
        preorder(module, func).into_iter().filter(|&op| is_matrix_load(module, op)).collect();
    if loads.is_empty() {
        return;
    }
    let known = facts(module, func);
    let turned: Vec<OpId> = loads.into_iter().filter(|&op| goes_down(module, &known, op)).collect();
    let mut blocks: BTreeMap<BlockId, BTreeSet<OpId>> = BTreeMap::new();
    for op in turned {
        let Some(block) = module.ops[op].block else { continue };
        blocks.entry(block).or_default().insert(op);
    }
    let mut replaced = BTreeMap::new();
    for (block, turned) in blocks {
        for op in std::mem::take(&mut module.blocks[block].ops) {
            match turned.contains(&op) {
                true => replaced.extend(turn(module, block, op)),
                false => module.append(block, op),
            }
        }
    }
    if replaced.is_empty() {
        return;
    }
    for (_, op) in module.ops.iter_mut() {
        for operand in &mut op.operands {
            *operand = *replaced.get(operand).unwrap_or(operand);
        }
    }
}

/// Whether an operation loads a matrix of numbers that a copy could bring.
fn is_matrix_load(module: &Module, op: OpId) -> bool {
    let ty = module.result(op).filter(|_| module.ops[op].opcode == Opcode::Load).map(|v| module.ty(v));
    ty.is_some_and(|ty| match (ty.shape(), ty.elem_bits()) {
        (&[rows, _], Some(bits @ (8 | 16 | 32 | 64))) => rows.saturating_mul(u64::from(bits / 8)) >= ROW,
        _ => false,
    })
}

/// Whether copies down the columns of a loaded matrix are wider than copies along its rows, or neighbours lie there
/// though nothing is known of their alignment.
fn goes_down(module: &Module, known: &AxisFacts, op: OpId) -> bool {
    width(module, known, op, 0) > width(module, known, op, 1)
}

/// Bytes that a lane copies at once of what is loaded along a dimension, as far as its alignment is known, and those of
/// neighbours that are masked together.
pub(crate) fn width(module: &Module, known: &AxisFacts, load: OpId, dim: usize) -> (u64, u64) {
    let operands = &module.ops[load].operands;
    let (Some(&pointers), Some(result)) = (operands.first(), module.result(load)) else { return (0, 0) };
    let bytes = u64::from(module.ty(result).elem_bits().unwrap_or(8) / 8).max(1);
    let run = known.along(module, pointers, dim);
    let mask = operands.get(1).map_or(u64::MAX, |&mask| known.along(module, mask, dim).leading());
    let together = run.consecutive.min(mask).saturating_mul(bytes).min(ROW);
    (together.min(run.multiple), together)
}

/// Puts the transposed load in the place of one; what its result becomes.
fn turn(module: &mut Module, block: BlockId, op: OpId) -> Option<(ValueId, ValueId)> {
    let result = module.result(op)?;
    let (operands, loc) = (module.ops[op].operands.to_vec(), module.ops[op].loc);
    let mut emit = Emit { out: module, block, loc };
    let swapped: Vec<ValueId> = operands.into_iter().map(|v| emit.transposed(v)).collect();
    let Type::Tensor { .. } = emit.out.ty(result) else { return None };
    let ty = flipped(emit.out.ty(result));
    let load = emit.op(Opcode::Load, &swapped, &[ty], &[]);
    let (props, attrs, span) = {
        let old = &emit.out.ops[op];
        (old.props.clone(), old.attrs.clone(), old.span)
    };
    let new = &mut emit.out.ops[load];
    (new.props, new.attrs, new.span) = (props, attrs, span);
    let loaded = emit.out.result(load)?;
    let shown = emit.transposed(loaded);
    module.ops[op].block = None;
    Some((result, shown))
}
