//! Storage aliasing: several buffers in one region because the author said so, with sizes, offsets and
//! strides that are right for every index.
//!
//! An author states sharing as a tree of *shared* and *distinct* groups over the allocations of one
//! [`StorageAliasSpec`]; [`AliasModule::layout`] places it. The attention kernel, whose probabilities lie where
//! the scores lay:
//!
//! ```
//! use warploom_alias::{Alloc, AliasModule, AliasOptions, Elem, GroupElement, ReuseGroup, Storage};
//!
//! let mut m = AliasModule::new();
//! let spec = m.storage_alias_spec(Storage::Tmem, None)?;
//! let qk = m.local_alloc(Alloc::new("qk", 2, [128, 128], Elem::F32).reuse(spec))?;
//! let p = m.local_alloc(Alloc::new("p", 8, [128, 32], Elem::BF16).reuse(spec))?;
//! let alpha = m.local_alloc(Alloc::new("alpha", 2, [128, 1], Elem::F32).reuse(spec))?;
//! let slices = ReuseGroup::shared([p])?.group_size(4)?;
//! let beside = ReuseGroup::distinct([GroupElement::from(slices), alpha.into()])?;
//! m.set_buffer_overlap(spec, ReuseGroup::shared([GroupElement::from(qk), beside.into()])?)?;
//!
//! let layout = m.layout(&AliasOptions::default())?;
//! let (storage, p) = layout.leaf(p).ok_or("p is laid out")?;
//! assert_eq!((storage.size, storage.groups, storage.stride), (256, 2, 128));
//! assert_eq!(p.positions().collect::<Vec<_>>(), [0, 16, 32, 48, 128, 144, 160, 176]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`check()`] proves a layout right without sharing code with the producer. Rules (`A31`) stand in `docs/rules`; every
//! error and finding cites its rule.

mod arrange;
mod capacity;
pub mod check;
mod counts;
mod error;
mod footprint;
mod group;
mod index;
mod infer;
mod layout;
mod lint;
mod model;
mod place;
mod render;
pub mod schedule;
mod solve;
pub mod text;
mod types;
mod underuse;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use capacity::allocated_columns;
pub use check::{AliasFinding, AliasFindings, CheckOptions, check, check_lowered};
pub use error::{AliasError, AliasErrors, AliasNote, AliasSeverity, Pos, Related, Result};
pub use footprint::{Footprint, footprint};
pub use group::{GroupElement, GroupKind, MAX_DEPTH, MAX_LEAVES, ReuseGroup};
pub use index::{IndexMap, SlotMap};
pub use layout::{
    AliasLayout, AliasLimits, AliasOptions, CellLayout, LeafLayout, PhaseLayout, StorageLayout,
};
pub use model::{AliasModule, Alloc, Counts, Leaf, LeafId, Overlap, Reuse, SpecId, StorageAliasSpec};
pub use render::{render, to_json};
pub use text::{
    AliasEmit, BoundValue, Extracted, IndexedLeaf, LeafConstraint, LoweredPart, StorageConstraint,
    TextOptions, TextOutput, TextPart, extract, filecheck, indexed_leaves, lower_text, lower_text_with,
    verify_diagnostics,
};
pub use types::{CtaMode, Elem, Encoding, Storage, TensorEncoding};
pub use underuse::{under_use, used_columns};
