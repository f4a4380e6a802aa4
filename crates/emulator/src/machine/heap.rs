//! The heap of the device: what `malloc` gave, and what was given back (E98).

use std::collections::BTreeMap;

/// Where the heap is, and its bytes, as CUDA has them by default.
pub(crate) const HEAP_BASE: u64 = 0x00f8_0000_0000;
pub(crate) const HEAP_BYTES: u64 = 8 << 20;

/// Pieces of the heap. What is freed is not given out again, so that whoever uses it still is not mistaken for somebody else.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    /// Bytes that were given out, by grids before this one too.
    pub taken: u64,
    /// Those of this grid, by address: where each ends, and whether it is still there.
    pieces: BTreeMap<u64, (u64, bool)>,
}

/// Why bytes of the heap may not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misuse {
    /// They were given back.
    Freed,
    /// They end behind a piece, or lie in none.
    Outside,
    /// `free` of what is not the beginning of a piece.
    NotAllocated,
}

impl Misuse {
    /// What happened, and what to do.
    pub(crate) fn explain(self) -> (&'static str, &'static str) {
        match self {
            Misuse::Freed => ("memory of the heap is used after free", "free it behind its last use, once"),
            Misuse::Outside => ("access outside of what malloc gave", "mend the index, or ask for more"),
            Misuse::NotAllocated => ("free of what malloc did not give", "free the pointer that malloc gave"),
        }
    }
}

impl Heap {
    /// A heap of which grids before have taken so many bytes.
    pub(crate) fn new(taken: u64) -> Self {
        Heap { taken, pieces: BTreeMap::new() }
    }

    /// Whether an address lies in the heap.
    pub(crate) fn holds(addr: u64) -> bool {
        addr.wrapping_sub(HEAP_BASE) < HEAP_BYTES
    }

    /// Memory, or 0 if there is not so much left.
    pub(crate) fn allocate(&mut self, bytes: u64) -> u64 {
        let at = self.taken;
        let Some(end) = at.checked_add(bytes.max(1)).filter(|end| *end <= HEAP_BYTES) else { return 0 };
        // Pieces do not touch: one past the end of one is not the next one.
        self.taken = (end + 1).next_multiple_of(16);
        self.pieces.insert(HEAP_BASE + at, (HEAP_BASE + end, true));
        HEAP_BASE + at
    }

    /// Gives a piece back. Nothing is fine, and so is what an earlier grid asked for.
    pub(crate) fn release(&mut self, addr: u64) -> Result<(), Misuse> {
        let earlier = addr == 0 || self.earlier(addr);
        match self.pieces.get_mut(&addr) {
            Some((_, there)) if *there => *there = false,
            Some(_) => return Err(Misuse::Freed),
            None if earlier => {}
            None => return Err(Misuse::NotAllocated),
        }
        Ok(())
    }

    /// Whether bytes of the heap may be used.
    pub(crate) fn check(&self, addr: u64, len: u64) -> Result<(), Misuse> {
        match self.pieces.range(..=addr).next_back() {
            Some((_, (end, true))) if addr.saturating_add(len) <= *end => Ok(()),
            Some((_, (end, false))) if addr < *end => Err(Misuse::Freed),
            _ if self.earlier(addr) => Ok(()),
            _ => Err(Misuse::Outside),
        }
    }

    /// Whether an address was given out by an earlier grid.
    pub(super) fn earlier(&self, addr: u64) -> bool {
        let first = self.pieces.keys().next().copied().unwrap_or(HEAP_BASE + self.taken);
        Heap::holds(addr) && addr < first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_told_apart() {
        let mut heap = Heap::new(32);
        let (a, b) = (heap.allocate(16), heap.allocate(8));
        assert!(b > a + 16, "a gap between");
        assert_eq!((heap.check(a, 16), heap.check(a + 12, 8)), (Ok(()), Err(Misuse::Outside)));
        assert_eq!(heap.check(a + 16, 1), Err(Misuse::Outside));
        assert_eq!(heap.check(HEAP_BASE, 8), Ok(()), "of an earlier grid");
        assert_eq!(heap.release(a + 4), Err(Misuse::NotAllocated));
        assert_eq!((heap.release(a), heap.release(a)), (Ok(()), Err(Misuse::Freed)));
        assert_eq!((heap.check(a, 4), heap.check(b, 8)), (Err(Misuse::Freed), Ok(())));
        assert_eq!((heap.release(0), heap.allocate(HEAP_BYTES)), (Ok(()), 0));
    }
}
