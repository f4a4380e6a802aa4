//! Buffers of StableHLO programs (A55 to A69).
//!
//! [`lower_text`] reads a text, verifies it (A57), proves that every buffer is written once and then dead (A59 to
//! A64), orders rotated chains, gives each class of aliases one storage, and says where copies stand:
//!
//! ```
//! use warploom_stablehlo::{StablehloOptions, lower_text};
//!
//! let text = r#"
//! func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
//!   %s = stablehlo.add %x, %x : tensor<4xf32>
//!   %b = stablehlo.custom_call @Pin(%s) : (tensor<4xf32>) -> memref<4xf32>
//!   %r = stablehlo.custom_call @Unpin(%b) : (memref<4xf32>) -> tensor<4xf32>
//!   return %r : tensor<4xf32>
//! }
//! "#;
//! let out = lower_text(text, &StablehloOptions::default());
//! assert!(!out.failed);
//! // The sum is not used again: the buffer takes over its memory, and nothing is copied.
//! assert!(out.text.contains("@Pin(%s) {warploom.storage = \"b\", warploom.copy = 0 : i64}"), "{}", out.text);
//! ```
//!
//! Text is read by `warploom-ir`; storages are laid out by `warploom-alias`. A checker of its own runs every
//! program on cells that remember what was written last (L16).

mod call;
mod check;
mod classes;
mod dialect;
mod linear;
mod lint;
mod live;
mod lower;
mod machine;
#[cfg(test)]
mod mutants;
mod order;
mod plan;
mod program;
mod slots;
mod types;
mod verify;
mod write;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use lower::{StablehloOptions, lower_text};
pub use warploom_alias::{AliasEmit, AliasError, AliasErrors, AliasSeverity, TextOptions, TextOutput};
