//! What of a loop's body can be computed for a later iteration (C8).

use std::collections::BTreeSet;

use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, Type, ValueDef, ValueId};

use crate::classes::{Class, class, is_scalar_type};
use crate::sets::IdSet;
use crate::walk::Users;

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

/// The part of a loop's body that values are computed from, if all of it can be computed for a later iteration: pure
/// operations, scalars that the loop carries, and carried tiles of pointers that move evenly.
pub(crate) fn slice(module: &Module, scf_for: OpId, body: BlockId, roots: &[ValueId]) -> Option<Slice> {
    let mut found = Slice::default();
    let mut stack = roots.to_vec();
    while let Some(value) = stack.pop() {
        match module.values[value].def {
            ValueDef::Result { op, .. } if module.ops[op].block == Some(body) => {
                if class(module.ops[op].opcode) != Class::Pure {
                    return None;
                }
                if found.ops.insert(op) {
                    stack.extend(&module.ops[op].operands);
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
    for &op in &module.blocks[body].ops {
        if class(module.ops[op].opcode) != Class::Pure {
            work.extend(&module.ops[op].results);
        }
    }
    let yields = module.terminator(body);
    while let Some(value) = work.pop() {
        if !found.insert(value) {
            continue;
        }
        for &user in users.of(value).iter().filter(|&&user| module.ops[user].block == Some(body)) {
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
