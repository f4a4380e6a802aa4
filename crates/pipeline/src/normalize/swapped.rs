//! Products of few rows beside products of many: operands swapped, so that one asynchronous instruction has them all (Q25).
//!
//! wgmma and tcgen05.mma multiply 64 rows at least. `dot a, b, c` of fewer rows and of 64 columns or a multiple is
//! `trans (dot (trans b), (trans a), (trans c))`: shared memory is read either way, and what lanes compute lies as its
//! readers want it.

use std::collections::HashMap;

use warploom_chips::mma::MmaInstruction;
use warploom_ir::{Module, OpId, Opcode, ValueDef, ValueId};

use crate::emit::{Emit, flipped};
use crate::normalize::plain::zero;
use crate::normalize::turned::sink;
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
    if many.is_empty() || !few.iter().all(|&dot| is_covered(kernel, dot)) {
        return false;
    }
    let seen: HashMap<ValueId, ValueId> = few.iter().filter_map(|&dot| swap_operands(kernel, dot)).collect();
    let swapped = !seen.is_empty();
    if swapped {
        sink(kernel, func, seen);
    }
    swapped
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

/// Swaps the operands of one product; what its result is seen as, and that.
fn swap_operands(kernel: &mut Module, dot: OpId) -> Option<(ValueId, ValueId)> {
    let (block, loc, result) = (kernel.ops[dot].block?, kernel.ops[dot].loc, kernel.result(dot)?);
    let &[a, b, into] = kernel.ops[dot].operands.get(..3)? else { return None };
    let at = kernel.blocks[block].ops.iter().position(|&op| op == dot)?;
    let behind = kernel.blocks[block].ops.split_off(at + 1);
    kernel.blocks[block].ops.truncate(at);
    let mut emit = Emit { out: kernel, block, loc };
    let operands = [emit.transposed(b), emit.transposed(a), turned(&mut emit, into)];
    emit.out.ops[dot].operands = operands.into_iter().collect();
    emit.out.append(block, dot);
    let (old, new) = (emit.out.ty(result).clone(), flipped(emit.out.ty(result)));
    emit.out.values[result].ty = new;
    let seen = emit.transposed(result);
    debug_assert_eq!(*emit.out.ty(seen), old);
    kernel.blocks[block].ops.extend(behind);
    let view = kernel.def_op(seen)?;
    kernel.replace_all_uses(result, seen);
    // The view itself sees the product.
    *kernel.ops[view].operands.get_mut(0)? = result;
    Some((seen, result))
}

/// What a product adds to, transposed; zeros are made anew.
fn turned(emit: &mut Emit<'_>, into: ValueId) -> ValueId {
    match emit.out.is_const_zero(into) {
        true => {
            let ty = flipped(emit.out.ty(into));
            let props = zero(&ty).map(|value| ("value", value));
            let op = emit.op(Opcode::Constant, &[], &[ty], props.as_slice());
            emit.out.result(op).unwrap_or(into)
        }
        false => emit.transposed(into),
    }
}
