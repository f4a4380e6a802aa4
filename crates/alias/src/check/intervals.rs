//! Pairs of ranges with a unit in common, by a sweep over sorted starts (L5, L6).

use super::finding::AliasFindings;
use super::shape::{Shape, Twig};
use super::view::View;
use crate::group::GroupKind;

/// A range of units, with the leaf (by number of its view) and index that it belongs to.
struct Range {
    from: u64,
    to: u64,
    view: usize,
    index: u64,
}

/// Every pair of ranges of different leaves that meet must be allowed to by their lowest common group.
pub(super) fn meetings(shape: &Shape, views: &[View<'_>], findings: &mut AliasFindings) {
    let mut ranges: Vec<Range> = Vec::new();
    for (n, view) in views.iter().enumerate() {
        if shape.twigs.contains_key(&view.id) {
            ranges.extend(view.at.iter().map(|(index, at)| Range {
                from: *at,
                to: at.saturating_add(view.need.unit),
                view: n,
                index: *index,
            }));
        }
    }
    ranges.sort_by_key(|r| (r.from, r.view, r.index));
    let mut open: Vec<&Range> = Vec::new();
    for range in &ranges {
        open.retain(|r| r.to > range.from);
        for other in open.iter().filter(|o| o.view != range.view) {
            if let (Some(a), Some(b)) = (views.get(other.view), views.get(range.view))
                && let (Some(ta), Some(tb)) = (shape.twigs.get(&a.id), shape.twigs.get(&b.id))
                && let Some((law, why)) = forbidden(shape, ta, other.index, tb, range.index)
            {
                let message = format!(
                    "{}[{}] and {}[{}] have units {}..{} in common, {why}",
                    a.leaf.shown(),
                    other.index,
                    b.leaf.shown(),
                    range.index,
                    range.from,
                    range.to.min(other.to)
                );
                findings.add(law, message);
                if findings.full() {
                    return;
                }
            }
        }
        open.push(range);
    }
}

/// The law that forbids two indices to meet, if one does.
fn forbidden(shape: &Shape, a: &Twig, i: u64, b: &Twig, j: u64) -> Option<(&'static str, &'static str)> {
    let common = a.path.iter().zip(&b.path).take_while(|(x, y)| x == y).count();
    let node = shape.nodes.get(*a.path.get(common.checked_sub(1)?)?)?;
    match node.kind {
        GroupKind::Distinct => Some(("L5", "but their lowest common group is distinct")),
        GroupKind::Shared => {
            let cell = |twig: &Twig, index: u64| index / twig.below(shape, common).max(1);
            (cell(a, i) != cell(b, j)).then_some(("L6", "but they are in different cells"))
        }
    }
}
