//! Shared leaves that a schedule leaves unordered although they never meet (A49).

use super::binding::{AliasEdge, Binding, Times, least, meet, pair};
use crate::counts::gcd;
use crate::error::AliasError;
use crate::group::{GroupElement, GroupKind, ReuseGroup};
use crate::layout::{AliasLayout, StorageLayout};
use crate::model::LeafId;

/// Pairs of buffers that are looked at for one pair of values; rings of real kernels are far shorter.
const MOST_PAIRS: usize = 1 << 20;

/// Warnings for values of leaves that the author declared *shared*, that are at one cell of their lowest common group
/// and live at one time there, and have no unit in common: the layout of today keeps them apart, the author's word does
/// not. Each stands beside the edge that is missing. Values with a unit in common are [`super::check_schedule`]'s to find.
pub fn unordered(layout: &AliasLayout, bindings: &[Binding], times: &Times) -> Vec<(AliasEdge, AliasError)> {
    let mut out = Vec::new();
    for (src, x) in bindings.iter().enumerate() {
        for (dst, y) in bindings.iter().enumerate() {
            let Some((a, b)) = pair(layout, x, y).filter(|_| x.leaf != y.leaf) else { continue };
            let Some(storage) = layout.leaf(x.leaf).map(|(storage, _)| storage) else { continue };
            let Some((i, k)) = storage.trees.iter().find_map(|tree| below(tree, x.leaf, y.leaf)) else {
                continue;
            };
            let i = i.saturating_mul(implied(storage, x.leaf)).max(1);
            let k = k.saturating_mul(implied(storage, y.leaf)).max(1);
            let (p, q) = (x.period(a.count), y.period(b.count));
            let common = gcd(p, q).max(1);
            let first = u64::from(x.write >= y.write);
            let pairs = (0..p).flat_map(|j| (0..q).map(move |h| (j, h))).take(MOST_PAIRS);
            let together = pairs.filter(|&(j, h)| {
                let (m, n) = (x.index(j, a.count), y.index(h, b.count));
                m / i == n / k && !meet(a, m, b, n)
            });
            let distance = together.map(|(j, h)| least(first, j, h, common));
            let Some(distance) = distance.min() else { continue };
            if times.life(x, 0).1 <= times.life(y, distance).0 {
                continue;
            }
            let when = match distance {
                0 => String::new(),
                1 => " one iteration later".to_owned(),
                n => format!(" {n} iterations later"),
            };
            let message = format!(
                "nothing orders the last read of %{} ({}) before the first write of %{}{when} ({}): missing edge {} -> {}, \
                 distance {distance}",
                a.name, x.value, b.name, y.value, x.value, y.value
            );
            let help = "they have no unit in common in this layout; make them distinct, or order their uses";
            out.push((AliasEdge { src, dst, distance }, AliasError::warning("A49", message).help(help)));
        }
    }
    out
}

/// If the lowest common group of two leaves is *shared*: how many consecutive buffers of each are one cell of it.
fn below(group: &ReuseGroup, x: LeafId, y: LeafId) -> Option<(u64, u64)> {
    let both = group.elements().iter().find(|e| holds(e, x) && holds(e, y));
    if let Some(GroupElement::Group(inner)) = both {
        return below(inner, x, y);
    }
    let buffers = |leaf| group.elements().iter().find(|e| holds(e, leaf)).map(|e| per_cell(e, leaf));
    (group.kind() == GroupKind::Shared).then(|| Some((buffers(x)?, buffers(y)?)))?
}

/// Whether a leaf is an element, or in it.
fn holds(element: &GroupElement, leaf: LeafId) -> bool {
    match element {
        GroupElement::Leaf(l) => *l == leaf,
        GroupElement::Group(g) => g.leaves().contains(&leaf),
    }
}

/// Buffers of a leaf in one cell of the group around the element that holds it.
fn per_cell(element: &GroupElement, leaf: LeafId) -> u64 {
    let GroupElement::Group(group) = element else { return 1 };
    let inner = group.elements().iter().find(|e| holds(e, leaf));
    inner.map_or(1, |e| per_cell(e, leaf)).saturating_mul(group.size())
}

/// The size of the group that was implied around a leaf (A41).
fn implied(storage: &StorageLayout, leaf: LeafId) -> u64 {
    storage.cells.iter().find(|c| c.implied == Some(leaf)).map_or(1, |c| c.radix)
}
