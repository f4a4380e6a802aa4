//! Products of 8-bit floats on chips whose tensor cores have none: their factors become f16, which holds both formats
//! exactly, so that each product is what it was (C67, T12).

use std::collections::HashMap;

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{FloatKind, Module, OpId, Opcode, Type, ValueId};
use warploom_target::{Feature, Target};

use crate::place::remark;
use crate::program::emit::Emit;
use crate::views::look_through;
use crate::walk::preorder;

/// Rewrites such products; tells of each.
pub(super) fn widen(module: &mut Module, func: OpId, target: &Target) -> Vec<Diagnostic> {
    if target.has(Feature::Fp8MmaSync) {
        return Vec::new();
    }
    let dots = |op: &OpId| module.ops[*op].opcode == Opcode::Dot;
    let all: Vec<OpId> = preorder(module, func).into_iter().filter(dots).collect();
    let mut told = Vec::new();
    for dot in all {
        let factors: Vec<ValueId> = module.ops[dot].operands.iter().copied().take(2).collect();
        if !factors.iter().all(|&v| is_narrow(module.ty(v).elem())) {
            continue;
        }
        let text =
            format!("{} multiplies no 8-bit floats: the factors of this product become f16", target.name());
        told.push(remark(module, dot, Code::Target, text).rule("T12"));
        let Some(block) = module.ops[dot].block else { continue };
        let Some(at) = module.blocks[block].ops.iter().position(|&op| op == dot) else { continue };
        let behind = module.blocks[block].ops.split_off(at);
        let loc = module.ops[dot].loc;
        for (index, factor) in factors.into_iter().enumerate() {
            let wide = wide(&mut Emit { out: module, block, loc }, factor);
            if let (Some(wide), Some(operand)) = (wide, module.ops[dot].operands.get_mut(index)) {
                *operand = wide;
            }
        }
        module.blocks[block].ops.extend(behind);
    }
    told
}

/// Whether elements are 8-bit floats.
fn is_narrow(elem: &Type) -> bool {
    matches!(elem, Type::Float(FloatKind::F8E4M3FN | FloatKind::F8E5M2))
}

/// A factor as f16: the tile behind its views is converted, and seen the same way.
fn wide(emit: &mut Emit<'_>, factor: ValueId) -> Option<ValueId> {
    let seen = look_through(emit.out, factor);
    let half = Type::Float(FloatKind::F16);
    let ty = emit.out.ty(seen.base).with_elem(half.clone());
    let mut value = emit.value(Opcode::FpToFp, &[seen.base], &ty);
    for &view in seen.views.iter().rev() {
        let block = emit.block;
        let from = *emit.out.ops[view].operands.first()?;
        let to = emit.out.ty(emit.out.result(view)?).with_elem(half.clone());
        let copy = emit.out.clone_op(view, block, &mut HashMap::from([(from, value)]));
        value = emit.out.result(copy)?;
        emit.out.values[value].ty = to;
    }
    Some(value)
}
