//! What the laws look at.

use super::derive::Need;
use crate::layout::{AliasLimits, AliasOptions, LeafLayout, StorageLayout};
use crate::model::{Leaf, LeafId};
use crate::types::Storage;

/// What a layout is checked against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckOptions {
    /// The layout has TLX's alignments (A37).
    pub compat: bool,
    /// Capacities (L10); not asked for under `compat`.
    pub limits: AliasLimits,
}

impl CheckOptions {
    /// What a layout made under these options is checked against.
    pub fn of(options: &AliasOptions) -> Self {
        CheckOptions { compat: options.compat, limits: options.limits }
    }

    /// Says whether the layout has TLX's alignments (A37).
    #[must_use]
    pub fn compat(self, compat: bool) -> Self {
        CheckOptions { compat, ..self }
    }

    /// Sets the capacities (L10).
    #[must_use]
    pub fn limits(self, limits: AliasLimits) -> Self {
        CheckOptions { limits, ..self }
    }
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
