//! Descriptors that loops carry and branches give: their parts are carried, and the descriptor is made again where it is
//! used (C16, C17).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{BlockId, Module, OpId, Opcode, Type, ValueId};

use crate::emit::Emit;
use crate::place::refuse;
use crate::walk::preorder;

/// Makes descriptors again behind control flow, where all of them are made in the kernel. Extents are as wide as
/// `extents` says.
///
/// # Errors
/// Descriptors that say different things of what lies outside their tensors, and meet.
pub(crate) fn remake(module: &mut Module, func: OpId, extents: &Type) -> Result<(), Vec<Diagnostic>> {
    let doors = doors(module, func);
    let mut errors = Vec::new();
    let mut alike = BTreeMap::new();
    for (value, _) in doors.iter().flat_map(|door| &door.values) {
        match origins(module, &doors, *value) {
            None => {}
            Some(made)
                if made.iter().all(|&op| module.pads_with_nan(op) == module.pads_with_nan(made[0])) =>
            {
                alike.insert(*value, made[0]);
            }
            Some(made) => errors.push(
                refuse(
                    module,
                    made[0],
                    Code::Desc,
                    "descriptors with different paddings meet behind a branch or a loop",
                )
                .rule("C17")
                .note("instead", "one padding for all, or a load by each in its branch"),
            ),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let open: Vec<&Door> =
        doors.iter().filter(|d| d.values.iter().all(|(v, _)| alike.contains_key(v))).collect();
    for door in &open {
        for &(value, holder) in &door.values {
            again(module, value, holder, alike[&value], extents);
        }
    }
    for door in open {
        for &(op, at) in &door.from {
            hand_over(module, op, at, extents);
        }
    }
    Ok(())
}

/// The module with descriptors made again behind the control flow of a kernel.
///
/// # Errors
/// Those of [`remake`].
pub(crate) fn remade(module: Cow<'_, Module>, func: OpId) -> Result<Cow<'_, Module>, Vec<Diagnostic>> {
    if doors(&module, func).is_empty() {
        return Ok(module);
    }
    let mut module = module.into_owned();
    remake(&mut module, func, &Type::I32)?;
    Ok(Cow::Owned(module))
}

/// Whether control flow hands on this value.
pub(super) fn is_carried(module: &Module, func: OpId, value: ValueId) -> bool {
    let given = |&(op, at): &(OpId, usize)| module.ops[op].operands.get(at) == Some(&value);
    doors(module, func).iter().any(|door| door.from.iter().any(given))
}

/// Where a descriptor comes through control flow.
struct Door {
    /// What it is there, and who holds the value.
    values: Vec<(ValueId, Holder)>,
    /// The operands that become it.
    from: Vec<(OpId, usize)>,
}

/// Who holds a value, and more of the kind where its parts need some.
#[derive(Clone, Copy)]
enum Holder {
    Argument(BlockId),
    Result(OpId),
}

/// Every place where descriptors come through control flow.
fn doors(module: &Module, func: OpId) -> Vec<Door> {
    let mut found = Vec::new();
    let end = |op: OpId, region: usize| module.terminator(module.entry(op, region)?);
    for op in preorder(module, func) {
        let data = &module.ops[op];
        let results = data.results.iter().enumerate();
        match data.opcode {
            Opcode::If => {
                let (Some(then), Some(other)) = (end(op, 0), end(op, 1)) else { continue };
                found.extend(results.map(|(at, &result)| Door {
                    values: vec![(result, Holder::Result(op))],
                    from: vec![(then, at), (other, at)],
                }));
            }
            Opcode::For => {
                let (Some(body), Some(next)) = (module.entry(op, 0), end(op, 0)) else { continue };
                let args = module.blocks[body].args.iter().skip(1);
                found.extend(results.zip(args).map(|((at, &result), &arg)| Door {
                    values: vec![(arg, Holder::Argument(body)), (result, Holder::Result(op))],
                    from: vec![(op, at + 3), (next, at)],
                }));
            }
            Opcode::While => {
                let (Some(before), Some(after)) = (module.entry(op, 0), module.entry(op, 1)) else {
                    continue;
                };
                let (Some(condition), Some(next)) = (end(op, 0), end(op, 1)) else { continue };
                let args = module.blocks[before].args.iter().enumerate();
                found.extend(args.map(|(at, &arg)| Door {
                    values: vec![(arg, Holder::Argument(before))],
                    from: vec![(op, at), (next, at)],
                }));
                let args = module.blocks[after].args.iter();
                found.extend(results.zip(args).map(|((at, &result), &arg)| Door {
                    values: vec![(arg, Holder::Argument(after)), (result, Holder::Result(op))],
                    from: vec![(condition, at + 1)],
                }));
            }
            _ => {}
        }
    }
    found.retain(|door: &Door| door.values.iter().all(|&(value, _)| module.ty(value).is_desc()));
    found
}

/// The operations that make what a value may be; none where something else gives it.
fn origins(module: &Module, doors: &[Door], value: ValueId) -> Option<Vec<OpId>> {
    let (mut made, mut seen, mut stack) = (Vec::new(), BTreeSet::new(), vec![value]);
    while let Some(value) = stack.pop() {
        if !seen.insert(value) {
            continue;
        }
        match doors.iter().find(|door| door.values.iter().any(|&(v, _)| v == value)) {
            Some(door) => {
                stack.extend(door.from.iter().filter_map(|&(op, at)| module.ops[op].operands.get(at)))
            }
            None => made.push(maker(module, value)?),
        }
    }
    (!made.is_empty()).then_some(made)
}

/// The operation that makes a descriptor.
fn maker(module: &Module, value: ValueId) -> Option<OpId> {
    module.def_op(value).filter(|&op| module.ops[op].opcode == Opcode::MakeTensorDescriptor)
}

/// Makes a value the pointer of a descriptor, adds extents and strides beside it, and makes the descriptor of them again
/// for its users.
fn again(module: &mut Module, value: ValueId, holder: Holder, like: OpId, extents: &Type) {
    let ty = module.ty(value).clone();
    let rank = ty.shape().len();
    let Some(&pointer) = module.ops[like].operands.first() else { return };
    module.values[value].ty = module.ty(pointer).clone();
    let loc = module.values[value].loc;
    let strides = Type::I64;
    let types = std::iter::repeat_n(extents, rank).chain(std::iter::repeat_n(&strides, rank));
    let mut parts = vec![value];
    let (block, at) = match holder {
        Holder::Argument(block) => {
            parts.extend(types.map(|ty| module.add_arg(block, ty.clone(), loc)));
            (block, 0)
        }
        Holder::Result(op) => {
            let Some(block) = module.ops[op].block else { return };
            parts.extend(types.map(|ty| module.add_result(op, ty.clone())));
            let at = module.blocks[block].ops.iter().position(|&o| o == op);
            (block, at.map_or(0, |at| at + 1))
        }
    };
    let made = module.create_op(Opcode::MakeTensorDescriptor, &parts, &[ty], loc);
    module.ops[made].props = module.ops[like].props.clone();
    module.ops[made].span = module.ops[like].span;
    module.insert(block, at, made);
    let descriptor = module.ops[made].results[0];
    module.replace_all_uses(value, descriptor);
    module.ops[made].operands = parts.into();
}

/// Hands over the parts of a descriptor where it was handed over itself.
fn hand_over(module: &mut Module, op: OpId, at: usize, extents: &Type) {
    let made = module.ops[op].operands.get(at).and_then(|&value| maker(module, value));
    let (Some(made), Some(block)) = (made, module.ops[op].block) else { return };
    let parts = module.ops[made].operands.to_vec();
    let place = module.blocks[block].ops.iter().position(|&o| o == op).unwrap_or(0);
    let behind = module.blocks[block].ops.split_off(place);
    let loc = module.ops[op].loc;
    let mut emit = Emit { out: module, block, loc };
    let rank = parts.len() / 2;
    let parts: Vec<ValueId> = (0..)
        .zip(parts)
        .map(|(n, part)| match n {
            1.. if n <= rank && *extents == Type::I64 => emit.wide(part),
            _ => part,
        })
        .collect();
    module.blocks[block].ops.extend(behind);
    let Some((&pointer, dims)) = parts.split_first() else { return };
    let operands = &mut module.ops[op].operands;
    operands[at] = pointer;
    operands.extend(dims.iter().copied());
}
