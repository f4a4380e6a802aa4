//! The tree of a spec against its cells (L5 to L9).

use hashbrown::HashMap;

use super::{CheckOptions, Findings, View, columns, intervals};
use crate::group::{Element, GroupKind, ReuseGroup};
use crate::layout::{CellLayout, StorageLayout};
use crate::model::{AliasModule, Counts, LeafId};

/// A node of the tree as declared, with the groups that counts imply.
pub(super) struct Knot {
    pub(super) kind: GroupKind,
    pub(super) radix: u64,
    pub(super) parent: Option<usize>,
    pub(super) leaves: Vec<LeafId>,
    /// Children: groups by number, and leaves.
    pub(super) groups: Vec<usize>,
    pub(super) own: Vec<LeafId>,
    pub(super) implied: Option<LeafId>,
}

/// A leaf's place in the tree: its groups from the root on.
pub(super) struct Twig {
    pub(super) path: Vec<usize>,
}

impl Twig {
    /// Indices of the leaf in one cell of the group at this depth (1 is the root).
    pub(super) fn below(&self, shape: &Shape, depth: usize) -> u64 {
        let inner = self.path.iter().skip(depth).filter_map(|n| shape.nodes.get(*n));
        inner.fold(1u64, |p, n| p.saturating_mul(n.radix))
    }
}

/// A tree without its numbers.
pub(super) struct Shape {
    pub(super) nodes: Vec<Knot>,
    pub(super) twigs: HashMap<LeafId, Twig>,
    pub(super) groups: u64,
}

/// What the author's tree says; independent of any layout.
pub(super) fn shape(m: &AliasModule, tree: &ReuseGroup, counts: Counts) -> Shape {
    let mut nodes: Vec<Knot> = Vec::new();
    let mut twigs = HashMap::new();
    let mut stack = vec![(tree, None::<usize>)];
    // Groups are numbered before their elements, first element first.
    while let Some((group, parent)) = stack.pop() {
        let id = nodes.len();
        let mut path = vec![id];
        let mut up = parent;
        while let Some(p) = up {
            path.push(p);
            up = nodes.get(p).and_then(|n: &Knot| n.parent);
        }
        path.reverse();
        if let Some(p) = parent.and_then(|p| nodes.get_mut(p)) {
            p.groups.push(id);
        }
        let mut own = Vec::new();
        for element in group.elements() {
            if let Element::Leaf(leaf) = element {
                twigs.insert(*leaf, Twig { path: path.clone() });
                own.push(*leaf);
            }
        }
        for element in group.elements().iter().rev() {
            if let Element::Group(inner) = element {
                stack.push((inner, Some(id)));
            }
        }
        let (kind, radix) = (group.kind(), group.size());
        let leaves = group.leaves();
        nodes.push(Knot { kind, radix, parent, leaves, groups: Vec::new(), own, implied: None });
    }
    let mut shape = Shape { nodes, twigs, groups: 1 };
    count(m, tree, counts, &mut shape);
    shape
}

/// A28 and A41.
fn count(m: &AliasModule, tree: &ReuseGroup, counts: Counts, shape: &mut Shape) {
    let leaves = tree.leaves();
    let needs: Vec<u64> = leaves
        .iter()
        .map(|l| {
            let inside = shape.twigs.get(l).map_or(1, |t| t.below(shape, 0)).max(1);
            m.leaf(*l).count() / inside + u64::from(!m.leaf(*l).count().is_multiple_of(inside))
        })
        .collect();
    if counts != Counts::Gcd {
        shape.groups = needs.iter().copied().max().unwrap_or(1);
        return;
    }
    let all = (1..=needs.iter().copied().min().unwrap_or(1)).rev();
    // The greatest number that divides all of them.
    let groups = all.take(1 << 20).find(|g| needs.iter().all(|n| n % g == 0)).unwrap_or(1);
    shape.groups = groups;
    for (leaf, need) in leaves.iter().zip(&needs) {
        if need / groups <= 1 {
            continue;
        }
        let id = shape.nodes.len();
        let Some(twig) = shape.twigs.get_mut(leaf) else { continue };
        let parent = twig.path.last().copied();
        twig.path.push(id);
        if let Some(p) = parent.and_then(|p| shape.nodes.get_mut(p)) {
            p.own.retain(|l| l != leaf);
            p.groups.push(id);
        }
        shape.nodes.push(Knot {
            kind: GroupKind::Shared,
            radix: need / groups,
            parent,
            leaves: vec![*leaf],
            groups: Vec::new(),
            own: vec![*leaf],
            implied: Some(*leaf),
        });
    }
}

/// The tree that a spec without phases has: declared, else its largest group.
pub(super) fn one(
    m: &AliasModule,
    s: &StorageLayout,
    views: &[View<'_>],
    options: &CheckOptions,
    findings: &mut Findings,
) {
    let declared = m.overlaps_of(s.spec).next().map(|o| &o.tree);
    let own = |g: &&ReuseGroup| g.leaves().iter().all(|l| m.leaf(*l).spec() == Some(s.spec));
    let largest = || m.groups().iter().filter(own).max_by_key(|g| (g.leaves().len(), g.depth()));
    let tree = match (declared, options.compat) {
        (Some(tree), _) => Some(tree),
        (None, true) => None,
        (None, false) => largest(),
    };
    if tree.is_none() != s.bare {
        findings.add("L1", format!("storage {} has {} tree", s.name, if s.bare { "lost its" } else { "no" }));
        return;
    }
    let Some(tree) = tree else { return };
    let shape = shape(m, tree, m.spec(s.spec).counts);
    let cells = Cells { groups: s.groups, stride: s.stride, cells: &s.cells };
    intervals::meetings(&shape, views, findings);
    laws(m, s, &Tree { shape: &shape, cells, inside: "L7" }, views, options, findings);
}

/// The numbers of a tree.
pub(super) struct Cells<'a> {
    pub(super) groups: u64,
    pub(super) stride: u64,
    pub(super) cells: &'a [CellLayout],
}

/// Everything that the laws of one tree look at.
struct Look<'a> {
    m: &'a AliasModule,
    s: &'a StorageLayout,
    shape: &'a Shape,
    by_id: HashMap<LeafId, &'a View<'a>>,
    options: &'a CheckOptions,
}

impl Look<'_> {
    /// The largest alignment of some leaves.
    fn align(&self, leaves: &[LeafId]) -> u64 {
        let most = |leaves: &[LeafId], f: &dyn Fn(&View<'_>) -> u64| {
            leaves.iter().filter_map(|l| self.by_id.get(l)).map(|v| f(v)).max().unwrap_or(1)
        };
        match (self.options.compat, columns(self.s)) {
            (false, _) => most(leaves, &|v| v.need.align),
            (true, true) => most(leaves, &|v| v.need.unit),
            (true, false) => {
                let all = self.shape.nodes.first().map_or(&[][..], |n| n.leaves.as_slice());
                most(all, &|v| v.leaf.elem().bytes()).max(128)
            }
        }
    }
}

/// End of the last cell of a group.
fn end_of(cell: &CellLayout) -> u64 {
    let cells = cell.radix.saturating_sub(1).saturating_mul(cell.stride);
    cell.base.saturating_add(cells).saturating_add(cell.extent)
}

/// A tree as declared, as laid out, and the law that a leaf outside its cell breaks.
pub(super) struct Tree<'a> {
    pub(super) shape: &'a Shape,
    pub(super) cells: Cells<'a>,
    pub(super) inside: &'static str,
}

/// L7 to L9 of one tree.
pub(super) fn laws(
    m: &AliasModule,
    s: &StorageLayout,
    tree: &Tree<'_>,
    views: &[View<'_>],
    options: &CheckOptions,
    findings: &mut Findings,
) {
    let (shape, cells) = (tree.shape, &tree.cells);
    let agree = cells.cells.len() == shape.nodes.len()
        && cells.cells.iter().zip(&shape.nodes).all(|(c, n)| c.radix == n.radix && c.implied == n.implied);
    if !agree {
        findings.add("L7", format!("the cells of {} are not those of its tree", s.name));
        return;
    }
    if cells.groups != shape.groups {
        findings.add("L9", format!("{} has {} groups, not {}", s.name, cells.groups, shape.groups));
    }
    let look = Look { m, s, shape, by_id: views.iter().map(|v| (v.id, v)).collect(), options };
    for view in views {
        if let Some(twig) = shape.twigs.get(&view.id) {
            contained(shape, cells, view, twig, tree.inside, findings);
        }
    }
    for (n, (knot, cell)) in shape.nodes.iter().zip(cells.cells).enumerate() {
        nested(s, shape, cells, n, findings);
        let own = knot.own.iter().filter_map(|l| look.by_id.get(l));
        let ends = own.map(|v| v.layout.map.base.saturating_add(v.need.unit));
        let inner = knot.groups.iter().filter_map(|g| cells.cells.get(*g)).map(end_of);
        let extent = ends.chain(inner).max().unwrap_or(cell.base).saturating_sub(cell.base);
        let step = ceil(extent, look.align(&knot.leaves));
        if cell.extent != extent || cell.stride != step {
            let message = format!(
                "cells of group {n} of {} are {} at {}, not {extent} at {step}",
                s.name, cell.extent, cell.stride
            );
            findings.add("L9", message);
        }
        if knot.kind == GroupKind::Shared {
            low(&look, knot, cell, findings);
        }
    }
    let Some((root, knot)) = cells.cells.first().zip(shape.nodes.first()) else { return };
    let end = end_of(root);
    let computed = ceil(end, look.align(&knot.leaves));
    let raised = !options.compat
        && knot.leaves.iter().any(|l| m.leaf(*l).pinned_stride() == Some(cells.stride))
        && cells.stride >= end;
    if cells.stride != computed && !raised {
        findings.add("L9", format!("groups of {} are {} apart, not {computed}", s.name, cells.stride));
    }
}

fn ceil(v: u64, a: u64) -> u64 {
    let a = a.max(1);
    (v / a + u64::from(!v.is_multiple_of(a))).saturating_mul(a)
}

/// L7: every range of a leaf lies in the cell of its index, at every group above it.
fn contained(
    shape: &Shape,
    cells: &Cells<'_>,
    view: &View<'_>,
    twig: &Twig,
    law: &'static str,
    findings: &mut Findings,
) {
    let inside = twig.below(shape, 0).max(1);
    for (i, at) in &view.at {
        let mut shift = (i / inside).saturating_mul(cells.stride);
        for (depth, n) in twig.path.iter().enumerate() {
            let Some(cell) = cells.cells.get(*n) else { return };
            let digit = i / twig.below(shape, depth + 1).max(1) % cell.radix.max(1);
            shift = shift.saturating_add(digit.saturating_mul(cell.stride));
            let from = cell.base.saturating_add(shift);
            let to = from.saturating_add(cell.extent);
            if *at < from || at.saturating_add(view.need.unit) > to {
                let name = view.leaf.shown();
                findings
                    .add(law, format!("{name}[{i}] at {at} is not in its cell {from}..{to} of group {n}"));
                return;
            }
        }
    }
}

/// L7: cells of one group do not meet, and the last one ends in the cell of the parent.
fn nested(s: &StorageLayout, shape: &Shape, cells: &Cells<'_>, n: usize, findings: &mut Findings) {
    let (Some(knot), Some(cell)) = (shape.nodes.get(n), cells.cells.get(n)) else { return };
    if cell.radix > 1 && cell.stride < cell.extent {
        findings.add("L7", format!("cells of group {n} of {} meet", s.name));
    }
    let end = end_of(cell);
    let (from, to) = match knot.parent.and_then(|p| cells.cells.get(p)) {
        Some(parent) => (parent.base, parent.base.saturating_add(parent.extent)),
        None => (0, cells.stride),
    };
    if cell.base < from || end > to {
        findings.add("L7", format!("cells of group {n} of {} leave {from}..{to}", s.name));
    }
}

/// L8: children of a shared group start where its cell starts, moved by less than their alignment.
fn low(look: &Look<'_>, knot: &Knot, cell: &CellLayout, findings: &mut Findings) {
    let own = knot.own.iter().map(std::slice::from_ref);
    let groups = knot.groups.iter().filter_map(|g| look.shape.nodes.get(*g)).map(|n| n.leaves.as_slice());
    for leaves in own.chain(groups) {
        let pinned =
            !look.s.phases.is_empty() && leaves.iter().any(|l| look.m.leaf(*l).pinned_offset().is_some());
        let lowest = leaves.iter().filter_map(|l| look.by_id.get(l)).map(|v| v.layout.map.base).min();
        if let Some(lowest) = lowest
            && !pinned
            && lowest.saturating_sub(cell.base) >= look.align(leaves)
        {
            let message = format!(
                "a child of a shared group of {} starts at {lowest}, its cell at {}",
                look.s.name, cell.base
            );
            findings.add("L8", message);
        }
    }
}
