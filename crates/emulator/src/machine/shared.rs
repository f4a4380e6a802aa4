//! Shared memory of a CTA, which knows how often its parts were written.

use std::ops::{Deref, Range};

/// Bytes of a part.
const PART: usize = 1024;

/// The bytes, and for each part how often somebody asked to write to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared {
    bytes: Vec<u8>,
    writes: Vec<u64>,
}

impl Shared {
    /// So many bytes that nobody has written.
    pub(crate) fn new(bytes: u64) -> Shared {
        Shared { bytes: vec![0xcb; bytes as usize], writes: vec![0; (bytes as usize).div_ceil(PART)] }
    }

    /// Bytes to write to.
    pub(crate) fn get_mut(&mut self, range: Range<usize>) -> Option<&mut [u8]> {
        let slots = self.bytes.get_mut(range.clone())?;
        let parts = range.start / PART..range.end.div_ceil(PART);
        self.writes.get_mut(parts).into_iter().flatten().for_each(|n| *n += 1);
        Some(slots)
    }

    /// A number that grows whenever somebody may have written to a range.
    pub(crate) fn writes(&self, range: Range<usize>) -> u64 {
        self.writes.get(range.start / PART..range.end.div_ceil(PART)).into_iter().flatten().sum()
    }
}

impl Deref for Shared {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}
