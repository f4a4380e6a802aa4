//! The tree of a spec against its cells (L5 to L9).

use hashbrown::HashMap;

use super::finding::AliasFindings;
use super::shape::{Knot, Shape, Twig};
use super::view::{CheckOptions, View, columns};
use crate::group::GroupKind;
use crate::layout::{CellLayout, StorageLayout};
use crate::model::{AliasModule, LeafId};

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
    findings: &mut AliasFindings,
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
    findings: &mut AliasFindings,
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
fn nested(s: &StorageLayout, shape: &Shape, cells: &Cells<'_>, n: usize, findings: &mut AliasFindings) {
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
fn low(look: &Look<'_>, knot: &Knot, cell: &CellLayout, findings: &mut AliasFindings) {
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
