//! What all clusters of a launch share: global memory, who touched it, and what was released there.

use super::child::Child;
use super::global::{Store, View};
use crate::race::released::Released;
use crate::race::shadow::Sparse;
use std::collections::BTreeMap;

/// Where the heap is, and its bytes, as CUDA has them by default.
pub(crate) const HEAP_BASE: u64 = 0x00f8_0000_0000;
pub(crate) const HEAP_BYTES: u64 = 8 << 20;

/// Global memory, its shadow, and the releases at its addresses. It is with the cluster that runs.
pub(crate) struct World<'a> {
    pub global: View<'a>,
    pub shadow: Sparse,
    pub released: Released,
    /// Bytes of the heap that are taken.
    pub heap: u64,
    /// Grids whose parameters are being written, by where; and those that were launched.
    pub prepared: BTreeMap<u64, Child>,
    pub children: Vec<Child>,
}

impl<'a> World<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        World {
            global: View::new(store),
            shadow: Sparse::default(),
            released: Released::default(),
            heap: 0,
            prepared: BTreeMap::new(),
            children: Vec::new(),
        }
    }

    /// Memory of the heap, or 0 if there is not so much left. What is freed is not used again, so that whoever uses it
    /// still is not mistaken for somebody else.
    pub(crate) fn allocate(&mut self, bytes: u64) -> u64 {
        let at = self.heap;
        match at.checked_add(bytes.max(1)).filter(|end| *end <= HEAP_BYTES) {
            Some(end) => {
                self.heap = end.next_multiple_of(16);
                HEAP_BASE + at
            }
            None => 0,
        }
    }
}
