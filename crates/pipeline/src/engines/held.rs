//! Elements of tiles that lanes hold at once in a kernel without a product.

use std::collections::{BTreeMap, BTreeSet};

use warploom_ir::{Module, OpId, Opcode, Type, ValueId};

use crate::walk::Users;

/// The most elements held at once, of operations in the order of the text. What is loaded, reduced or carried is held from
/// there to the last that needs it; what is computed element by element is made where it is needed, from what is held.
pub(super) fn most(module: &Module, ops: &[OpId]) -> u64 {
    let place: BTreeMap<OpId, usize> = ops.iter().enumerate().map(|(at, &op)| (op, at)).collect();
    let users = Users::new(module);
    // Where the loops end.
    let mut ends: BTreeMap<OpId, usize> = BTreeMap::new();
    for (at, &op) in ops.iter().enumerate() {
        for around in loops(module, op) {
            ends.insert(around, at);
        }
    }
    let mut change = vec![0i64; ops.len() + 1];
    for (from, &op) in ops.iter().enumerate().filter(|(_, op)| holds(module, **op)) {
        for &value in &module.ops[op].results {
            let elements = elements(module, value);
            if elements == 0 {
                continue;
            }
            let needed = needed(module, &users, value).into_iter().filter_map(|user| {
                // In a loop that began later it is needed again in each trip.
                let later = loops(module, user).filter(|l| place.get(l).is_some_and(|&begin| begin > from));
                let ends = later.filter_map(|l| ends.get(&l).copied());
                ends.chain(place.get(&user).copied()).max()
            });
            let to = needed.max().unwrap_or(from).max(from);
            let elements = i64::try_from(elements).unwrap_or(i64::MAX / 4);
            change[from] += elements;
            change[to] -= elements;
        }
    }
    let sums = change.iter().scan(0i64, |live, &c| {
        *live = live.saturating_add(c);
        Some(*live)
    });
    u64::try_from(sums.max().unwrap_or(0)).unwrap_or(0)
}

/// The loops around an operation.
fn loops(module: &Module, op: OpId) -> impl Iterator<Item = OpId> + '_ {
    let around = std::iter::successors(module.parent(op), |&at| module.parent(at));
    around.filter(|&at| matches!(module.ops[at].opcode, Opcode::For | Opcode::While))
}

/// Whether lanes keep what an operation makes.
fn holds(module: &Module, op: OpId) -> bool {
    use Opcode::*;
    matches!(
        module.ops[op].opcode,
        Load | DescriptorLoad | AtomicRmw | AtomicCas | Reduce | Scan | Gather | For | While | If
    )
}

/// Elements of a tile of numbers.
fn elements(module: &Module, value: ValueId) -> u64 {
    let ty = module.ty(value);
    let pointers = matches!(ty.elem(), Type::Ptr { .. });
    if ty.is_tensor() && !pointers { ty.elements().unwrap_or(0) } else { 0 }
}

/// Who needs a value: what keeps or stores something computed from it.
fn needed(module: &Module, users: &Users, value: ValueId) -> Vec<OpId> {
    let (mut found, mut stack, mut seen) = (Vec::new(), vec![value], BTreeSet::new());
    while let Some(value) = stack.pop() {
        for &user in users.of(value) {
            if !seen.insert(user) {
                continue;
            }
            let results = &module.ops[user].results;
            match holds(module, user) || results.is_empty() {
                true => found.push(user),
                false => stack.extend(results.iter().copied()),
            }
        }
    }
    found
}
