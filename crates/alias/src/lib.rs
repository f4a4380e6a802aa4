//! Storage aliasing: several buffers in one region because the author said so, with sizes, offsets and
//! strides that are right for every index.
//!
//! An author states sharing as a tree of *shared* and *distinct* groups over the allocations of one
//! [`StorageAliasSpec`]; [`AliasModule::layout`] places it. The attention kernel, whose probabilities lie where
//! the scores lay:
//!
//! ```
//! use warploom_alias::{Alloc, AliasModule, AliasOptions, Elem, Element, ReuseGroup, Storage};
//!
//! let mut m = AliasModule::new();
//! let spec = m.storage_alias_spec(Storage::Tmem, None)?;
//! let qk = m.local_alloc(Alloc::new("qk", 2, [128, 128], Elem::F32).reuse(spec))?;
//! let p = m.local_alloc(Alloc::new("p", 8, [128, 32], Elem::BF16).reuse(spec))?;
//! let alpha = m.local_alloc(Alloc::new("alpha", 2, [128, 1], Elem::F32).reuse(spec))?;
//! let slices = ReuseGroup::shared([p])?.group_size(4)?;
//! let beside = ReuseGroup::distinct([Element::from(slices), alpha.into()])?;
//! m.set_buffer_overlap(spec, ReuseGroup::shared([Element::from(qk), beside.into()])?)?;
//!
//! let layout = m.layout(&AliasOptions::default())?;
//! let (storage, p) = layout.leaf(p).ok_or("p is laid out")?;
//! assert_eq!((storage.size, storage.groups, storage.stride), (256, 2, 128));
//! assert_eq!(p.positions().collect::<Vec<_>>(), [0, 16, 32, 48, 128, 144, 160, 176]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`check()`] proves a layout right without sharing code with the producer. Rules (`A31`) are numbered in the
//! specification; every error and finding cites its rule.

mod arrange;
mod capacity;
pub mod check;
mod counts;
mod error;
mod footprint;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod group;
mod host;
mod index;
mod infer;
mod layout;
mod lint;
mod model;
mod place;
mod render;
pub mod schedule;
#[cfg(test)]
mod tests;
pub mod text;
mod types;
mod underuse;

pub use capacity::allocated_columns;
pub use check::{CheckOptions, Finding, check, check_lowered};
pub use error::{AliasError, Note, Pos, Related, Result, Severity};
pub use footprint::{Footprint, footprint};
pub use group::{Element, GroupKind, MAX_DEPTH, MAX_LEAVES, ReuseGroup};
pub use index::{IndexMap, SlotMap};
pub use layout::{AliasOptions, CellLayout, Errors, Layout, LeafLayout, Limits, PhaseLayout, StorageLayout};
pub use model::{AliasModule, Alloc, Counts, Leaf, LeafId, Overlap, Reuse, SpecId, StorageAliasSpec};
pub use render::{render, to_json};
pub use text::{
    BoundValue, Emit, Extracted, IndexedLeaf, LeafConstraint, StorageConstraint, TextOptions, TextOutput,
    extract, filecheck, indexed_leaves, lower_text, verify_diagnostics,
};
pub use types::{CtaMode, Elem, Encoding, Storage, TensorMemory};
pub use underuse::{under_use, used_columns};
