//! The tree of a spec without its numbers, as the author declared it.

use hashbrown::HashMap;

use crate::group::{GroupElement, GroupKind, ReuseGroup};
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
            if let GroupElement::Leaf(leaf) = element {
                twigs.insert(*leaf, Twig { path: path.clone() });
                own.push(*leaf);
            }
        }
        for element in group.elements().iter().rev() {
            if let GroupElement::Group(inner) = element {
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
