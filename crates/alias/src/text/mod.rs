//! MLIR text in and out: the `tlx` operations of A16, lowered part by part (A19, A20).
//!
//! [`lower_text`] is the whole front door: text in, text and diagnostics out.

mod affine;
pub(crate) mod drive;
mod expected;
mod extract;
mod filecheck;
pub(crate) mod form;
mod lexer;
mod lower;
pub(crate) mod parse;
pub(crate) mod print;
pub(crate) mod read;
mod slots;
mod sync;
pub(crate) mod tree;
pub(crate) mod types;

pub use affine::{IndexedLeaf, indexed_leaves};
pub use drive::{Emit, TextOptions, TextOutput, lower_text};
pub use expected::verify_diagnostics;
pub use extract::{BoundValue, Extracted, LeafConstraint, StorageConstraint, extract};
pub use filecheck::filecheck;
