//! Vectors of indices that loops advance: carried as the number that they grow by.
//!
//! A vector that counts rows in one place and columns in another lies in two layouts at once. Where a loop adds the same
//! to each of its elements, `x = x + splat(s)`, what is carried is the sum of `s`, and the vector, computed anew, lies
//! wherever it is wanted (C8).

use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, Type, ValueId};

use crate::emit::Emit;
use crate::walk::{Users, preorder};

/// Rewrites such vectors of a function, where they are used along both dimensions.
pub(crate) fn carry_sums(module: &mut Module, func: OpId) {
    let loops: Vec<OpId> =
        preorder(module, func).into_iter().filter(|&op| module.ops[op].opcode == Opcode::For).collect();
    for scf_for in loops {
        let Some(body) = module.entry(scf_for, 0) else { continue };
        for at in 0..module.ops[scf_for].results.len() {
            if let Some(step) = step_of(module, body, at)
                && is_used_both_ways(module, module.blocks[body].args[at + 1])
            {
                carry_sum(module, scf_for, body, at, step);
            }
        }
    }
}

/// What a loop adds to each element of carried value number `at` in a trip.
enum Step {
    /// A scalar.
    Scalar(ValueId),
    /// A constant.
    Constant(Attr),
}

fn step_of(module: &Module, body: BlockId, at: usize) -> Option<Step> {
    let arg = *module.blocks[body].args.get(at + 1)?;
    let ty = module.ty(arg);
    if ty.shape().len() != 1 || !matches!(ty.elem(), Type::Int(8.., _)) {
        return None;
    }
    let next = *module.ops[module.terminator(body)?].operands.get(at)?;
    let sum = module.def_op(next).filter(|&op| module.ops[op].opcode == Opcode::AddI)?;
    let added = match *module.ops[sum].operands.as_slice() {
        [a, b] if a == arg => b,
        [a, b] if b == arg => a,
        _ => return None,
    };
    let op = module.def_op(added)?;
    match module.ops[op].opcode {
        Opcode::Splat => module.ops[op].operands.first().copied().map(Step::Scalar),
        Opcode::Constant => match module.attr(op, "value")? {
            Attr::Splat { value, .. } => Some(Step::Constant((**value).clone())),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a vector, or one that is computed from it, is a row here and a column there.
fn is_used_both_ways(module: &Module, vector: ValueId) -> bool {
    let users = Users::new(module);
    let (mut stack, mut seen) = (vec![vector], std::collections::BTreeSet::new());
    let mut axes = std::collections::BTreeSet::new();
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

/// Carries the sum of the steps in place of the vector.
fn carry_sum(module: &mut Module, scf_for: OpId, body: BlockId, at: usize, step: Step) -> Option<()> {
    let (arg, loc) = (*module.blocks[body].args.get(at + 1)?, module.ops[scf_for].loc);
    let result = *module.ops[scf_for].results.get(at)?;
    let first = *module.ops[scf_for].operands.get(at + 3)?;
    let (vector, scalar) = (module.ty(arg).clone(), module.ty(arg).elem().clone());
    let yielded = module.terminator(body)?;
    let around = module.ops[scf_for].block?;

    // `vector = first + splat(sum)`, at the head of the body and behind the loop.
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
        let splat = emit.value(Opcode::Splat, &[sum], &vector);
        let whole = emit.value(Opcode::AddI, &[first, splat], &vector);
        module.blocks[block].ops.extend(tail);
        module.replace_all_uses(sum, whole);
        let splat = module.def_op(splat)?;
        *module.ops[splat].operands.first_mut()? = sum;
        module.values[sum].ty = scalar.clone();
    }
    let place = module.blocks[body].ops.iter().position(|&op| op == yielded)?;
    let tail = module.blocks[body].ops.split_off(place);
    let mut emit = Emit { out: module, block: body, loc };
    let step = match step {
        Step::Scalar(value) => value,
        Step::Constant(value) => {
            let op = emit.op(Opcode::Constant, &[], std::slice::from_ref(&scalar), &[("value", value)]);
            *emit.out.ops[op].results.first()?
        }
    };
    let next = emit.value(Opcode::AddI, &[arg, step], &scalar);
    module.blocks[body].ops.extend(tail);
    *module.ops[yielded].operands.get_mut(at)? = next;
    Some(())
}
