//! Reductions of a whole tile, axis by axis (G15).
//!
//! `tl.sum(x)` of a matrix comes as a reshape into a vector whose order is free, and a reduction of that. No layout has
//! such a vector where the matrix lies: every element would go through scratch memory. Reducing the axes one after the
//! other leaves all of them where they are.

use std::borrow::Cow;
use std::collections::HashMap;

use warploom_ir::{Attr, Module, OpId, Opcode, Type, ValueId};

use crate::normalize::each::each;

/// The module with reductions of whole tiles in the function `entry` taken apart.
pub(crate) fn by_axes(module: Cow<'_, Module>, entry: OpId) -> Cow<'_, Module> {
    let fold = |module: &Module, op: OpId| Some((op, whole(module, op)?));
    each(module, entry, fold, |module, (reduce, tile)| {
        take_apart(module, reduce, tile);
    })
}

/// The tile of which a reduction folds every element in any order; none where the reduction is another one.
fn whole(module: &Module, reduce: OpId) -> Option<ValueId> {
    let data = &module.ops[reduce];
    let &[vector] = data.operands.as_slice() else { return None };
    if data.opcode != Opcode::Reduce || module.ty(vector).shape().len() != 1 {
        return None;
    }
    let reshape = module.def_op(vector).filter(|&op| module.ops[op].opcode == Opcode::Reshape)?;
    let free = matches!(module.attr(reshape, "allow_reorder"), Some(Attr::Unit | Attr::Bool(true)));
    let tile = module.ops[reshape].operands.first().copied()?;
    let matrix = matches!(*module.ty(tile).shape(), [rows, cols] if rows > 1 && cols > 1);
    (free && matrix).then_some(tile)
}

/// Reduces the columns of a tile first, and then what is left of its rows.
fn take_apart(module: &mut Module, reduce: OpId, tile: ValueId) {
    let (Some(block), Some(&rows)) = (module.ops[reduce].block, module.ty(tile).shape().first()) else {
        return;
    };
    let elem = module.ty(tile).elem().clone();
    let vector = module.clone_op(reduce, block, &mut HashMap::new());
    module.detach(vector);
    let Some(at) = module.blocks[block].ops.iter().position(|&op| op == reduce) else { return };
    module.insert(block, at, vector);
    module.ops[vector].props.set("axis", Attr::Int { value: 1, ty: Type::I32 });
    module.ops[vector].operands = [tile].into_iter().collect();
    let Some(partial) = module.result(vector) else { return };
    module.values[partial].ty = Type::tensor(&[rows], elem);
    module.ops[reduce].operands = [partial].into_iter().collect();
}
