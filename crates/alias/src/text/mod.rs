//! MLIR text in and out: the `tlx` operations of A16, lowered part by part (A19, A20).
//!
//! [`lower_text`] is the whole front door: text in, text and diagnostics out. Text is read and printed by
//! `warploom-ir`; here stands what the operations mean.

mod affine;
mod constraints;
pub(crate) mod dialect;
mod drive;
mod expected;
mod extract;
mod filecheck;
mod lower;
mod names;
pub(crate) mod part;
pub(crate) mod read;
mod slots;
mod sync;
pub(crate) mod types;
mod views;

pub use affine::{IndexedLeaf, indexed_leaves};
pub use constraints::{BoundValue, LeafConstraint, StorageConstraint};
pub use drive::{AliasEmit, LoweredPart, OtherPart, TextOptions, TextOutput, lower_text, lower_text_with};
pub use expected::verify_diagnostics;
pub use extract::{Extracted, extract};
pub use filecheck::filecheck;
pub use part::TextPart;
pub use types::split_list;
