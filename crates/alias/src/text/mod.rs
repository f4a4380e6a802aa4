//! MLIR text in and out: the `tlx` operations of A16, lowered part by part (A19, A20).
//!
//! [`lower_text`] is the whole front door: text in, text and diagnostics out.

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
pub(crate) mod tree;
pub(crate) mod types;

pub use drive::{Emit, TextOptions, TextOutput, lower_text};
pub use expected::verify_diagnostics;
pub use extract::{Extracted, extract};
pub use filecheck::filecheck;
