//! The trees of a spec: the only one, or those of the phases of a fused kernel (L11): each tree on its own, leaves of several trees in one place.

use super::finding::AliasFindings;
use super::intervals;
use super::shape::shape;
use super::tree::{Cells, Tree, laws};
use super::view::{CheckOptions, View};
use crate::group::ReuseGroup;
use crate::layout::StorageLayout;
use crate::model::AliasModule;

/// The tree that a spec without phases has: declared, else its largest group.
pub(super) fn one(
    m: &AliasModule,
    s: &StorageLayout,
    views: &[View<'_>],
    options: &CheckOptions,
    findings: &mut AliasFindings,
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

/// The laws of every phase. A leaf that is in no tree of a phase is dead there, so ranges of different phases
/// meet only where program order separates them.
pub(super) fn all(
    m: &AliasModule,
    s: &StorageLayout,
    views: &[View<'_>],
    options: &CheckOptions,
    findings: &mut AliasFindings,
) {
    let declared: Vec<_> = m.overlaps_of(s.spec).collect();
    if declared.len() != s.phases.len() {
        findings.add("L11", format!("{} has {} phases, not {}", s.name, s.phases.len(), declared.len()));
        return;
    }
    for (overlap, phase) in declared.iter().zip(&s.phases) {
        if overlap.phase.as_deref() != Some(phase.name.as_str()) || overlap.tree.leaves() != phase.leaves {
            findings.add("L11", format!("phase {} of {} is not as declared", phase.name, s.name));
            continue;
        }
        let shape = shape(m, &overlap.tree, m.spec(s.spec).counts);
        intervals::meetings(&shape, views, findings);
        let cells = Cells { groups: phase.groups, stride: phase.stride, cells: &phase.cells };
        laws(m, s, &Tree { shape: &shape, cells, inside: "L11" }, views, options, findings);
    }
    for view in views {
        if !declared.iter().any(|o| o.tree.leaves().contains(&view.id)) {
            findings.add("L11", format!("{} is in no phase of {}", view.leaf.shown(), s.name));
        }
    }
}
