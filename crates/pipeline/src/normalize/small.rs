//! Products that are smaller than what a tensor core multiplies: lanes multiply them (Q20, T12).

use warploom_ir::diag::{Code, Diagnostic};
use warploom_ir::{Module, OpId, Opcode};

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

/// Makes `warploom.dot_fma` of a product.
pub(crate) fn multiply_by_lanes(module: &mut Module, dot: OpId) {
    module.ops[dot].opcode = Opcode::DotFma;
    module.ops[dot].props.remove("inputPrecision");
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
