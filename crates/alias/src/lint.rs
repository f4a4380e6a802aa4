//! Remarks about trees that could be smaller (A29).

use crate::error::{AliasError, AliasNote};
use crate::footprint::up;
use crate::group::GroupKind;
use crate::place::{Child, Tree};

/// Says when distinct children in another order, strictest alignment first, take less room. Nothing is moved.
pub(crate) fn order(tree: &Tree, end: u64, notes: &mut Vec<AliasNote>) {
    let mut other = tree.clone();
    for n in 0..other.nodes.len() {
        let mut children = match other.nodes.get(n) {
            Some(node) if node.kind == GroupKind::Distinct => node.children.clone(),
            _ => continue,
        };
        children.sort_by_key(|c| {
            std::cmp::Reverse(match c {
                Child::Leaf(l) => other.leaves.get(*l).map_or(1, |l| l.foot.align),
                Child::Node(n) => other.nodes.get(*n).map_or(1, |n| n.align),
            })
        });
        if let Some(node) = other.nodes.get_mut(n) {
            node.children = children;
        }
    }
    let Ok(shorter) = other.place() else { return };
    let (now, then) = (up(end, tree.align()), up(shorter, tree.align()));
    if then < now {
        let message = format!(
            "elements of distinct groups ordered by falling alignment need {} units a group instead of {}",
            then.unwrap_or(0),
            now.unwrap_or(0)
        );
        let at = tree.nodes.first().and_then(|n| n.at);
        notes.push(AliasError::note("A29", message).at(at).help("reorder the elements of the reuse_group"));
    }
}
