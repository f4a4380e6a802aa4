//! Tensor maps that the kernel makes itself, by which the copy engine can go (C16).

use warploom_chips::{Feature, Target};
use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, FloatKind, Module, OpId, Opcode, Type, ValueId};

use crate::classes::constant;
use crate::descriptor_record::record;
use crate::emit::number;
use crate::place::refuse;
use crate::tma::TilePlan;
use crate::walk::{Users, preorder};

/// Bytes of a map while it is made, and what its address is a multiple of (T11).
pub(crate) const MAP_BYTES: u64 = 128;

/// The operations that make descriptors, in the order of the text.
pub(crate) fn made(module: &Module, func: OpId) -> Vec<OpId> {
    let makes = |op: &OpId| module.ops[*op].opcode == Opcode::MakeTensorDescriptor;
    preorder(module, func).into_iter().filter(makes).collect()
}

/// Whether a descriptor is made in the kernel.
pub(crate) fn is_made(module: &Module, descriptor: ValueId) -> bool {
    module.def_op(descriptor).is_some_and(|op| module.ops[op].opcode == Opcode::MakeTensorDescriptor)
}

/// Says what copies by every map are like, and where in shared memory it is put together, one after the other.
pub(crate) fn mark(module: &mut Module, func: OpId, target: &Target, staging: u64) -> Option<()> {
    for op in made(module, func) {
        let plan = TilePlan::new(module.ty(module.result(op)?), target).ok()?;
        let Attr::Dict(mut dict) = record(&plan) else { return None };
        dict.set("staging", number(staging));
        module.ops[op].attrs.set("warploom.tensor_map", Attr::Dict(dict));
    }
    Some(())
}

/// Why the maps of a kernel cannot be made: the chip lacks the instruction, rows are not contiguous, what lies outside
/// cannot be what is asked for, or a descriptor goes elsewhere than to loads and stores of tiles.
///
/// # Errors
/// The first reason.
pub(crate) fn possible(module: &Module, func: OpId, target: &Target) -> Result<(), Box<Diagnostic>> {
    let all = made(module, func);
    let users = if all.is_empty() { None } else { Some(Users::new(module)) };
    let Some(users) = users else { return Ok(()) };
    for op in all {
        let no = |text: String| Err(Box::new(refuse(module, op, Code::Desc, text).rule("C16")));
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
        let bytes = matches!(ty.elem(), Type::Float(FloatKind::F8E4M3FN | FloatKind::F8E5M2));
        let nan =
            module.attr(op, "padding").is_some_and(|p| p.as_i64() == Some(2) || p.as_str() == Some("nan"));
        if bytes && nan {
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
    Ok(())
}
