//! What the laws look at.

use super::derive::Need;
use crate::layout::{AliasLimits, LeafLayout, StorageLayout};
use crate::model::{Leaf, LeafId};
use crate::types::Storage;

/// What a layout is checked against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckOptions {
    /// The layout has TLX's alignments (A37).
    pub compat: bool,
    /// Capacities (L10); not asked for under `compat`.
    pub limits: AliasLimits,
}

/// A leaf, what its type says, and where it is said to lie.
pub(super) struct View<'a> {
    pub(super) id: LeafId,
    pub(super) leaf: &'a Leaf,
    pub(super) layout: &'a LeafLayout,
    pub(super) need: Need,
    /// (index, position), in order of indices.
    pub(super) at: Vec<(u64, u64)>,
}

/// Whether a storage counts columns.
pub(super) fn columns(s: &StorageLayout) -> bool {
    s.space == Storage::Tmem
}
