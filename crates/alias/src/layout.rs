//! What a layout is, and the options it is made under.

use serde::Serialize;

use crate::error::AliasNote;
use crate::group::ReuseGroup;
use crate::index::{IndexMap, SlotMap};
use crate::model::{LeafId, SpecId};
use crate::types::Storage;

/// How to lay out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AliasOptions {
    /// TLX's numbers (A37); implies `strict_slots` and switches capacity and inference off.
    pub compat: bool,
    /// Positions must be multiples of the buffer size (A34).
    pub strict_slots: bool,
    /// What the chip has.
    pub limits: AliasLimits,
    /// Deprecated reuse is an error (A43).
    pub deny_legacy_reuse: bool,
    /// Say where another order of distinct children is smaller (A29).
    pub lint: bool,
}

impl AliasOptions {
    /// TLX's numbers.
    pub fn tlx() -> AliasOptions {
        AliasOptions { compat: true, strict_slots: true, ..AliasOptions::default() }
    }

    /// Asks for TLX's numbers (A37), or not.
    #[must_use]
    pub fn compat(self, compat: bool) -> Self {
        AliasOptions { compat, ..self }
    }

    /// Asks for positions that are multiples of the buffer size (A34), or not.
    #[must_use]
    pub fn strict_slots(self, strict_slots: bool) -> Self {
        AliasOptions { strict_slots, ..self }
    }

    /// Sets what the chip has.
    #[must_use]
    pub fn limits(self, limits: AliasLimits) -> Self {
        AliasOptions { limits, ..self }
    }

    /// Refuses deprecated reuse (A43), or not.
    #[must_use]
    pub fn deny_legacy_reuse(self, deny_legacy_reuse: bool) -> Self {
        AliasOptions { deny_legacy_reuse, ..self }
    }

    /// Says where another order of distinct children is smaller (A29), or not.
    #[must_use]
    pub fn lint(self, lint: bool) -> Self {
        AliasOptions { lint, ..self }
    }

    /// Whether positions must be multiples of the buffer size.
    pub fn slots(&self) -> bool {
        self.strict_slots || self.compat
    }
}

/// The capacities that A51 checks, as plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AliasLimits {
    /// Bytes of shared memory for storages and plain allocations; `None` for no limit.
    pub smem_bytes: Option<u64>,
    /// Columns of tensor memory.
    pub tmem_columns: u64,
    /// Bytes of shared memory that barriers take beside the storages (A51).
    pub barrier_bytes: u64,
}

impl Default for AliasLimits {
    fn default() -> AliasLimits {
        AliasLimits { smem_bytes: None, tmem_columns: 512, barrier_bytes: 0 }
    }
}

impl AliasLimits {
    /// Sets the bytes of shared memory; `None` for no limit.
    #[must_use]
    pub fn smem_bytes(self, smem_bytes: Option<u64>) -> Self {
        AliasLimits { smem_bytes, ..self }
    }

    /// Sets the columns of tensor memory.
    #[must_use]
    pub fn tmem_columns(self, tmem_columns: u64) -> Self {
        AliasLimits { tmem_columns, ..self }
    }

    /// Sets the bytes of shared memory that barriers take.
    #[must_use]
    pub fn barrier_bytes(self, barrier_bytes: u64) -> Self {
        AliasLimits { barrier_bytes, ..self }
    }
}

/// Where every leaf of every spec lies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AliasLayout {
    /// One storage per spec that has leaves, in order of declaration.
    pub storages: Vec<StorageLayout>,
    /// Warnings and remarks.
    pub notes: Vec<AliasNote>,
}

/// One storage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StorageLayout {
    /// The spec it is of.
    pub spec: SpecId,
    /// Its name in maps.
    pub name: String,
    /// Where it lies.
    pub space: Storage,
    /// Alignment in units: that of the strictest leaf.
    pub align: u64,
    /// Rows in tensor memory, 64 or 128; 1 elsewhere.
    pub rows: u32,
    /// Size in units.
    pub size: u64,
    /// Logical groups `G`; 1 for a bare spec.
    pub groups: u64,
    /// Distance `B` of groups in units; the size for a bare spec.
    pub stride: u64,
    /// One per group node of the tree; empty for a bare spec.
    pub cells: Vec<CellLayout>,
    /// Phases of a fused kernel, if the spec has any; `groups`, `stride` and `cells` are then those of the
    /// largest one.
    pub phases: Vec<PhaseLayout>,
    /// One per leaf, in order of declaration.
    pub leaves: Vec<LeafLayout>,
    /// Whether the spec has a tree.
    pub bare: bool,
    /// The author's trees, one per phase; empty for a bare spec.
    #[serde(skip)]
    pub trees: Vec<ReuseGroup>,
}

/// The cells of one group node. `base` is that of the first cell, outer digits 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CellLayout {
    /// Number of the group in its tree, groups counted before their elements.
    pub node: u32,
    /// The leaf that an implied group was made for (A41).
    pub implied: Option<LeafId>,
    /// Units before the first cell.
    pub base: u64,
    /// Units of a cell.
    pub extent: u64,
    /// Number of cells, the group size.
    pub radix: u64,
    /// Distance of cells.
    pub stride: u64,
}

/// One phase (A40).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseLayout {
    /// Its name.
    pub name: String,
    /// Logical groups.
    pub groups: u64,
    /// Distance of groups.
    pub stride: u64,
    /// One per group node of its tree.
    pub cells: Vec<CellLayout>,
    /// The leaves that its tree names.
    pub leaves: Vec<LeafId>,
}

/// Where one leaf lies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeafLayout {
    /// The leaf.
    pub leaf: LeafId,
    /// Its name.
    pub name: String,
    /// Units of one buffer.
    pub unit: u64,
    /// Rows in tensor memory; 1 elsewhere.
    pub rows: u32,
    /// Number of buffers.
    pub count: u64,
    /// Where each buffer lies.
    pub map: IndexMap,
    /// The map in multiples of the buffer size, when strict slots were asked for.
    pub slots: Option<SlotMap>,
}

impl LeafLayout {
    /// Position of buffer `index` in units; `None` out of range.
    pub fn position(&self, index: u64) -> Option<u64> {
        (index < self.count).then(|| self.map.position(index)).flatten()
    }

    /// Positions of all buffers.
    pub fn positions(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.count).map_while(|i| self.map.position(i))
    }
}

impl AliasLayout {
    /// The storage of a spec.
    pub fn storage(&self, spec: SpecId) -> Option<&StorageLayout> {
        // Storages are in order of their specs.
        let at = self.storages.binary_search_by_key(&spec, |s| s.spec).ok()?;
        self.storages.get(at)
    }

    /// The storage and place of a leaf.
    pub fn leaf(&self, leaf: LeafId) -> Option<(&StorageLayout, &LeafLayout)> {
        self.storages.iter().find_map(|s| s.leaves.iter().find(|l| l.leaf == leaf).map(|l| (s, l)))
    }
}
