//! Which bytes of the heap hold a value (E98).

use super::core::Core;
use super::heap::Heap;
use crate::race::shadow::granules;

impl Core<'_> {
    /// Halves of an element of the heap that this grid's `malloc` gave and nobody has written, as bit 0 for the low half of
    /// a register and bit 32 for the high one. A half is written as soon as one of its bytes is: the others may be padding.
    pub(crate) fn unwritten_heap(&mut self, addr: u64, bytes: u64) -> u64 {
        if self.world.heap.earlier(addr) {
            return 0;
        }
        let mut written = |at: u64, len: u64| {
            let some = |(g, mask)| self.world.shadow.at(g).is_some_and(|granule| granule.defined & mask != 0);
            granules(at, len).any(some)
        };
        let low = !written(addr, bytes.min(4));
        let high = if bytes > 4 { !written(addr + 4, bytes - 4) } else { low };
        u64::from(low) | u64::from(high) << 32
    }

    /// Bytes of the heap hold a value from here on: strong stores are recorded as atomics, which define nothing.
    pub(crate) fn define_heap(&mut self, addr: u64, len: u64) {
        if !Heap::holds(addr) {
            return;
        }
        for (g, mask) in granules(addr, len) {
            if let Some(granule) = self.world.shadow.at(g) {
                granule.defined |= mask;
            }
        }
    }
}
