//! Phases of a fused kernel (L11): each tree on its own, leaves of several trees in one place.

use super::tree::{Cells, Tree, laws, shape};
use super::{CheckOptions, Findings, View, intervals};
use crate::layout::StorageLayout;
use crate::model::AliasModule;

/// The laws of every phase. A leaf that is in no tree of a phase is dead there, so ranges of different phases
/// meet only where program order separates them.
pub(super) fn all(
    m: &AliasModule,
    s: &StorageLayout,
    views: &[View<'_>],
    options: &CheckOptions,
    findings: &mut Findings,
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
