//! What of a loop's body can be computed for a later iteration (C8).

use std::collections::BTreeSet;

use warploom_ir::{Attr, BlockId, Effect, Module, OpId, Opcode, Type, ValueDef, ValueId};

use crate::classes::{Class, class, is_scalar_type};
use crate::sets::IdSet;
use crate::walk::{Users, preorder};

/// A carried tile of pointers that moves by the same amount everywhere: what is added in each iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointerStep {
    /// A scalar from outside the loop, or the splat constant that holds the number.
    pub by: ValueId,
}

/// What of a loop's body some values need.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slice {
    /// Operations of the body.
    pub ops: IdSet<OpId>,
    /// Positions of carried values.
    pub carried: BTreeSet<usize>,
}

/// Whether an operation gives the same wherever it is computed: a pure one, or a choice between such.
fn is_pure(module: &Module, op: OpId) -> bool {
    match module.ops[op].opcode {
        Opcode::If => preorder(module, op).into_iter().all(|op| {
            let opcode = module.ops[op].opcode;
            class(opcode) == Class::Pure || matches!(opcode, Opcode::If | Opcode::Yield)
        }),
        opcode => class(opcode) == Class::Pure,
    }
}

/// The operation of a block that another one is, or lies in.
fn in_block(module: &Module, mut op: OpId, block: BlockId) -> Option<OpId> {
    while module.ops[op].block != Some(block) {
        op = module.parent(op)?;
    }
    Some(op)
}

/// Whether nothing in a loop changes global memory or relies on what others change there: what it reads can be read in an
/// earlier iteration.
fn is_quiet(module: &Module, scf_for: OpId) -> bool {
    preorder(module, scf_for).into_iter().all(|op| {
        let effect = module.ops[op].opcode.facts().effect;
        !effect.writes() && effect != Effect::Foreign
    })
}

/// Whether an operation loads integers, as pages and sorted rows are looked up (Q11), from a place that can be told earlier.
fn looks_up(module: &Module, op: OpId) -> bool {
    let integers = |&v: &ValueId| matches!(module.ty(v).elem(), Type::Int(..));
    let data = &module.ops[op];
    data.opcode == Opcode::Load && !module.is_volatile(op) && data.results.iter().all(integers)
}

/// The loads of integers in a loop that nothing but addresses and masks of other loads needs: they are looked up where those
/// are copied.
pub(crate) fn indices(module: &Module, users: &Users, scf_for: OpId, body: BlockId) -> BTreeSet<OpId> {
    let mut found = BTreeSet::new();
    if !is_quiet(module, scf_for) {
        return found;
    }
    for &load in module.blocks[body].ops.iter().filter(|&&op| looks_up(module, op)) {
        let (mut stack, mut seen) = (module.ops[load].results.to_vec(), BTreeSet::new());
        let (mut addresses, mut others) = (false, false);
        while let Some(value) = stack.pop() {
            for &user in users.of(value).iter().filter(|&&user| seen.insert(user)) {
                match class(module.ops[user].opcode) {
                    Class::Pure if module.ops[user].block == Some(body) => {
                        stack.extend(&module.ops[user].results)
                    }
                    Class::PointerLoad if module.ops[user].block == Some(body) => addresses = true,
                    _ => others = true,
                }
            }
        }
        if addresses && !others {
            found.insert(load);
        }
    }
    found
}

/// The part of a loop's body that values are computed from, if all of it can be computed for a later iteration: pure
/// operations and choices between them, integers looked up where the loop changes nothing, scalars that the loop carries, and carried tiles of
/// pointers that move evenly.
pub(crate) fn slice(module: &Module, scf_for: OpId, body: BlockId, roots: &[ValueId]) -> Option<Slice> {
    let (mut found, mut quiet) = (Slice::default(), None);
    let mut stack = roots.to_vec();
    while let Some(value) = stack.pop() {
        match module.values[value].def {
            ValueDef::Result { op, .. } if module.ops[op].block == Some(body) => {
                let pure = is_pure(module, op);
                let mut quiet = || *quiet.get_or_insert_with(|| is_quiet(module, scf_for));
                if !(pure || looks_up(module, op) && quiet()) {
                    return None;
                }
                if found.ops.insert(op) {
                    let inside = preorder(module, op);
                    stack.extend(inside.into_iter().flat_map(|op| &module.ops[op].operands));
                }
            }
            ValueDef::Argument { block, index } if block == body && index > 0 => {
                let at = index as usize - 1;
                if found.carried.insert(at) {
                    match is_scalar_type(module.ty(value)) {
                        true => stack.push(yielded(module, body, at)?),
                        false => drop(pointer_step(module, scf_for, body, at)?),
                    }
                }
            }
            _ => {}
        }
    }
    Some(found)
}

/// What the loop yields for a carried value.
pub(crate) fn yielded(module: &Module, body: BlockId, at: usize) -> Option<ValueId> {
    module.ops[module.terminator(body)?].operands.get(at).copied()
}

/// How a carried tile of pointers moves, if it moves evenly: `next = addptr %tile, splat`.
pub(crate) fn pointer_step(module: &Module, scf_for: OpId, body: BlockId, at: usize) -> Option<PointerStep> {
    let arg = *module.blocks[body].args.get(at + 1)?;
    if !matches!(module.ty(arg).elem(), Type::Ptr { .. }) || !module.ty(arg).is_tensor() {
        return None;
    }
    let next = module.def_op(yielded(module, body, at)?)?;
    let &[from, offset] = module.ops[next].operands.as_slice() else { return None };
    if module.ops[next].opcode != Opcode::AddPtr || from != arg {
        return None;
    }
    let by = module.def_op(offset)?;
    match module.ops[by].opcode {
        Opcode::Constant if matches!(module.attr(by, "value"), Some(Attr::Splat { .. })) => {
            Some(PointerStep { by: offset })
        }
        Opcode::Splat => {
            let scalar = *module.ops[by].operands.first()?;
            let inside = module.def_op(scalar).map_or_else(
                || matches!(module.values[scalar].def, ValueDef::Argument { block, .. } if block == body),
                |op| crate::nest::is_inside(module, op, scf_for),
            );
            (!inside).then_some(PointerStep { by: scalar })
        }
        _ => None,
    }
}

/// The values of a loop for which [`slice`] gives nothing.
pub(crate) fn late(module: &Module, users: &Users, scf_for: OpId, body: BlockId) -> IdSet<ValueId> {
    let mut found = IdSet::default();
    let mut work = Vec::new();
    for (at, &arg) in module.blocks[body].args.iter().skip(1).enumerate() {
        if !is_scalar_type(module.ty(arg)) && pointer_step(module, scf_for, body, at).is_none() {
            work.push(arg);
        }
    }
    let quiet = is_quiet(module, scf_for);
    for &op in &module.blocks[body].ops {
        let known = is_pure(module, op) || quiet && looks_up(module, op);
        if !known {
            work.extend(&module.ops[op].results);
        }
    }
    let yields = module.terminator(body);
    while let Some(value) = work.pop() {
        if !found.insert(value) {
            continue;
        }
        for user in users.of(value).iter().filter_map(|&user| in_block(module, user, body)) {
            if Some(user) != yields {
                work.extend(&module.ops[user].results);
                continue;
            }
            let args = module.blocks[body].args.iter().skip(1).zip(&module.ops[user].operands);
            let carried = args.filter(|&(&arg, &next)| next == value && is_scalar_type(module.ty(arg)));
            work.extend(carried.map(|(&arg, _)| arg));
        }
    }
    found
}
