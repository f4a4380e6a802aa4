//! Does hand-written text order the uses of shared leaves (A49)?
//!
//! What is known is program order in each partition, and that an arrival on a barrier comes before the wait for
//! it. Tensor-core operations and bulk copies complete later than they issue: what they read is done with when
//! the barrier they name, or the next commit, is waited for.

use hashbrown::{HashMap, HashSet};

use super::print::constant;
use super::read::Kernel;
use super::tree::{OpId, Tree, ValueId};
use crate::error::{AliasError, Note, Pos};
use crate::group::{Element, GroupKind, ReuseGroup};
use crate::model::LeafId;

/// Texts with more uses of leaves than this are not looked at; a note says so.
const MOST_USES: usize = 2000;

/// Where views, captures and loops lead back to.
pub(crate) struct Roots<'t> {
    tree: &'t Tree,
    from: HashMap<ValueId, ValueId>,
}

impl<'t> Roots<'t> {
    /// Of the values of one function, whose operations these are.
    pub(crate) fn new(tree: &'t Tree, ops: &[OpId]) -> Roots<'t> {
        let mut from = HashMap::new();
        for id in ops.iter().copied() {
            let Some(op) = tree.ops.get(id) else { continue };
            let (skip, inits) = match op.name.as_str() {
                "ttg.warp_specialize" => (0, tree.operands(id)),
                "scf.for" => (1, tree.operands(id).split_off(3.min(tree.operands(id).len()))),
                _ => continue,
            };
            for region in tree.regions_of(id) {
                let blocks = tree.regions.get(region).map_or(&[][..], |r| r.blocks.as_slice());
                let args =
                    blocks.first().and_then(|b| tree.blocks.get(*b)).map_or(&[][..], |b| b.args.as_slice());
                from.extend(args.iter().skip(skip).copied().zip(inits.iter().copied()));
            }
            if skip == 1 {
                from.extend(op.results.iter().copied().zip(inits));
            }
        }
        Roots { tree, from }
    }

    /// The value that a value is a view of.
    pub(crate) fn of(&self, value: ValueId) -> ValueId {
        let mut at = value;
        for _ in 0..self.tree.values.len() {
            if let Some(next) = self.from.get(&at) {
                at = *next;
                continue;
            }
            let def = self.tree.values.get(at).and_then(|v| v.def).and_then(|d| self.tree.ops.get(d));
            let view = |name: &str| name.starts_with("ttg.memdesc_") || name == "ttng.tmem_subslice";
            let reused = |name: &str| name == "tlx.local_alias" || name == "warploom.view";
            match def
                .filter(|o| view(&o.name) || reused(&o.name))
                .and_then(|o| o.form.as_ref()?.operands.first())
            {
                Some(next) => at = *next,
                None => return at,
            }
        }
        at
    }

    /// The constant index of a barrier or buffer, if it has one.
    fn index(&self, value: ValueId) -> Option<i64> {
        let def = self.tree.values.get(value)?.def.and_then(|d| self.tree.ops.get(d))?;
        let index = def.form.as_ref().filter(|_| def.name == "ttg.memdesc_index")?.operands.get(1)?;
        constant(self.tree.values.get(*index)?.def.and_then(|d| self.tree.ops.get(d))?).map(|c| c.0)
    }
}

/// One use of a leaf.
struct Access {
    op: OpId,
    leaf: LeafId,
    index: Option<i64>,
    write: bool,
}

/// What each operation does to its memory operands.
fn writes(name: &str, operand: usize, last: usize) -> (bool, bool) {
    // (reads, writes)
    match name {
        "ttg.local_load" | "ttng.tmem_load" | "ttng.warp_group_dot" | "tt.dot" => (true, false),
        "ttg.local_store" | "ttng.tmem_store" => {
            (false, operand == last || name == "ttng.tmem_store" && operand == 0)
        }
        "ttng.async_tma_copy_global_to_local" | "ttg.async_copy_global_to_local" => (false, true),
        "ttng.async_tma_copy_local_to_global" | "ttng.async_tma_reduce" => (true, false),
        // a, b, d: the accumulator is read and written.
        "ttng.tc_gen5_mma" | "ttng.tc_gen5_mma_scaled" => (true, operand == 2),
        "ttng.tmem_copy" => (operand == 0, operand != 0),
        _ => (true, true),
    }
}

fn asynchronous(name: &str) -> bool {
    name.starts_with("ttng.tc_gen5_mma")
        || name.starts_with("ttng.async_tma_copy")
        || name == "ttng.tmem_copy"
}

/// The graph of what is known to come before what. Nodes are issue (2 n) and completion (2 n + 1) of operation n.
struct Known {
    next: HashMap<usize, Vec<usize>>,
}

impl Known {
    fn reaches(&self, from: usize, to: usize) -> bool {
        let mut seen = HashSet::new();
        let mut work = vec![from];
        while let Some(n) = work.pop() {
            for next in self.next.get(&n).into_iter().flatten() {
                if *next == to {
                    return true;
                }
                if seen.insert(*next) {
                    work.push(*next);
                }
            }
        }
        false
    }
}

/// The agent of an operation: the partition around it, `default`, or the code around them all.
fn agent(tree: &Tree, id: OpId) -> (Option<(OpId, usize)>, String) {
    let mut at = id;
    while let Some(parent) = tree.parent(at) {
        if tree.ops.get(parent).is_some_and(|o| o.name == "ttg.warp_specialize") {
            let block = tree.ops.get(at).and_then(|o| o.block).and_then(|b| tree.blocks.get(b));
            let region = block.map_or(0, |b| b.region);
            let n = tree.regions_of(parent).iter().position(|r| *r == region).unwrap_or(0);
            let name = if n == 0 { "default".to_owned() } else { format!("partition{}", n - 1) };
            return (Some((parent, n)), name);
        }
        at = parent;
    }
    (None, "main".to_owned())
}

/// Warnings for each last use of a leaf that nothing orders before the first write of one that it shares with.
pub(crate) fn unordered(tree: &Tree, ops: &[OpId], kernel: &Kernel) -> Vec<Note> {
    if !ops.iter().any(|o| tree.ops.get(*o).is_some_and(|o| o.name == "ttg.warp_specialize")) {
        return Vec::new();
    }
    let roots = Roots::new(tree, ops);
    let leaf_of: HashMap<ValueId, LeafId> =
        kernel.leaves.iter().filter_map(|(l, o)| Some((*tree.ops.get(*o)?.results.first()?, *l))).collect();
    let mut accesses: Vec<Access> = Vec::new();
    for id in ops {
        let Some(op) = tree.ops.get(*id) else { continue };
        let carries = op.name.starts_with("ttg.memdesc_")
            || op.name.starts_with("tlx.")
            || matches!(
                op.name.as_str(),
                "ttg.warp_specialize" | "scf.for" | "scf.yield" | "ttng.tmem_subslice" | "ttg.warp_yield"
            );
        if carries {
            continue;
        }
        let operands = tree.operands(*id);
        for (n, value) in operands.iter().enumerate() {
            let Some(leaf) = leaf_of.get(&roots.of(*value)) else { continue };
            let (reads, write) = writes(&op.name, n, operands.len() - 1);
            for write in [(reads, false), (write, true)].into_iter().filter(|w| w.0).map(|w| w.1) {
                accesses.push(Access { op: *id, leaf: *leaf, index: roots.index(*value), write });
            }
        }
    }
    if accesses.len() > MOST_USES {
        let message = format!("the order of {} uses of leaves is not looked at", accesses.len());
        return vec![AliasError::note("A49", message).help("split the kernel")];
    }
    let known = known(tree, ops, &roots);
    let mut out = Vec::new();
    for (x, y) in pairs(kernel) {
        let reads: Vec<&Access> = accesses.iter().filter(|a| a.leaf == x && !a.write).collect();
        let writes: Vec<&Access> = accesses.iter().filter(|a| a.leaf == y && a.write).collect();
        let missing = reads.iter().find_map(|r| {
            let apart = |w: &Access| x == y && matches!((r.index, w.index), (Some(a), Some(b)) if a != b);
            let async_read = tree.ops.get(r.op).is_some_and(|o| asynchronous(&o.name));
            let done = 2 * r.op + usize::from(async_read);
            writes
                .iter()
                .find(|w| r.op != w.op && !apart(w) && !known.reaches(done, 2 * w.op))
                .map(|w| (*r, *w))
        });
        if let Some((r, w)) = missing {
            out.push(warning(tree, kernel, &accesses, r, w));
        }
    }
    out
}

/// Ordered pairs of leaves of one spec that may lie at one place: not separated by a distinct group.
fn pairs(kernel: &Kernel) -> Vec<(LeafId, LeafId)> {
    let m = &kernel.module;
    let mut out = Vec::new();
    for (spec, _) in &kernel.specs {
        let mut apart: HashSet<(LeafId, LeafId)> = HashSet::new();
        for overlap in m.overlaps_of(*spec) {
            distinct(&overlap.tree, &mut apart);
        }
        let leaves: Vec<LeafId> =
            m.leaves().filter(|(_, l)| l.spec() == Some(*spec)).map(|(id, _)| id).collect();
        for a in &leaves {
            out.extend(leaves.iter().filter(|b| a != *b && !apart.contains(&(*a, **b))).map(|b| (*a, *b)));
        }
    }
    out
}

fn distinct(group: &ReuseGroup, apart: &mut HashSet<(LeafId, LeafId)>) {
    let sets: Vec<Vec<LeafId>> = group
        .elements()
        .iter()
        .map(|e| match e {
            Element::Leaf(l) => vec![*l],
            Element::Group(g) => {
                distinct(g, apart);
                g.leaves()
            }
        })
        .collect();
    if group.kind() == GroupKind::Distinct {
        for (n, a) in sets.iter().enumerate() {
            for b in sets.iter().enumerate().filter(|(k, _)| *k != n).flat_map(|(_, b)| b) {
                apart.extend(a.iter().map(|a| (*a, *b)));
            }
        }
    }
}

/// Program order per agent, loops included; arrive before wait; completion before the wait that it signals.
fn known(tree: &Tree, ops: &[OpId], roots: &Roots<'_>) -> Known {
    let mut next: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut add = |from: usize, to: usize| next.entry(from).or_default().push(to);
    let mut last: HashMap<Option<(OpId, usize)>, OpId> = HashMap::new();
    let mut arrivals: Vec<(usize, ValueId, Option<i64>)> = Vec::new();
    let mut waits: Vec<(usize, ValueId, Option<i64>)> = Vec::new();
    let mut running: HashMap<Option<(OpId, usize)>, Vec<OpId>> = HashMap::new();
    for id in ops {
        let Some(op) = tree.ops.get(*id) else { continue };
        let (who, _) = agent(tree, *id);
        add(2 * id, 2 * id + 1);
        if let Some(before) = last.insert(who, *id) {
            add(2 * before, 2 * id);
        }
        let barriers = |tree: &Tree| -> Vec<(ValueId, Option<i64>)> {
            let values = tree.operands(*id);
            let bars = values
                .into_iter()
                .filter(|v| tree.ty(*v).is_some_and(|t| t.contains("xi64") || t.contains("<i64")));
            bars.map(|v| (roots.of(v), roots.index(v))).collect()
        };
        match op.name.as_str() {
            "ttng.wait_barrier" => {
                waits.extend(barriers(tree).into_iter().take(1).map(|(r, i)| (2 * id, r, i)))
            }
            "ttng.arrive_barrier" | "ttng.barrier_expect" => {
                arrivals.extend(barriers(tree).into_iter().map(|(r, i)| (2 * id, r, i)));
            }
            "ttng.tc_gen5_commit" => {
                for bar in barriers(tree) {
                    let done = running.get(&who).into_iter().flatten();
                    arrivals.extend(done.map(|n| (2 * n + 1, bar.0, bar.1)));
                }
            }
            name if asynchronous(name) => {
                arrivals.extend(barriers(tree).into_iter().map(|(r, i)| (2 * id + 1, r, i)));
                running.entry(who).or_default().push(*id);
            }
            _ => {}
        }
        // The last operation of a loop comes before the first one of the next iteration.
        if matches!(op.name.as_str(), "scf.yield")
            && tree.parent(*id).and_then(|p| tree.ops.get(p)).is_some_and(|p| p.name == "scf.for")
            && let Some(first) = op.block.and_then(|b| tree.blocks.get(b)).and_then(|b| b.ops.first())
        {
            add(2 * id, 2 * first);
        }
        // Partitions begin after what stands before them.
        if op.name == "ttg.warp_specialize" {
            for region in tree.regions_of(*id) {
                let blocks = tree.regions.get(region).map_or(&[][..], |r| r.blocks.as_slice());
                if let Some(first) =
                    blocks.first().and_then(|b| tree.blocks.get(*b)).and_then(|b| b.ops.first())
                {
                    add(2 * id, 2 * first);
                }
            }
        }
    }
    for (from, bar, index) in arrivals {
        for (to, other, at) in &waits {
            let same = match (index, at) {
                (Some(a), Some(b)) => a == *b,
                // Two computed indices are taken to walk the ring together.
                (a, b) => a.is_none() == b.is_none(),
            };
            if bar == *other && same {
                add(from, *to);
            }
        }
    }
    Known { next }
}

fn warning(tree: &Tree, kernel: &Kernel, all: &[Access], r: &Access, w: &Access) -> Note {
    let name = |leaf: LeafId| kernel.module.leaf(leaf).shown();
    let show = |id: OpId| tree.ops.get(id).map_or("", |o| o.name.as_str());
    let at = |id: OpId| tree.ops.get(id).map_or(Pos { line: 1, col: 1 }, |o| o.pos);
    let first = |leaf: LeafId| all.iter().filter(|a| a.leaf == leaf && a.write).map(|a| at(a.op)).min();
    // Written later in the body: in the same iteration; else one later (A46).
    let distance = u32::from(first(r.leaf) >= first(w.leaf));
    let when = if distance == 1 { " one iteration later" } else { "" };
    let message = format!(
        "nothing orders the last read of {} ({}, agent {}) before the first write of {}{when} ({}, agent {}): \
         missing edge {} -> {}, distance {distance}",
        name(r.leaf),
        show(r.op),
        agent(tree, r.op).1,
        name(w.leaf),
        show(w.op),
        agent(tree, w.op).1,
        name(r.leaf),
        name(w.leaf)
    );
    AliasError::warning("A49", message).at(at(r.op)).related("the write is here", at(w.op)).help(
        "arrive on a barrier after the read and wait for it before the write, or make the leaves distinct",
    )
}
