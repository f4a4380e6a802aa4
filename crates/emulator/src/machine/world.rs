//! What all clusters of a launch share: global memory, who touched it, and what was released there.

use super::child::Child;
use super::global::{Store, View};
use super::heap::Heap;
use crate::race::released::Released;
use crate::race::shadow::Sparse;
use std::collections::BTreeMap;

/// Global memory, its shadow, and the releases at its addresses. It is with the cluster that runs.
pub(crate) struct World<'a> {
    pub global: View<'a>,
    pub shadow: Sparse,
    pub released: Released,
    pub heap: Heap,
    /// Grids whose parameters are being written, by where; and those that were launched.
    pub prepared: BTreeMap<u64, Child>,
    pub children: Vec<Child>,
    /// Times that whoever takes a lock may still pause, so that others come to want it.
    pub pauses: u32,
}

/// Of a launch. What they show does not change with their number, and each costs the spinning of others.
const PAUSES: u32 = 128;

impl<'a> World<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        World {
            global: View::new(store),
            shadow: Sparse::default(),
            released: Released::default(),
            heap: Heap::default(),
            prepared: BTreeMap::new(),
            children: Vec::new(),
            pauses: PAUSES,
        }
    }
}
