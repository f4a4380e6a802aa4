//! Placement of a tree (A27): every child moved to its own alignment, cells of `group_size` side by side.

use crate::error::{AliasError, Pos, Result};
use crate::footprint::{Footprint, up};
use crate::group::{GroupElement, GroupKind, ReuseGroup};
use crate::layout::CellLayout;
use crate::model::LeafId;
use crate::types::Storage;

/// How alignments are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alignment {
    /// Each leaf its own (A24, A42).
    PerLeaf,
    /// One for the whole SMEM tree, column counts in TMEM (A37).
    Tlx(Storage),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Child {
    Leaf(usize),
    Node(usize),
}

/// A group of the tree with its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: GroupKind,
    pub(crate) radix: u64,
    pub(crate) children: Vec<Child>,
    pub(crate) parent: Option<usize>,
    /// Number in the declared tree, groups counted before their elements.
    pub(crate) number: u32,
    /// The leaf that an implied group was made for (A41).
    pub(crate) implied: Option<LeafId>,
    pub(crate) at: Option<Pos>,
    pub(crate) align: u64,
    pub(crate) base: u64,
    pub(crate) extent: u64,
    pub(crate) stride: u64,
}

/// A leaf of the tree with its place.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) leaf: LeafId,
    pub(crate) foot: Footprint,
    pub(crate) count: u64,
    pub(crate) pin: Option<u64>,
    pub(crate) parent: usize,
    pub(crate) base: u64,
}

/// A tree as an arena. Node 0 is the root; parents come before children.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    pub(crate) leaves: Vec<Placed>,
    rule: Alignment,
    smem: u64,
}

/// What the tree needs to know of a leaf.
pub(crate) struct Facts {
    pub(crate) foot: Footprint,
    pub(crate) count: u64,
    pub(crate) elem_bytes: u64,
    pub(crate) pin: Option<u64>,
}

impl Tree {
    /// The cells of every group.
    pub(crate) fn cells(&self) -> Vec<CellLayout> {
        let cell = |n: &Node| CellLayout {
            node: n.number,
            implied: n.implied,
            base: n.base,
            extent: n.extent,
            radix: n.radix,
            stride: n.stride,
        };
        self.nodes.iter().map(cell).collect()
    }

    /// Flattens a tree; nothing is placed yet.
    pub(crate) fn new(
        root: &ReuseGroup,
        rule: Alignment,
        facts: &dyn Fn(LeafId) -> Result<Facts>,
    ) -> Result<Tree> {
        let mut tree = Tree { nodes: Vec::new(), leaves: Vec::new(), rule, smem: 128 };
        tree.add(root, None, facts)?;
        Ok(tree)
    }

    /// Depth is at most 64 (A8).
    fn add(
        &mut self,
        group: &ReuseGroup,
        parent: Option<usize>,
        facts: &dyn Fn(LeafId) -> Result<Facts>,
    ) -> Result<usize> {
        let id = self.nodes.len();
        self.nodes.push(Node {
            kind: group.kind(),
            radix: group.size(),
            children: Vec::new(),
            parent,
            number: id as u32,
            implied: None,
            at: group.at(),
            align: 1,
            base: 0,
            extent: 0,
            stride: 0,
        });
        let mut children = Vec::with_capacity(group.elements().len());
        for element in group.elements() {
            match element {
                GroupElement::Leaf(leaf) => {
                    let f = facts(*leaf)?;
                    self.smem = self.smem.max(f.elem_bytes);
                    children.push(Child::Leaf(self.leaves.len()));
                    self.leaves.push(Placed {
                        leaf: *leaf,
                        foot: f.foot,
                        count: f.count,
                        pin: f.pin,
                        parent: id,
                        base: 0,
                    });
                }
                GroupElement::Group(inner) => children.push(Child::Node(self.add(inner, Some(id), facts)?)),
            }
        }
        if let Some(node) = self.nodes.get_mut(id) {
            node.children = children;
        }
        Ok(id)
    }

    /// Wraps a leaf in a group of its own with this size (A41).
    pub(crate) fn wrap(&mut self, leaf: usize, radix: u64) {
        let Some(placed) = self.leaves.get(leaf) else { return };
        let (id, parent, name) = (self.nodes.len(), placed.parent, placed.leaf);
        self.nodes.push(Node {
            kind: GroupKind::Shared,
            radix,
            children: vec![Child::Leaf(leaf)],
            parent: Some(parent),
            number: id as u32,
            implied: Some(name),
            at: None,
            align: 1,
            base: 0,
            extent: 0,
            stride: 0,
        });
        if let Some(node) = self.nodes.get_mut(parent) {
            for child in &mut node.children {
                if matches!(child, Child::Leaf(n) if *n == leaf) {
                    *child = Child::Node(id);
                }
            }
        }
        if let Some(placed) = self.leaves.get_mut(leaf) {
            placed.parent = id;
        }
    }

    /// Places everything from unit 0 on; the end of the root's last cell.
    pub(crate) fn place(&mut self) -> Result<u64> {
        self.align_nodes();
        self.node(0, 0)
    }

    /// The largest alignment below the root.
    pub(crate) fn align(&self) -> u64 {
        self.nodes.first().map_or(1, |n| n.align)
    }

    /// The group sizes and strides from the root to a leaf.
    pub(crate) fn path(&self, leaf: &Placed) -> Vec<(u64, u64)> {
        let mut out = Vec::new();
        let mut at = Some(leaf.parent);
        while let Some(node) = at.and_then(|n| self.nodes.get(n)) {
            out.push((node.radix, node.stride));
            at = node.parent;
        }
        out.reverse();
        out
    }

    /// The product of the group sizes above a leaf; `None` when it does not fit.
    pub(crate) fn indices(&self, leaf: &Placed) -> Option<u64> {
        self.path(leaf).iter().try_fold(1u64, |p, (k, _)| p.checked_mul(*k))
    }

    fn leaf_align(&self, foot: &Footprint) -> u64 {
        match self.rule {
            Alignment::PerLeaf => foot.align,
            Alignment::Tlx(Storage::Tmem) => foot.unit,
            Alignment::Tlx(_) => self.smem,
        }
    }

    fn align_nodes(&mut self) {
        let mut aligns = vec![1u64; self.nodes.len()];
        for leaf in &self.leaves {
            let align = self.leaf_align(&leaf.foot);
            if let Some(a) = aligns.get_mut(leaf.parent) {
                *a = (*a).max(align);
            }
        }
        // Implied groups stand last, so one pass from the back is not enough for their parents.
        let mut order: Vec<usize> = (0..self.nodes.len()).rev().collect();
        order.sort_by_key(|n| self.nodes.get(*n).is_none_or(|n| n.implied.is_none()));
        for n in order {
            let Some((parent, own)) = self.nodes.get(n).map(|x| x.parent).zip(aligns.get(n).copied()) else {
                continue;
            };
            if let Some(a) = parent.and_then(|p| aligns.get_mut(p)) {
                *a = (*a).max(own);
            }
        }
        for (node, align) in self.nodes.iter_mut().zip(aligns) {
            node.align = align;
        }
    }

    /// A27 for a group; recursion is at most 65 deep (A8).
    fn node(&mut self, id: usize, start: u64) -> Result<u64> {
        let overflow = || AliasError::overflow("the storage");
        let Some(node) = self.nodes.get(id) else { return Ok(start) };
        let (kind, radix, align) = (node.kind, node.radix, node.align);
        let children = node.children.clone();
        let tlx = self.rule != Alignment::PerLeaf;
        let start = match radix > 1 && !tlx {
            true => up(start, align).ok_or_else(overflow)?,
            false => start,
        };
        let mut end = start;
        for child in children {
            let from = match kind {
                GroupKind::Shared => start,
                GroupKind::Distinct if tlx => up(end, self.child_align(child)).ok_or_else(overflow)?,
                GroupKind::Distinct => end,
            };
            let to = match child {
                Child::Leaf(leaf) => self.leaf(leaf, from)?,
                Child::Node(node) => self.node(node, from)?,
            };
            end = end.max(to);
        }
        let extent = end - start;
        let stride = up(extent, align).ok_or_else(overflow)?;
        if let Some(node) = self.nodes.get_mut(id) {
            (node.base, node.extent, node.stride) = (start, extent, stride);
        }
        (radix - 1)
            .checked_mul(stride)
            .and_then(|cells| start.checked_add(cells)?.checked_add(extent))
            .filter(|end| *end <= i64::MAX as u64)
            .ok_or_else(overflow)
    }

    fn child_align(&self, child: Child) -> u64 {
        match child {
            Child::Leaf(leaf) => self.leaves.get(leaf).map_or(1, |l| self.leaf_align(&l.foot)),
            Child::Node(node) => self.nodes.get(node).map_or(1, |n| n.align),
        }
    }

    fn leaf(&mut self, id: usize, start: u64) -> Result<u64> {
        let overflow = || AliasError::overflow("the storage");
        let rule = self.rule;
        let Some(leaf) = self.leaves.get_mut(id) else { return Ok(start) };
        let earliest = match rule {
            Alignment::PerLeaf => up(start, leaf.foot.align).ok_or_else(overflow)?,
            Alignment::Tlx(_) => start,
        };
        // A pin moves an anchor later; one that cannot be met is reported where the base is compared (A30).
        leaf.base = match leaf.pin {
            Some(pin) if pin >= earliest && pin % leaf.foot.align == 0 => pin,
            _ => earliest,
        };
        leaf.base.checked_add(leaf.foot.unit).ok_or_else(overflow)
    }
}
