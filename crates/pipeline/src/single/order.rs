//! What a program writes to global memory it reads before or after: its lanes meet in between (C7).
//!
//! A kernel is one thread of control; its partition is many lanes, each of which moves elements of its own. Where an
//! access follows a write through the same argument, or one that cannot be told apart from it, all warps meet in front
//! of it; so they do where a write follows a read, unless each lane writes what it has read itself.

use std::collections::BTreeMap;

use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, ValueId};

use super::find::root;
use super::planned::Planned;
use crate::nest::is_inside;
use crate::walk::{Users, preorder};

/// An access of global memory.
struct Access {
    op: OpId,
    root: Option<ValueId>,
    writes: bool,
}

/// What a meeting puts in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Meeting {
    /// What was written before it.
    Writes,
    /// What was read before it, too: nothing that reads global memory may be put off behind it.
    Reads,
}

/// Where the warps of a kernel must meet: in front of these operations. `threads` run it.
pub(super) fn meetings(
    module: &Module,
    func: OpId,
    planned: &Planned,
    threads: u64,
) -> BTreeMap<OpId, Meeting> {
    let accesses: Vec<Access> = preorder(module, func)
        .into_iter()
        .filter(|&op| module.ops[op].opcode.facts().effect.writes() || module.ops[op].opcode == Opcode::Load)
        .map(|op| Access {
            op,
            root: root(module, module.ops[op].operands.first().copied()),
            writes: module.ops[op].opcode.facts().effect.writes(),
        })
        .collect();
    let loops: Vec<OpId> = preorder(module, func)
        .into_iter()
        .filter(|&op| matches!(module.ops[op].opcode, Opcode::For | Opcode::While))
        .collect();
    let users = Users::new(module);
    let mut found = BTreeMap::new();
    for (at, later) in accesses.iter().enumerate() {
        let same = |a: &Access| a.root == later.root || a.root.is_none() || later.root.is_none();
        // In a loop, what stands behind it comes before it in the next trip.
        let around =
            |a: &Access| loops.iter().any(|&l| is_inside(module, a.op, l) && is_inside(module, later.op, l));
        let earlier = accesses.iter().take(at).chain(accesses.iter().skip(at + 1).filter(|a| around(a)));
        let met = |a: &Access| match (a.writes, later.writes) {
            _ if !same(a) => None,
            (true, _) => Some(Meeting::Writes),
            (false, true) if !in_place(module, &users, a.op, later.op, threads) => Some(Meeting::Reads),
            (false, _) => None,
        };
        if let Some(meeting) = earlier.filter_map(met).max() {
            // Pipelined loads begin to come in front of their loop.
            let pipelined = planned.loops.iter().find(|l| l.tiles.iter().any(|t| t.op == later.op));
            let place = found.entry(pipelined.map_or(later.op, |l| l.scf_for)).or_insert(meeting);
            *place = meeting.max(*place);
        }
    }
    found
}

/// Whether each lane that writes has itself read the element that it writes, and nobody else needs it: what is loaded goes
/// element by element into a store through the same pointers, and no lane holds a copy.
fn in_place(module: &Module, users: &Users, load: OpId, store: OpId, threads: u64) -> bool {
    let pointer = |op: OpId| module.ops[op].operands.first().copied();
    let wide = |v: ValueId| module.ty(v).elements().is_none_or(|elements| elements >= threads);
    if pointer(load) != pointer(store) || !pointer(load).is_some_and(wide) {
        return false;
    }
    let mut work = module.ops[load].results.clone();
    let mut seen = std::collections::HashSet::new();
    while let Some(value) = work.pop() {
        for &user in users.of(value) {
            let data = &module.ops[user];
            let lanewise = user == store || data.opcode.facts().category.is_elementwise();
            if !lanewise || !data.results.iter().all(|&v| module.ty(v).is_tensor()) {
                return false;
            }
            if seen.insert(user) {
                work.extend(data.results.iter().copied());
            }
        }
    }
    true
}

/// Lets all warps meet in front of operations.
pub(super) fn meet(out: &mut Module, at: &BTreeMap<OpId, Meeting>, barrier: &str) -> Option<()> {
    let mut meetings: BTreeMap<BlockId, BTreeMap<OpId, OpId>> = BTreeMap::new();
    for (&op, &meeting) in at {
        let (block, loc) = (out.ops[op].block?, out.ops[op].loc);
        let sync = out.create_op(Opcode::BarrierSync, &[], &[], loc);
        out.ops[sync].props.set("barrier", Attr::symbol(barrier));
        if meeting == Meeting::Reads {
            out.ops[sync].attrs.set("warploom.reads", Attr::string("global"));
        }
        out.ops[sync].block = Some(block);
        meetings.entry(block).or_default().insert(op, sync);
    }
    for (block, meetings) in meetings {
        let ops = std::mem::take(&mut out.blocks[block].ops);
        let with = |op: OpId| meetings.get(&op).copied().into_iter().chain([op]);
        out.blocks[block].ops = ops.into_iter().flat_map(with).collect();
    }
    Some(())
}
