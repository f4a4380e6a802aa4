//! Reuse-group trees: how the leaves of a spec overlap (A8, A9).

use serde::Serialize;

use crate::error::{AliasError, Pos, Result};
use crate::model::LeafId;

/// Trees may be this deep (A8).
pub const MAX_DEPTH: usize = 64;
/// Trees may have this many leaves (A8).
pub const MAX_LEAVES: usize = 4096;

/// What the children of a group are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum GroupKind {
    /// At one cell they may occupy the same units, and never reach into another cell.
    Shared,
    /// They never have a unit in common.
    Distinct,
}

impl GroupKind {
    /// `shared` or `distinct`.
    pub fn name(self) -> &'static str {
        match self {
            GroupKind::Shared => "shared",
            GroupKind::Distinct => "distinct",
        }
    }

    /// The kind of this name.
    pub fn from_name(name: &str) -> Option<GroupKind> {
        [GroupKind::Shared, GroupKind::Distinct].into_iter().find(|k| k.name() == name)
    }
}

/// An element of a group: a leaf or a group. Exhaustive: a tree has no third kind of node, and who walks it meets both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupElement {
    /// An allocation.
    Leaf(LeafId),
    /// A nested group.
    Group(ReuseGroup),
}

impl From<LeafId> for GroupElement {
    fn from(leaf: LeafId) -> GroupElement {
        GroupElement::Leaf(leaf)
    }
}

impl From<ReuseGroup> for GroupElement {
    fn from(group: ReuseGroup) -> GroupElement {
        GroupElement::Group(group)
    }
}

/// A node of a reuse-group tree. Fields are private, so that every tree is within the limits of A8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReuseGroup {
    kind: GroupKind,
    group_size: u64,
    elements: Vec<GroupElement>,
    name: Option<String>,
    at: Option<Pos>,
    depth: usize,
    leaves: usize,
}

impl ReuseGroup {
    /// A group of a kind.
    ///
    /// # Errors
    /// A8 without elements, below depth 64, or above 4096 leaves.
    pub fn new(
        kind: GroupKind,
        elements: impl IntoIterator<Item = impl Into<GroupElement>>,
    ) -> Result<ReuseGroup> {
        let mut group = ReuseGroup {
            kind,
            group_size: 1,
            elements: Vec::new(),
            name: None,
            at: None,
            depth: 1,
            leaves: 0,
        };
        for element in elements {
            let element = element.into();
            match &element {
                GroupElement::Leaf(_) => group.leaves += 1,
                GroupElement::Group(inner) => {
                    group.leaves += inner.leaves;
                    group.depth = group.depth.max(inner.depth + 1);
                }
            }
            if group.depth > MAX_DEPTH || group.leaves > MAX_LEAVES {
                let message = format!(
                    "reuse_group tree is too large: at most {MAX_DEPTH} levels and {MAX_LEAVES} allocations"
                );
                return Err(AliasError::new("A8", message).help("split the spec in several"));
            }
            group.elements.push(element);
        }
        if group.elements.is_empty() {
            return Err(AliasError::new("A8", "reuse_group requires at least one element")
                .help("name the allocations that share storage"));
        }
        Ok(group)
    }

    /// A group whose children share one region.
    ///
    /// # Errors
    /// Those of [`ReuseGroup::new`].
    pub fn shared(elements: impl IntoIterator<Item = impl Into<GroupElement>>) -> Result<ReuseGroup> {
        ReuseGroup::new(GroupKind::Shared, elements)
    }

    /// A group whose children have no unit in common.
    ///
    /// # Errors
    /// Those of [`ReuseGroup::new`].
    pub fn distinct(elements: impl IntoIterator<Item = impl Into<GroupElement>>) -> Result<ReuseGroup> {
        ReuseGroup::new(GroupKind::Distinct, elements)
    }

    /// With `n` consecutive indices of every child forming one index of the parent.
    ///
    /// # Errors
    /// A8 unless `n` is positive.
    pub fn group_size(mut self, n: i64) -> Result<ReuseGroup> {
        match u64::try_from(n) {
            Ok(size) if size > 0 => {
                self.group_size = size;
                Ok(self)
            }
            _ => Err(AliasError::new("A8", format!("group_size must be a positive integer, got {n}"))
                .at(self.at)
                .help("leave group_size out for 1")),
        }
    }

    /// With a name and a place for messages.
    pub fn named(mut self, name: impl Into<String>, at: Option<Pos>) -> ReuseGroup {
        self.name = Some(name.into());
        self.at = at;
        self
    }

    /// Shared or distinct.
    pub fn kind(&self) -> GroupKind {
        self.kind
    }

    /// Cells in each cell of the parent.
    pub fn size(&self) -> u64 {
        self.group_size
    }

    /// Children in order.
    pub fn elements(&self) -> &[GroupElement] {
        &self.elements
    }

    /// The SSA name, if it came from text.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Where it stands in the text.
    pub fn at(&self) -> Option<Pos> {
        self.at
    }

    /// Levels of groups, 1 for a group of leaves.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The leaves, in the order of the tree.
    pub fn leaves(&self) -> Vec<LeafId> {
        let mut out = Vec::with_capacity(self.leaves);
        self.collect(&mut out);
        out
    }

    fn collect(&self, out: &mut Vec<LeafId>) {
        for element in &self.elements {
            match element {
                GroupElement::Leaf(leaf) => out.push(*leaf),
                GroupElement::Group(group) => group.collect(out),
            }
        }
    }
}
