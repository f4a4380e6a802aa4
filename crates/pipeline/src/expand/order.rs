//! What a program writes to global memory it reads before or after: its lanes meet in between (C7).
//!
//! A kernel is one thread of control; its partition is many lanes, each of which moves elements of its own. Where an
//! access follows a write through the same argument, or one that cannot be told apart from it, all warps meet in front
//! of it; so they do where a write follows a read, unless each lane writes what it has read itself.

use std::collections::BTreeMap;

use warploom_ir::vectors::{Along, Vectors};
use warploom_ir::{Attr, BlockId, Module, OpId, Opcode, SecondaryMap, ValueId};

use crate::buffers::planned::Planned;
use crate::engines::{PartitionShape, RegisterLayout, WHOLE};
use crate::transports::roots::Roots;
use crate::walk::{Users, preorder};

/// An access of global memory.
#[derive(Clone, Copy)]
struct Access {
    op: OpId,
    pointer: Option<ValueId>,
    root: Option<ValueId>,
    writes: bool,
    /// The outermost loop around it.
    around: Option<OpId>,
}

/// What a meeting puts in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Meeting {
    /// What was written before it.
    Writes,
    /// What was read before it, too: nothing that reads global memory may be put off behind it.
    Reads,
}

/// Where the warps of a kernel of this shape must meet: in front of these operations.
pub(crate) fn meetings(
    module: &Module,
    func: OpId,
    planned: &Planned,
    shape: &PartitionShape,
) -> BTreeMap<OpId, Meeting> {
    let ops = preorder(module, func);
    let accesses = accesses(module, &ops);
    // Pipelined loads begin to come in front of their loop.
    let pipelined: BTreeMap<OpId, OpId> =
        planned.loops.iter().flat_map(|l| l.tiles.iter().map(|t| (t.op, l.scf_for))).collect();
    let vectors = Vectors::new(module, func);
    let mut before = Before { module, shape, vectors, ends: Ends::new(module, &ops), seen: BTreeMap::new() };
    let mut found = BTreeMap::new();
    // In a loop, what stands behind an access comes before it in the next trip.
    for together in accesses.chunk_by(|a, b| a.around.is_some() && a.around == b.around) {
        together.iter().for_each(|access| before.add(access));
        for later in together {
            let Some(meeting) = before.meeting(later) else { continue };
            let place = found.entry(pipelined.get(&later.op).copied().unwrap_or(later.op)).or_insert(meeting);
            *place = meeting.max(*place);
        }
    }
    spare(module, &ops, planned, &mut found);
    found
}

/// Leaves out meetings behind which nothing was written since one before them. Loops that are pipelined are left alone, for
/// what stands in their text comes in another order.
fn spare(module: &Module, ops: &[OpId], planned: &Planned, found: &mut BTreeMap<OpId, Meeting>) {
    let is_pipelined = |op: OpId| planned.loops.iter().any(|l| l.scf_for == op);
    let writes =
        |op: OpId| preorder(module, op).into_iter().any(|op| module.ops[op].opcode.facts().effect.writes());
    for &around in ops.iter().filter(|&&op| !is_pipelined(op)) {
        let regions = module.ops[around].regions.iter();
        for &block in regions.flat_map(|&region| &module.regions[region].blocks) {
            let mut have_met = false;
            for &op in &module.blocks[block].ops {
                match found.get(&op) {
                    Some(Meeting::Writes) if have_met => {
                        found.remove(&op);
                    }
                    Some(_) => have_met = true,
                    None => {}
                }
                have_met = have_met && !writes(op);
            }
        }
    }
}

/// The accesses among operations in the order of the text.
fn accesses(module: &Module, ops: &[OpId]) -> Vec<Access> {
    let mut loops: BTreeMap<OpId, OpId> = BTreeMap::new();
    let (mut roots, mut found) = (Roots::new(module), Vec::new());
    for &op in ops {
        let data = &module.ops[op];
        let around = module.parent(op).and_then(|parent| loops.get(&parent).copied());
        let is_loop = matches!(data.opcode, Opcode::For | Opcode::While);
        if let Some(outermost) = around.or(is_loop.then_some(op)).filter(|_| !data.regions.is_empty()) {
            loops.insert(op, outermost);
        }
        let writes = data.opcode.facts().effect.writes();
        if writes || data.opcode == Opcode::Load {
            let pointer = data.operands.first().copied();
            found.push(Access { op, pointer, root: roots.of(pointer), writes, around });
        }
    }
    found
}

/// How many accesses there are of each kind.
#[derive(Clone, Debug, Default)]
struct Count {
    writes: usize,
    reads: usize,
}

/// The accesses that may come before one, counted so that none is looked at again.
struct Before<'m> {
    module: &'m Module,
    shape: &'m PartitionShape,
    vectors: Vectors,
    ends: Ends,
    /// By what they lead to: see [`Before::keys`].
    seen: BTreeMap<Key, Count>,
}

/// What accesses are counted by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Key {
    /// All of them.
    All,
    /// Through this argument; `None` where it cannot be told.
    Root(Option<ValueId>),
    /// Loads through these pointers whose elements stay in their lanes, up to this operation alone or up to none.
    Kept(ValueId, Option<OpId>),
}

impl Before<'_> {
    fn count(&self, key: Key) -> Count {
        self.seen.get(&key).cloned().unwrap_or_default()
    }

    fn add(&mut self, access: &Access) {
        let mut keys = vec![Key::All, Key::Root(access.root)];
        if !access.writes
            && let Some(pointer) = access.pointer
        {
            match self.ends.of(self.module, access.op) {
                End::None => keys.push(Key::Kept(pointer, None)),
                End::One(op) => keys.push(Key::Kept(pointer, Some(op))),
                End::Many => {}
            }
        }
        for key in keys {
            let count = self.seen.entry(key).or_default();
            *(if access.writes { &mut count.writes } else { &mut count.reads }) += 1;
        }
    }

    /// What must have ended in front of an access, itself among those that were added.
    fn meeting(&self, later: &Access) -> Option<Meeting> {
        let Count { writes, reads } = match later.root {
            None => self.count(Key::All),
            Some(_) => {
                let (same, unknown) = (self.count(Key::Root(later.root)), self.count(Key::Root(None)));
                Count { writes: same.writes + unknown.writes, reads: same.reads + unknown.reads }
            }
        };
        if later.writes && reads > self.in_place(later) {
            return Some(Meeting::Reads);
        }
        (writes > usize::from(later.writes)).then_some(Meeting::Writes)
    }

    /// Of how many loads each lane that writes has itself read the element that it writes, and nobody else needs it:
    /// what is loaded goes element by element into a store through the same pointers, and no lane holds a copy.
    fn in_place(&self, store: &Access) -> usize {
        let Some(pointer) = store.pointer.filter(|&v| self.has_no_copies(v)) else { return 0 };
        let unused = self.count(Key::Kept(pointer, None)).reads;
        let used = match self.ends.of(self.module, store.op) {
            End::Many => 0,
            End::One(op) if op != store.op => 0,
            _ => self.count(Key::Kept(pointer, Some(store.op))).reads,
        };
        unused + used
    }

    /// Whether one lane alone holds each element of a tile. Of a matrix that has more elements than there are lanes, one does;
    /// a vector has copies in all lanes that stand beside each other across it, and what is small is held whole.
    fn has_no_copies(&self, tile: ValueId) -> bool {
        let (ty, threads) = (self.module.ty(tile), 32 * self.shape.warps);
        let Some(elements) = ty.elements() else { return true };
        let alone = match (ty.shape(), self.shape.layout) {
            (&[columns], RegisterLayout::Blocked { vector, across }) => {
                let runs_down = self.vectors.of(tile) == Some(Along::Rows);
                across == threads && columns.is_multiple_of(vector * across) && !runs_down
            }
            (shape, _) => shape.iter().filter(|n| **n > 1).count() > 1 && elements > WHOLE,
        };
        alone && elements >= threads
    }
}

/// Where elements end that operations hand on lane by lane, as tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum End {
    /// Nowhere.
    #[default]
    None,
    /// In one operation, which does something else with them.
    One(OpId),
    /// In several, or in one that makes of a tile something that every lane holds.
    Many,
}

impl End {
    fn and(self, other: End) -> End {
        match (self, other) {
            (End::None, end) | (end, End::None) => end,
            (a, b) if a == b => a,
            _ => End::Many,
        }
    }
}

/// Where the elements of each value end.
struct Ends(SecondaryMap<ValueId, End>);

impl Ends {
    /// Of the values of operations in the order of the text.
    fn new(module: &Module, ops: &[OpId]) -> Ends {
        let users = Users::new(module);
        let mut ends = Ends(SecondaryMap::new());
        // Who reads a value stands behind it.
        for &op in ops.iter().rev() {
            for &result in &module.ops[op].results {
                let through = users.of(result).iter().map(|&user| ends.through(module, user));
                let end = through.fold(End::None, End::and);
                ends.0[result] = end;
            }
        }
        ends
    }

    /// Where what a user is given ends.
    fn through(&self, module: &Module, user: OpId) -> End {
        let data = &module.ops[user];
        match data.results.iter().all(|&v| module.ty(v).is_tensor()) {
            false => End::Many,
            true if data.opcode.facts().category.is_elementwise() => self.of(module, user),
            true => End::One(user),
        }
    }

    /// Where the results of an operation end.
    fn of(&self, module: &Module, op: OpId) -> End {
        module.ops[op].results.iter().map(|&v| self.0[v]).fold(End::None, End::and)
    }
}

/// Lets all warps meet in front of operations.
pub(crate) fn meet(out: &mut Module, at: &BTreeMap<OpId, Meeting>, barrier: &str) -> Option<()> {
    let mut meetings: BTreeMap<BlockId, BTreeMap<OpId, OpId>> = BTreeMap::new();
    for (&op, &meeting) in at {
        let (block, loc) = (out.ops[op].block?, out.ops[op].loc);
        let sync = out.create_op(Opcode::BarrierSync, &[], &[], loc);
        out.ops[sync].props.set("barrier", Attr::symbol(barrier));
        if meeting == Meeting::Reads {
            // A mark of a stage would be lost where a loop is expanded.
            out.ops[sync].props.set("reads", Attr::string("global"));
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
