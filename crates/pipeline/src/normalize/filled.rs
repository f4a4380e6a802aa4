//! Masked loads that something else than zero stands for: copies to shared memory fill in zeros alone, so that what is copied
//! is filled in where it is read (C24, C48).
//!
//! ```text
//! load p, mask, other     becomes     select(mask, load p, mask, 0, other)
//! ```

use std::collections::BTreeSet;

use warploom_ir::{Module, OpId, Opcode, walk};

use super::plain::zero;
use crate::emit::place_all;
use crate::transports::find::Found;

/// Fills in behind the loads that are copied by lanes; whether there were any.
pub(crate) fn behind_copies(kernel: &mut Module, found: &[Found]) -> bool {
    let copied: BTreeSet<OpId> =
        found.iter().flat_map(|l| &l.tiles).filter(|tile| tile.plan.is_none()).map(|tile| tile.op).collect();
    let filled = copied.into_iter().filter_map(|load| fill(kernel, load));
    filled.count() > 0
}

/// Fills in behind one load.
fn fill(kernel: &mut Module, load: OpId) -> Option<()> {
    let &[_, mask, other, ..] = kernel.ops[load].operands.as_slice() else { return None };
    let (result, block, loc) = (kernel.result(load)?, kernel.ops[load].block?, kernel.ops[load].loc);
    if kernel.is_zero(other) || !kernel.ty(mask).is_tensor() {
        return None;
    }
    let ty = kernel.ty(result).clone();
    let nothing = kernel.create_op(Opcode::Constant, &[], std::slice::from_ref(&ty), loc);
    kernel.ops[nothing].props.set("value", zero(&ty)?);
    let none = kernel.result(nothing)?;
    // What is widened is filled in behind that; what products read would be stored once more.
    let users: Vec<OpId> = walk::uses(kernel, result).map(|(user, _)| user).collect();
    let computes =
        |&user: &OpId| kernel.ops[user].opcode.is_elementwise() || kernel.ops[user].opcode == Opcode::Reduce;
    if !users.iter().all(computes) {
        return None;
    }
    let widened = match users.as_slice() {
        &[user] if kernel.ops[user].opcode == Opcode::ExtF && kernel.ops[user].block == Some(block) => {
            Some(user)
        }
        _ => None,
    };
    let (made, mut behind, at) = match widened {
        Some(user) => {
            let wide = kernel.result(user)?;
            let stands = kernel.create_op(Opcode::ExtF, &[other], &[kernel.ty(wide).clone()], loc);
            (wide, vec![stands], user)
        }
        None => (result, Vec::new(), load),
    };
    let stands = behind.first().and_then(|&op| kernel.result(op)).unwrap_or(other);
    let chosen = kernel.create_op(Opcode::Select, &[mask, made, stands], &[kernel.ty(made).clone()], loc);
    kernel.replace_all_uses(made, kernel.result(chosen)?);
    if let Some(operand) = kernel.ops[load].operands.get_mut(2) {
        *operand = none;
    }
    behind.push(chosen);
    let ops = &kernel.blocks[block].ops;
    let (before, after) = (ops.iter().position(|&op| op == load)?, ops.iter().position(|&op| op == at)? + 2);
    kernel.insert(block, before, nothing);
    place_all(kernel, block, after, behind);
    Some(())
}
