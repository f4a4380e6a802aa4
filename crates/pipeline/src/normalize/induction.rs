//! Indices and pointers that loops advance: carried as the number that they grow by.
//!
//! A vector that counts rows in one place and columns in another lies in two layouts at once, and so do pointers that are
//! loaded from here and copied from there, and offsets and masks of copies, which other lanes issue than hold what a loop
//! carries. Where a loop adds the same to each of their elements, `x = x + splat(s)`, what is carried is the sum of `s`,
//! and the tile, computed anew, lies wherever it is wanted (C8).

use std::collections::BTreeSet;

use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, Type, ValueDef, ValueId};

use crate::classes::{Class, class};
use crate::emit::Emit;
use crate::transports::operands::{DotOperand, Slot};
use crate::transports::slice::pointer_step;
use crate::walk::{Users, preorder};

/// Rewrites such tiles of a function: vectors that are used along both dimensions, and where there are products all
/// integers, and pointers that do more than load beside them or do not move by the same in every trip.
pub(crate) fn carry_sums(module: &mut Module, func: OpId) {
    let ops = preorder(module, func);
    let multiplies = ops.iter().any(|&op| module.ops[op].opcode.is_product());
    // What an inner loop makes of its pointers is a sum for the loop around it.
    for scf_for in ops.into_iter().rev() {
        let Some(body) = module.entry(scf_for, 0).filter(|_| module.ops[scf_for].opcode == Opcode::For)
        else {
            continue;
        };
        for at in 0..module.ops[scf_for].results.len() {
            let Some(step) = step_of(module, body, at) else { continue };
            let tile = module.blocks[body].args[at + 1];
            let moves = || {
                let evenly = pointer_step(module, scf_for, body, at).is_some();
                !evenly || goes_around(module, scf_for, tile, at)
            };
            if is_used_both_ways(module, tile) || multiplies && moves() {
                carry_sum(module, scf_for, body, at, step);
            }
        }
    }
}

/// Rewrites what loops carry of the places, masks and values of operands that are copied in their own trip: other lanes copy
/// than hold what a loop carries. Whether there was any.
pub(crate) fn carry_copied(module: &mut Module, operands: &[DotOperand]) -> bool {
    let blocking = operands.iter().filter(|operand| operand.slot == Some(Slot::Blocking));
    let mut stack: Vec<ValueId> = blocking.map(|operand| operand.seen.base).collect();
    let (mut seen, mut carried) = (BTreeSet::new(), false);
    while let Some(value) = stack.pop() {
        if !seen.insert(value) || !module.ty(value).is_tensor() {
            continue;
        }
        match module.values[value].def {
            ValueDef::Result { op, .. } => {
                let data = &module.ops[op];
                if data.opcode == Opcode::Load || class(data.opcode) == Class::Pure {
                    stack.extend(&data.operands);
                }
            }
            ValueDef::Argument { block, index } => {
                let around = module.blocks[block]
                    .region
                    .and_then(|region| module.regions[region].parent)
                    .filter(|&op| module.ops[op].opcode == Opcode::For);
                let at = (index as usize).checked_sub(1);
                let Some((scf_for, at)) = around.zip(at) else { continue };
                let Some(step) = step_of(module, block, at) else { continue };
                carried |= carry_sum(module, scf_for, block, at, step).is_some();
            }
        }
    }
    carried
}

/// What a loop adds to each element of carried value number `at` in a trip, or takes away.
struct Step {
    by: Amount,
    /// `arith.addi` or `arith.subi`.
    opcode: Opcode,
}

enum Amount {
    /// A scalar.
    Scalar(ValueId),
    /// A constant.
    Constant(Attr),
}

fn step_of(module: &Module, body: BlockId, at: usize) -> Option<Step> {
    let arg = *module.blocks[body].args.get(at + 1)?;
    let ty = module.ty(arg);
    let next = *module.ops[module.terminator(body)?].operands.get(at)?;
    let sum = module.def_op(next)?;
    let opcode = match (module.ops[sum].opcode, ty.elem()) {
        _ if !ty.is_tensor() => return None,
        (opcode @ (Opcode::AddI | Opcode::SubI), Type::Int(8.., _)) => opcode,
        (Opcode::AddPtr, Type::Ptr { .. }) => Opcode::AddI,
        _ => return None,
    };
    let added = match *module.ops[sum].operands.as_slice() {
        [a, b] if a == arg => b,
        [a, b] if b == arg && module.ops[sum].opcode == Opcode::AddI => a,
        _ => return None,
    };
    let op = module.def_op(added)?;
    let by = match module.ops[op].opcode {
        Opcode::Splat => Amount::Scalar(*module.ops[op].operands.first()?),
        Opcode::Constant => match module.attr(op, "value")? {
            Attr::Splat { value, .. } => Amount::Constant((**value).clone()),
            _ => return None,
        },
        _ => return None,
    };
    Some(Step { by, opcode })
}

/// Whether a vector, or one that is computed from it, is a row here and a column there.
fn is_used_both_ways(module: &Module, vector: ValueId) -> bool {
    let users = Users::new(module);
    let (mut stack, mut seen) = (vec![vector], BTreeSet::new());
    let mut axes = BTreeSet::new();
    while let Some(value) = stack.pop() {
        if !seen.insert(value) {
            continue;
        }
        for &user in users.of(value) {
            let data = &module.ops[user];
            if data.opcode == Opcode::ExpandDims {
                axes.extend(module.attr(user, "axis").and_then(Attr::as_i64));
            } else if data.opcode.is_elementwise() || data.opcode == Opcode::Load {
                stack.extend(&data.results);
            }
        }
    }
    axes.len() > 1
}

/// Whether lanes may want carried pointers elsewhere than where a loop holds them: those that come from another loop around
/// this one, are read deeper than in its body, or point to what is copied where it stands, since a lock is
/// waited for in the same trip.
fn goes_around(module: &Module, scf_for: OpId, tile: ValueId, at: usize) -> bool {
    use Opcode::{AddPtr, AtomicCas, AtomicRmw, Load, Store, Trans, While};
    if !matches!(module.ty(tile).elem(), Type::Ptr { .. }) {
        return false;
    }
    let first = module.ops[scf_for].operands.get(at + 3);
    let from_loop = first.is_some_and(|&first| module.def_op(first).is_none());
    let elsewhere = |op: OpId| {
        let data = &module.ops[op];
        let beside = data.block == module.entry(scf_for, 0)
            && matches!(data.opcode, Load | AddPtr | Trans | Store | AtomicRmw);
        matches!(data.opcode, While | AtomicCas) || data.operands.contains(&tile) && !beside
    };
    from_loop || preorder(module, scf_for).into_iter().any(elsewhere)
}

/// Carries the sum of the steps in place of the tile. Pointers move by sums of 64 bits: the steps wrap, their sum does not.
fn carry_sum(module: &mut Module, scf_for: OpId, body: BlockId, at: usize, step: Step) -> Option<()> {
    let (arg, loc) = (*module.blocks[body].args.get(at + 1)?, module.ops[scf_for].loc);
    let result = *module.ops[scf_for].results.get(at)?;
    let first = *module.ops[scf_for].operands.get(at + 3)?;
    let pointers = matches!(module.ty(arg).elem(), Type::Ptr { .. });
    let scalar = if pointers { Type::I64 } else { module.ty(arg).elem().clone() };
    let (tile, adds) = (module.ty(arg).clone(), if pointers { Opcode::AddPtr } else { Opcode::AddI });
    let offsets = tile.with_elem(scalar.clone());
    let yielded = module.terminator(body)?;
    let around = module.ops[scf_for].block?;

    // `tile = first + splat(sum)`, at the head of the body and behind the loop.
    let zero = Attr::Int { value: 0, ty: scalar.clone() };
    let none = module.create_op(Opcode::Constant, &[], std::slice::from_ref(&scalar), loc);
    module.ops[none].props.set("value", zero);
    let before = module.blocks[around].ops.iter().position(|&op| op == scf_for)?;
    module.insert(around, before, none);
    *module.ops[scf_for].operands.get_mut(at + 3)? = *module.ops[none].results.first()?;
    for (sum, block, place) in [(arg, body, 0), (result, around, before + 2)] {
        let list = &mut module.blocks[block].ops;
        let tail = list.split_off(place.min(list.len()));
        let mut emit = Emit { out: module, block, loc };
        let splat = emit.value(Opcode::Splat, &[sum], &offsets);
        let whole = emit.value(adds, &[first, splat], &tile);
        module.blocks[block].ops.extend(tail);
        module.replace_all_uses(sum, whole);
        let splat = module.def_op(splat)?;
        *module.ops[splat].operands.first_mut()? = sum;
        module.values[sum].ty = scalar.clone();
    }
    let place = module.blocks[body].ops.iter().position(|&op| op == yielded)?;
    let tail = module.blocks[body].ops.split_off(place);
    let mut emit = Emit { out: module, block: body, loc };
    let by = match step.by {
        Amount::Scalar(value) if pointers => emit.wide(value),
        Amount::Scalar(value) => value,
        Amount::Constant(value) => emit.scalar(value.as_i64()?, &scalar),
    };
    let next = emit.value(step.opcode, &[arg, by], &scalar);
    module.blocks[body].ops.extend(tail);
    *module.ops[yielded].operands.get_mut(at)? = next;
    Some(())
}
