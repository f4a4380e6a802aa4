//! A layout and what is bound to it as plain data for buffer assignment.

use serde::Serialize;

use crate::error::Pos;
use crate::layout::AliasLayout;
use crate::model::LeafId;
use crate::schedule::Binding;
use crate::types::Storage;

/// A value that lives in a leaf: iteration j uses buffer `(mul * j + add) mod n` (A44).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BoundValue {
    /// SSA name of the value in the text that is left, without `%`; the operation's where that is a store.
    pub value: String,
    /// The operation that makes it.
    pub op: String,
    /// Where that stands in the source.
    pub at: Pos,
    /// The leaf.
    pub leaf: LeafId,
    /// The leaf's name.
    pub name: String,
    /// Factor of the iteration; 0 is a fixed buffer.
    pub mul: u64,
    /// Buffer of iteration 0.
    pub add: u64,
}

/// One storage as buffer assignment takes it (`layouts` of its input): plain data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StorageConstraint {
    /// Name of the storage, unique in the kernel.
    pub id: String,
    /// Shared or tensor memory.
    pub space: Storage,
    /// Size in bytes; in 32-bit columns for tensor memory.
    pub bytes: u64,
    /// Alignment in the same unit.
    pub align: u64,
    /// Rows in tensor memory; 1 elsewhere.
    pub rows: u32,
    /// One per bound value, in the order of the text.
    pub leaves: Vec<LeafConstraint>,
}

/// Where the buffers of one bound value lie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LeafConstraint {
    /// SSA name of the value.
    pub value: String,
    /// The leaf's name.
    pub leaf: String,
    /// Size of one buffer, in the unit of the storage.
    pub bytes: u64,
    /// Place of buffer 0.
    pub offset: u64,
    /// Distances: of groups, then of the cells of each level.
    pub strides: Vec<u64>,
    /// Group sizes, outermost first; one fewer than `strides` (A31).
    pub radices: Vec<u64>,
    /// Indices of the leaf in the order of the iterations, until they repeat.
    pub indices: Vec<u64>,
    /// Their places: `slots[j mod len]` is where iteration j lies.
    pub slots: Vec<u64>,
}

impl StorageConstraint {
    /// One per storage with bound values, in order of declaration.
    pub(super) fn of(layout: &AliasLayout, bindings: &[BoundValue]) -> Vec<StorageConstraint> {
        let mut out = Vec::new();
        for storage in &layout.storages {
            let mut leaves = Vec::new();
            for bound in bindings {
                let Some(place) = storage.leaves.iter().find(|l| l.leaf == bound.leaf) else { continue };
                let binding = bound.binding();
                let indices: Vec<u64> =
                    (0..binding.period(place.count)).map(|j| binding.index(j, place.count)).collect();
                leaves.push(LeafConstraint {
                    value: bound.value.clone(),
                    leaf: bound.name.clone(),
                    bytes: place.unit,
                    offset: place.map.base,
                    strides: place.map.strides.to_vec(),
                    radices: place.map.radices.to_vec(),
                    slots: indices.iter().filter_map(|i| place.position(*i)).collect(),
                    indices,
                });
            }
            if !leaves.is_empty() {
                out.push(StorageConstraint {
                    id: storage.name.clone(),
                    space: storage.space,
                    bytes: storage.size,
                    align: storage.align,
                    rows: storage.rows,
                    leaves,
                });
            }
        }
        out
    }
}

impl BoundValue {
    /// The binding without its uses; a caller that knows the body fills in `write` and `reads`.
    pub fn binding(&self) -> Binding {
        Binding {
            value: self.value.clone(),
            leaf: self.leaf,
            mul: self.mul,
            add: self.add,
            write: 0,
            reads: Vec::new(),
        }
    }
}
