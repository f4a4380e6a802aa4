//! Tensor maps that the kernel makes itself, by which the copy engine can go (C16).

use std::collections::BTreeSet;

use warploom_chips::{Feature, Target};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, ValueDef, ValueId};

use crate::classes::{constant, is_scalar};
use crate::descriptor_record::record;
use crate::emit::number;
use crate::place::refuse;
use crate::tma::TilePlan;
use crate::transports::roots::Roots;
use crate::walk::{Users, preorder};

/// Bytes of a map while it is made, and what its address is a multiple of (T11).
pub(crate) const MAP_BYTES: u64 = 128;

/// Why a store stands against maps.
const STORED: &str = "this may store to a tensor that is loaded by a descriptor made in the kernel";

/// The operations that make descriptors, in the order of the text.
pub(crate) fn made(module: &Module, func: OpId) -> Vec<OpId> {
    let makes = |op: &OpId| module.ops[*op].opcode == Opcode::MakeTensorDescriptor;
    preorder(module, func).into_iter().filter(makes).collect()
}

/// Whether two descriptors or pointers may be of one tensor, by the arguments that they come from.
pub(crate) fn may_meet(one: Option<ValueId>, other: Option<ValueId>) -> bool {
    one.is_none() || other.is_none() || one == other
}

/// Says what copies by a map are like, and where in shared memory it is put together.
pub(crate) fn mark(module: &mut Module, op: OpId, plan: &TilePlan, staging: u64) {
    if let Attr::Dict(mut dict) = record(plan) {
        dict.set("staging", number(staging));
        module.ops[op].attrs.set("warploom.tensor_map", Attr::Dict(dict));
    }
}

/// Why partitions cannot share the maps of a kernel: they are made from what is no scalar of the function's, or a store
/// may be of a tensor that is loaded by one, and other partitions load ahead of it.
///
/// # Errors
/// Every reason.
pub(crate) fn shared(module: &Module, func: OpId) -> Result<(), Vec<Diagnostic>> {
    let all = made(module, func);
    let (Some(body), false) = (module.entry(func, 0), all.is_empty()) else { return Ok(()) };
    let mut errors = Vec::new();
    for &op in &all {
        let mine = module.ops[op].operands.iter().all(|&v| is_common(module, body, v));
        if !mine || module.ops[op].block != Some(body) {
            let text = "partitions share descriptors that are made from scalars in front of all loops only";
            errors.push(no(module, op, Code::Op, text));
        }
    }
    errors.extend(
        stores_to_loaded(module, func, |_| true).into_iter().map(|op| no(module, op, Code::Op, STORED)),
    );
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Whether a value is an argument of a function or a scalar computed from such in its body.
fn is_common(module: &Module, body: BlockId, value: ValueId) -> bool {
    let (mut seen, mut stack) = (BTreeSet::new(), vec![value]);
    while let Some(value) = stack.pop() {
        match module.values[value].def {
            ValueDef::Argument { block, .. } if block == body => {}
            ValueDef::Result { op, .. } if module.ops[op].block == Some(body) && is_scalar(module, op) => {
                let operands = module.ops[op].operands.iter().copied();
                stack.extend(operands.filter(|&v| seen.insert(v)));
            }
            _ => return false,
        }
    }
    true
}

/// The operations of some kinds that may store to a tensor which is loaded by a descriptor that the kernel makes.
fn stores_to_loaded(module: &Module, func: OpId, kinds: impl Fn(Opcode) -> bool) -> Vec<OpId> {
    let (all, mut roots) = (preorder(module, func), Roots::new(module));
    let mut root = |op: OpId| roots.of(module.ops[op].operands.first().copied());
    let loads: Vec<_> = all.iter().filter(|&&op| loads_by_map(module, op)).map(|&op| root(op)).collect();
    let writes = |op: OpId| module.ops[op].opcode.facts().effect.writes() && kinds(module.ops[op].opcode);
    let stores = all.into_iter().filter(|&op| writes(op));
    stores.filter(|&op| loads.iter().any(|&from| may_meet(from, root(op)))).collect()
}

/// Whether an operation loads a tile by a descriptor that the kernel makes.
fn loads_by_map(module: &Module, op: OpId) -> bool {
    let from = module.ops[op].operands.first().and_then(|&v| module.def_op(v));
    module.ops[op].opcode == Opcode::DescriptorLoad
        && from.is_some_and(|from| module.ops[from].opcode == Opcode::MakeTensorDescriptor)
}

/// A refusal of the way that a kernel makes descriptors.
fn no(module: &Module, op: OpId, code: Code, text: impl Into<String>) -> Diagnostic {
    refuse(module, op, code, text).rule("C16").note("instead", "a descriptor that the host passes")
}

/// Why the maps of a kernel cannot be made: the chip lacks the instruction, rows are not contiguous, what lies outside
/// cannot be what is asked for, or a descriptor goes elsewhere than to loads and stores of tiles.
///
/// # Errors
/// The first reason.
pub(crate) fn possible(module: &Module, func: OpId, target: &Target) -> Result<(), Box<Diagnostic>> {
    let all = made(module, func);
    if all.is_empty() {
        return Ok(());
    }
    let users = Users::new(module);
    for op in all {
        let no = |text: String| Err(Box::new(no(module, op, Code::Desc, text)));
        let Some(result) = module.result(op) else { return no("a descriptor without a value".to_owned()) };
        if !target.has(Feature::TensormapReplace) {
            return no(format!("{} has no tensormap.replace", target.name()));
        }
        if module.ops[op].operands.last().and_then(|&stride| constant(module, stride)) != Some(1) {
            return no("the innermost stride of the descriptor is not known to be 1".to_owned());
        }
        let ty = module.ty(result);
        if let Err(error) = TilePlan::new(ty, target) {
            return no(error.message);
        }
        if module.pads_with_nan(op) && ty.elem_bits() == Some(8) {
            return no("the copy engine has no NaN of 8 bits".to_owned());
        }
        let moves = |user: OpId| {
            let data = &module.ops[user];
            matches!(data.opcode, Opcode::DescriptorLoad | Opcode::DescriptorStore)
                && data.operands.first() == Some(&result)
        };
        if !users.of(result).iter().all(|&user| moves(user)) {
            return no("the descriptor is used by others than loads and stores of tiles".to_owned());
        }
    }
    // What lanes write is not known to the copy engine without a fence.
    match stores_to_loaded(module, func, |opcode| opcode != Opcode::DescriptorStore).first() {
        Some(&op) => Err(Box::new(no(module, op, Code::Desc, STORED))),
        None => Ok(()),
    }
}
