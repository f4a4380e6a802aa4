//! Views that give places other names and leave every element with the lane that holds it (G5).

use crate::{Module, OpId, Opcode, ValueId, walk};

/// Whether a reshape cuts the columns of a matrix into blocks that `tt.split` then tells apart behind `tt.trans`, or an
/// operation reads such a view: every lane keeps what it has where `span`, the columns below which the first column of every
/// lane lies, divides a block.
pub fn is_renamed(module: &Module, op: OpId, span: u64) -> bool {
    let data = &module.ops[op];
    let Some(&from) = data.operands.first() else { return false };
    if data.opcode != Opcode::Reshape {
        let source = module.def_op(from);
        return source.is_some_and(|source| {
            matches!(module.ops[source].opcode, Opcode::Reshape | Opcode::Trans)
                && is_renamed(module, source, span)
        });
    }
    let Some(to) = module.result(op) else { return false };
    let (&[rows, cols], &[first, blocks, inner]) = (module.ty(from).shape(), module.ty(to).shape()) else {
        return false;
    };
    let users = |value: ValueId| walk::uses(module, value).map(|(user, _)| user);
    let apart = |op: OpId| module.ops[op].opcode == Opcode::Split;
    let turned = users(to).all(|op| {
        module.ops[op].opcode == Opcode::Trans && module.result(op).is_some_and(|v| users(v).all(apart))
    });
    (rows, cols) == (first, blocks * inner)
        && inner.is_multiple_of(span)
        && users(to).next().is_some()
        && turned
}
