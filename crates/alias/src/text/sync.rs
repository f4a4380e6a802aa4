//! Does hand-written text order the uses of shared leaves (A49)?
//!
//! What is known is program order in each partition, and that an arrival on a barrier comes before the wait for
//! it. Tensor-core operations and bulk copies complete later than they issue: what they read is done with when
//! the barrier they name, or the next commit, is waited for.

use bitvec::vec::BitVec;
use hashbrown::{HashMap, HashSet};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Dfs;
use warploom_ir::{OpId, Opcode, ValueId};

use super::part::TextPart;
use super::read::Kernel;
use super::views::Roots;
use crate::error::{AliasError, AliasNote};
use crate::group::{GroupElement, GroupKind, ReuseGroup};
use crate::model::LeafId;

/// Texts with more uses of leaves than this are not looked at; a note says so.
const MOST_USES: usize = 2000;

/// One use of a leaf.
struct Access {
    op: OpId,
    leaf: LeafId,
    index: Option<i128>,
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

/// Who runs an operation: a region of a `ttg.warp_specialize`, or the code around them all.
type Partition = Option<(OpId, usize)>;

/// The partition of an operation, and its name.
fn partition(part: &TextPart, op: OpId) -> (Partition, String) {
    let m = &part.module;
    let mut at = op;
    while let Some(parent) = m.parent(at) {
        if part.name(parent) == "ttg.warp_specialize" {
            let region = m.ops[at].block.and_then(|b| m.blocks[b].region);
            let n = m.ops[parent].regions.iter().position(|r| Some(*r) == region).unwrap_or(0);
            let name = if n == 0 { "default".to_owned() } else { format!("partition{}", n - 1) };
            return (Some((parent, n)), name);
        }
        at = parent;
    }
    (None, "main".to_owned())
}

/// Warnings for each last use of a leaf that nothing orders before the first write of one that it shares with.
pub(crate) fn unordered(part: &TextPart, ops: &[OpId], kernel: &Kernel) -> Vec<AliasNote> {
    if !ops.iter().any(|op| part.name(*op) == "ttg.warp_specialize") {
        return Vec::new();
    }
    let roots = Roots::new(part, ops);
    let accesses = accesses(part, ops, kernel, &roots);
    if accesses.len() > MOST_USES {
        let message = format!("the order of {} uses of leaves is not looked at", accesses.len());
        return vec![AliasError::note("A49", message).help("split the kernel")];
    }
    let mut known = Known::new(part, ops, &roots);
    let mut out = Vec::new();
    for (x, y) in pairs(kernel) {
        let reads: Vec<&Access> = accesses.iter().filter(|a| a.leaf == x && !a.write).collect();
        let writes: Vec<&Access> = accesses.iter().filter(|a| a.leaf == y && a.write).collect();
        let missing = reads.iter().find_map(|r| {
            let apart = |w: &Access| x == y && matches!((r.index, w.index), (Some(a), Some(b)) if a != b);
            let done = known.read(r.op, asynchronous(part.name(r.op)));
            writes
                .iter()
                .find(|w| r.op != w.op && !apart(w) && !known.reaches(done, known.issue(w.op)))
                .map(|w| (*r, *w))
        });
        if let Some((r, w)) = missing {
            out.push(warning(part, kernel, &accesses, r, w));
        }
    }
    out
}

/// Every use of a leaf, in the order of the text.
fn accesses(part: &TextPart, ops: &[OpId], kernel: &Kernel, roots: &Roots<'_>) -> Vec<Access> {
    let leaf_of: HashMap<ValueId, LeafId> =
        kernel.leaves.iter().filter_map(|(l, op)| Some((part.result(*op)?, *l))).collect();
    let mut accesses: Vec<Access> = Vec::new();
    for op in ops.iter().copied() {
        let name = part.name(op);
        let carries = name.starts_with("ttg.memdesc_")
            || name.starts_with("tlx.")
            || matches!(
                name,
                "ttg.warp_specialize" | "scf.for" | "scf.yield" | "ttng.tmem_subslice" | "ttg.warp_yield"
            );
        if carries {
            continue;
        }
        let operands = &part.module.ops[op].operands;
        for (n, value) in operands.iter().enumerate() {
            let Some(leaf) = leaf_of.get(&roots.of(*value)) else { continue };
            let (reads, write) = writes(name, n, operands.len() - 1);
            for write in [(reads, false), (write, true)].into_iter().filter(|w| w.0).map(|w| w.1) {
                accesses.push(Access { op, leaf: *leaf, index: roots.index(*value), write });
            }
        }
    }
    accesses
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
            GroupElement::Leaf(l) => vec![*l],
            GroupElement::Group(g) => {
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

/// What is known to come before what. Each operation has two nodes: its issue and its completion.
struct Known {
    graph: DiGraph<(), ()>,
    /// Number of an operation among those of the function.
    number: HashMap<OpId, usize>,
    /// What was asked for: everything that comes after a node.
    after: HashMap<NodeIndex, BitVec>,
}

/// A barrier: the allocation, and which one of it where that is constant.
type Barrier = (ValueId, Option<i128>);

impl Known {
    /// Program order per partition, loops included; arrive before wait; completion before the wait that it signals.
    fn new(part: &TextPart, ops: &[OpId], roots: &Roots<'_>) -> Known {
        let m = &part.module;
        let number = ops.iter().enumerate().map(|(n, op)| (*op, n)).collect();
        let graph = DiGraph::with_capacity(2 * ops.len(), 4 * ops.len());
        let mut known = Known { graph, number, after: HashMap::new() };
        for _ in 0..2 * ops.len() {
            known.graph.add_node(());
        }
        let mut last: HashMap<Partition, OpId> = HashMap::new();
        let mut arrivals: Vec<(NodeIndex, Barrier)> = Vec::new();
        let mut waits: Vec<(NodeIndex, Barrier)> = Vec::new();
        let mut running: HashMap<Partition, Vec<OpId>> = HashMap::new();
        for op in ops.iter().copied() {
            let (who, _) = partition(part, op);
            known.before(known.issue(op), known.done(op));
            if let Some(earlier) = last.insert(who, op) {
                known.before(known.issue(earlier), known.issue(op));
            }
            let barriers = barriers(part, op, roots);
            match part.name(op) {
                "ttng.wait_barrier" => {
                    waits.extend(barriers.into_iter().take(1).map(|b| (known.issue(op), b)));
                }
                "ttng.arrive_barrier" | "ttng.barrier_expect" => {
                    arrivals.extend(barriers.into_iter().map(|b| (known.issue(op), b)));
                }
                "ttng.tc_gen5_commit" => {
                    let started = running.get(&who).map_or(&[][..], Vec::as_slice);
                    for bar in barriers {
                        arrivals.extend(started.iter().map(|op| (known.done(*op), bar)));
                    }
                }
                name if asynchronous(name) => {
                    arrivals.extend(barriers.into_iter().map(|b| (known.done(op), b)));
                    running.entry(who).or_default().push(op);
                }
                _ => {}
            }
            // The last operation of a loop comes before the first one of the next iteration.
            let looped = m.parent(op).is_some_and(|p| m.ops[p].opcode == Opcode::For);
            if m.ops[op].opcode == Opcode::Yield
                && looped
                && let Some(first) = m.ops[op].block.and_then(|b| m.blocks[b].ops.first())
            {
                known.before(known.issue(op), known.issue(*first));
            }
            // Partitions begin after what stands before them.
            if part.name(op) == "ttg.warp_specialize" {
                for n in 0..m.ops[op].regions.len() {
                    if let Some(first) = m.entry(op, n).and_then(|b| m.blocks[b].ops.first()) {
                        known.before(known.issue(op), known.issue(*first));
                    }
                }
            }
        }
        for (from, (bar, index)) in arrivals {
            for (to, (other, at)) in &waits {
                let same = match (index, at) {
                    (Some(a), Some(b)) => a == *b,
                    // Two computed indices are taken to walk the ring together.
                    (a, b) => a.is_none() == b.is_none(),
                };
                if bar == *other && same {
                    known.before(from, *to);
                }
            }
        }
        known
    }

    fn before(&mut self, from: NodeIndex, to: NodeIndex) {
        self.graph.add_edge(from, to, ());
    }

    fn issue(&self, op: OpId) -> NodeIndex {
        NodeIndex::new(2 * self.number.get(&op).copied().unwrap_or(0))
    }

    fn done(&self, op: OpId) -> NodeIndex {
        NodeIndex::new(self.issue(op).index() + 1)
    }

    /// When an operation is done with what it reads; what comes after that is then known.
    fn read(&mut self, op: OpId, asynchronous: bool) -> NodeIndex {
        let from = if asynchronous { self.done(op) } else { self.issue(op) };
        self.after.entry(from).or_insert_with(|| {
            let mut after = BitVec::repeat(false, self.graph.node_count());
            let mut search = Dfs::new(&self.graph, from);
            // The node itself is reached where a loop leads back to it, which no question asks.
            while let Some(node) = search.next(&self.graph) {
                after.set(node.index(), true);
            }
            after
        });
        from
    }

    fn reaches(&self, from: NodeIndex, to: NodeIndex) -> bool {
        self.after.get(&from).and_then(|a| a.get(to.index()).map(|b| *b)).unwrap_or(false)
    }
}

/// The barriers that an operation names.
fn barriers(part: &TextPart, op: OpId, roots: &Roots<'_>) -> Vec<Barrier> {
    let is_barrier = |v: &&ValueId| {
        let ty = part.ty(**v);
        ty.contains("xi64") || ty.contains("<i64")
    };
    let operands = part.module.ops[op].operands.iter();
    operands.filter(is_barrier).map(|v| (roots.of(*v), roots.index(*v))).collect()
}

fn warning(part: &TextPart, kernel: &Kernel, all: &[Access], r: &Access, w: &Access) -> AliasNote {
    let name = |leaf: LeafId| kernel.module.leaf(leaf).shown();
    let first = |leaf: LeafId| all.iter().filter(|a| a.leaf == leaf && a.write).map(|a| part.pos(a.op)).min();
    // Written later in the body: in the same iteration; else one later (A46).
    let distance = u32::from(first(r.leaf) >= first(w.leaf));
    let when = if distance == 1 { " one iteration later" } else { "" };
    let message = format!(
        "nothing orders the last read of {} ({}, partition {}) before the first write of {}{when} ({}, partition {}): \
         missing edge {} -> {}, distance {distance}",
        name(r.leaf),
        part.name(r.op),
        partition(part, r.op).1,
        name(w.leaf),
        part.name(w.op),
        partition(part, w.op).1,
        name(r.leaf),
        name(w.leaf)
    );
    AliasError::warning("A49", message).at(part.pos(r.op)).related("the write is here", part.pos(w.op)).help(
        "arrive on a barrier after the read and wait for it before the write, or make the leaves distinct",
    )
}
