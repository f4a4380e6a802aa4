//! Products that are smaller than what a tensor core multiplies: lanes multiply them (Q20, T12).

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Attr, Module, OpId, Opcode, Type};

use super::split::TF32;
use crate::emit::Emit;
use crate::place::remark;
use crate::walk::preorder;

/// Makes `warploom.dot_fma` of each product of the function whose rows, columns or K are no multiples of the least that a
/// tensor core takes; tells of each.
pub(crate) fn by_lanes(module: &mut Module, func: OpId) -> Vec<Diagnostic> {
    let small: Vec<OpId> = preorder(module, func).into_iter().filter(|&op| is_small(module, op)).collect();
    let told = small.iter().map(|&dot| {
        let text = "this product is too small for tensor cores: lanes multiply";
        remark(module, dot, Code::Shape, text)
            .rule("T12")
            .note("tensor cores", "multiples of 16 rows, 8 columns and 32 B along K")
    });
    let told = told.collect();
    for dot in small {
        multiply_by_lanes(module, dot);
    }
    told
}

/// Makes `warploom.dot_fma` of a product. Of f32 for which tf32 is enough, lanes multiply what tensor cores would: a product
/// means the same whoever multiplies (C7).
pub(crate) fn multiply_by_lanes(module: &mut Module, dot: OpId) {
    if module.attr(dot, "inputPrecision").and_then(Attr::as_str) == Some("tf32") {
        cut_operands(module, dot);
    }
    module.ops[dot].opcode = Opcode::DotFma;
    module.ops[dot].props.remove("inputPrecision");
}

/// Drops the bits of operands of f32 that tf32 has not.
fn cut_operands(module: &mut Module, dot: OpId) -> Option<()> {
    let (block, loc) = (module.ops[dot].block?, module.ops[dot].loc);
    let at = module.blocks[block].ops.iter().position(|&op| op == dot)?;
    let behind = module.blocks[block].ops.split_off(at);
    for index in 0..2 {
        let operand = *module.ops[dot].operands.get(index)?;
        if *module.ty(operand).elem() != Type::F32 {
            continue;
        }
        let cut = Emit { out: module, block, loc }.high(operand, TF32);
        *module.ops[dot].operands.get_mut(index)? = cut;
    }
    module.blocks[block].ops.extend(behind);
    Some(())
}

/// Whether an operation is a product of such matrices.
fn is_small(module: &Module, op: OpId) -> bool {
    let data = &module.ops[op];
    let [a, b, ..] = data.operands.as_slice() else { return false };
    let (a, b) = (module.ty(*a), module.ty(*b));
    let (&[m, k], &[_, n]) = (a.shape(), b.shape()) else { return false };
    let bits = a.elem_bits().map_or(0, u64::from);
    let whole = m.is_multiple_of(16) && n.is_multiple_of(8) && k.saturating_mul(bits).is_multiple_of(256);
    data.opcode == Opcode::Dot && !whole
}
