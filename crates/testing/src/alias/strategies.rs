//! Proptest strategies. They shrink to fewer bytes and smaller ones, which are fewer leaves, flatter trees and smaller
//! tiles.

use proptest::prelude::*;
use warploom_alias::AliasModule;

use super::module::{Ranges, module};
use super::text::text_of;

/// Bytes of a case.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..160)
}

/// Modules with one to three specs and a tree over the leaves of each.
pub fn modules(ranges: Ranges) -> impl Strategy<Value = AliasModule> {
    bytes().prop_map(move |bytes| module(&bytes, ranges))
}

/// The same as text, with a partition that reads each leaf.
pub fn texts(ranges: Ranges) -> impl Strategy<Value = String> {
    modules(ranges).prop_map(|m| text_of(&m))
}
