//! Strategies and laws for `warploom-alias`.
//!
//! ```
//! use warploom_alias::{AliasModule, AliasOptions, Alloc, Elem, Storage};
//! use warploom_testing::alias::layout_is_right;
//!
//! let mut m = AliasModule::new();
//! let spec = m.storage_alias_spec(Storage::Smem, None)?;
//! m.local_alloc(Alloc::new("a", 2, [64, 64], Elem::F16).reuse(spec))?;
//! assert!(layout_is_right(&m, &AliasOptions::default())?.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bytes;
mod laws;
mod module;
mod strategies;
mod text;

pub use bytes::Bytes;
pub use laws::{
    bytes_keep_the_laws, declaration_order_changes_nothing, layout_is_right, lowering_is_right,
    strict_slots_are_a_subset, text_is_stable, with_layout, without_limits,
};
pub use module::{Ranges, module};
pub use strategies::{modules, texts};
pub use text::text_of;
