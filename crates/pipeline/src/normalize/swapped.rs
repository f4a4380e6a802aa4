//! Products of few rows beside products of many: operands swapped, so that one asynchronous instruction has them all (Q25).
//!
//! wgmma and tcgen05.mma multiply 64 rows at least. `dot a, b, c` of fewer rows and of 64 columns or a multiple is
//! `trans (dot (trans b), (trans a), (trans c))`: shared memory is read either way, and what lanes compute lies as its
//! readers want it.

use warploom_chips::mma::MmaInstruction;
use warploom_ir::{Module, OpId, Opcode, ValueDef, ValueId};

use crate::normalize::turned::turn;
use crate::walk::preorder;

/// Rows of the smallest asynchronous product.
const ROWS: u64 = 64;

/// Swaps the operands of such products of a function, whose products are multiplied by this instruction; whether there
/// were any.
pub(crate) fn swap(kernel: &mut Module, func: OpId, by: MmaInstruction) -> bool {
    if by == MmaInstruction::MmaSync {
        return false;
    }
    let dots: Vec<OpId> =
        preorder(kernel, func).into_iter().filter(|&op| kernel.ops[op].opcode == Opcode::Dot).collect();
    let (few, many): (Vec<OpId>, Vec<OpId>) =
        dots.into_iter().partition(|&dot| extents(kernel, dot).is_none_or(|[m, _]| !m.is_multiple_of(ROWS)));
    // Where some product stays as it is, the kernel has synchronous ones anyway.
    if few.is_empty() || many.is_empty() || !few.iter().all(|&dot| is_covered(kernel, dot)) {
        return false;
    }
    turn(kernel, func, &few.into_iter().collect());
    true
}

/// Rows and columns of a product.
fn extents(kernel: &Module, dot: OpId) -> Option<[u64; 2]> {
    kernel.ty(kernel.result(dot)?).shape().try_into().ok()
}

/// Whether a product with its operands swapped has the rows, and no loop carries what it adds to.
fn is_covered(kernel: &Module, dot: OpId) -> bool {
    let carried = |&into: &ValueId| matches!(kernel.values[into].def, ValueDef::Argument { .. });
    let new = !kernel.ops[dot].operands.get(2).is_some_and(carried);
    new && extents(kernel, dot).is_some_and(|[m, n]| m.is_multiple_of(8) && n.is_multiple_of(ROWS))
}
