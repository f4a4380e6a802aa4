//! What a layout is, and the options it is made under.

use serde::Serialize;

use crate::arrange::arrange;
use crate::capacity::capacity;
use crate::error::{AliasError, Note};
use crate::group::ReuseGroup;
use crate::index::{IndexMap, SlotMap};
use crate::model::{AliasModule, LeafId, SpecId};
use crate::types::Storage;

/// How to lay out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AliasOptions {
    /// TLX's numbers (A37); implies `strict_slots` and switches capacity and inference off.
    pub compat: bool,
    /// Positions must be multiples of the buffer size (A34).
    pub strict_slots: bool,
    /// What the chip has.
    pub limits: Limits,
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

    /// Whether positions must be multiples of the buffer size.
    pub fn slots(&self) -> bool {
        self.strict_slots || self.compat
    }
}

/// The capacities that A51 checks, as plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of shared memory for storages and plain allocations; `None` for no limit.
    pub smem_bytes: Option<u64>,
    /// Columns of tensor memory.
    pub tmem_columns: u64,
    /// Bytes of shared memory that barriers take beside the storages (A51).
    pub barrier_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { smem_bytes: None, tmem_columns: 512, barrier_bytes: 0 }
    }
}

/// Where every leaf of every spec lies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Layout {
    /// One storage per spec that has leaves, in order of declaration.
    pub storages: Vec<StorageLayout>,
    /// Warnings and remarks.
    pub notes: Vec<Note>,
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

impl Layout {
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

/// Everything that was wrong, in the order of the steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors(pub Vec<AliasError>);

impl From<AliasError> for Errors {
    fn from(error: AliasError) -> Errors {
        Errors(vec![error])
    }
}

impl std::fmt::Display for Errors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (n, error) in self.0.iter().enumerate() {
            if n > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}

impl AliasModule {
    /// Sizes, offsets and index maps of all specs. Pure and deterministic; never panics.
    ///
    /// # Errors
    /// Every violated rule of A13 and A22 to A51, in order of step and declaration.
    pub fn layout(&self, options: &AliasOptions) -> Result<Layout, Errors> {
        let mut errors = Vec::new();
        let mut notes = Vec::new();
        for note in self.notes() {
            match options.deny_legacy_reuse {
                true => {
                    errors.push(AliasError { severity: crate::Severity::Error, code: "A43", ..note.clone() })
                }
                false => notes.push(note.clone()),
            }
        }
        let mut by_spec: Vec<Vec<LeafId>> = vec![Vec::new(); self.specs().count()];
        for (id, leaf) in self.leaves() {
            if let Some(list) = leaf.spec().and_then(|s| by_spec.get_mut(s.index())) {
                list.push(id);
            }
        }
        let trees = crate::infer::trees(self, options, &mut errors);
        let mut storages = Vec::new();
        for ((spec, _), (leaves, trees)) in self.specs().zip(by_spec.iter().zip(&trees)) {
            if leaves.is_empty() {
                notes.push(
                    AliasError::warning(
                        "A14",
                        "storage_alias_spec has no referencing storage_alias_local_alloc operations",
                    )
                    .at(self.spec(spec).at)
                    .help("allocate from it, or remove it"),
                );
                continue;
            }
            match arrange(self, spec, leaves, trees, options, &mut notes) {
                Ok(storage) => storages.push(storage),
                Err(list) => errors.extend(list),
            }
        }
        let layout = Layout { storages, notes };
        if errors.is_empty() && !options.compat {
            errors.extend(capacity(self, &layout, &options.limits));
        }
        // Sizes come before offsets, offsets before slots, as TLX's steps do.
        errors.sort_by_key(|e| match e.code {
            "A34" => 2,
            "A13" | "A30" => 1,
            _ => 0,
        });
        match errors.is_empty() {
            true => Ok(layout),
            false => Err(Errors(errors)),
        }
    }
}
