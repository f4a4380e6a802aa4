//! Accesses of a whole warp whose lanes follow each other: one piece of memory, checked and moved at once.

use super::touched::Touched;
use crate::isa::lanes::Lanes;
use crate::isa::op::Space;
use crate::machine::core::{Core, Spot};
use crate::machine::heap::Heap;
use crate::machine::warp::{FULL, Warp};

/// Bytes of the widest one: 32 lanes of 32 bytes.
const MOST: usize = 1024;

/// A piece of global or shared memory, `size` bytes for each lane.
pub(crate) struct Block {
    spot: Spot,
    size: usize,
    bytes: [u8; MOST],
}

impl Block {
    /// The piece that all lanes access, if they follow each other and all may go there.
    pub(crate) fn of(
        core: &mut Core<'_>,
        w: &Warp,
        space: Space,
        addrs: &Lanes,
        lanes: u32,
        size: usize,
    ) -> Option<Block> {
        let (start, each) = (addrs[0], size as u64);
        let fine = lanes == FULL && size.is_power_of_two() && size * 32 <= MOST && start & (each - 1) == 0;
        let follows = |(i, at): (u64, &u64)| *at == start.wrapping_add(i * each);
        if !fine || !(0..).zip(addrs).all(follows) {
            return None;
        }
        let len = 32 * each;
        let spot = core.spot(space, start, w.cta);
        let inside = match spot {
            Spot::Global(at) => !Heap::holds(at) && core.world.global.check(at, len).is_ok(),
            Spot::Shared(c, at) => {
                let room =
                    core.ctas.get(c as usize).filter(|_| c == w.cta).map_or(0, |c| c.shared.len() as u64);
                let inside = at.checked_add(len).is_some_and(|end| end <= room);
                if inside {
                    core.stats.shared_used = core.stats.shared_used.max(at + len);
                }
                inside && !core.holds_poison(c, at, len)
            }
            _ => false,
        };
        inside.then_some(Block { spot, size, bytes: [0; MOST] })
    }

    fn all(&mut self) -> &mut [u8] {
        let len = 32 * self.size;
        self.bytes.get_mut(..len).unwrap_or_default()
    }

    /// Fetches what stands there.
    pub(crate) fn read(&mut self, core: &mut Core<'_>) {
        let spot = self.spot;
        match spot {
            // Bounds were checked when the block was made.
            Spot::Global(at) => {
                let _ = core.world.global.read(at, self.all());
            }
            Spot::Shared(c, at) => {
                let at = at as usize;
                if let Some(from) =
                    core.ctas.get(c as usize).and_then(|c| c.shared.get(at..at + 32 * self.size))
                {
                    self.all().copy_from_slice(from);
                }
            }
            _ => {}
        }
    }

    /// Puts its bytes there; whether they stood there already.
    pub(crate) fn write(&mut self, core: &mut Core<'_>) -> bool {
        let mut old = Block { bytes: [0; MOST], ..*self };
        old.read(core);
        let spot = self.spot;
        match spot {
            Spot::Global(at) => {
                let _ = core.world.global.write(at, self.all());
            }
            Spot::Shared(c, at) => {
                let at = at as usize;
                if let Some(to) = core.cta(c).and_then(|c| c.shared.get_mut(at..at + 32 * self.size)) {
                    to.copy_from_slice(self.all());
                }
            }
            _ => {}
        }
        old.all() == self.all()
    }

    /// The bytes of each lane.
    pub(crate) fn lanes(&mut self) -> impl Iterator<Item = &mut [u8]> {
        let size = self.size;
        self.all().chunks_exact_mut(size)
    }

    /// Where the lanes went.
    pub(crate) fn touched(&self) -> Touched {
        let mut touched = Touched::default();
        let place = |at: u64| (0..32_u32).map(move |lane| (lane, at + u64::from(lane) * self.size as u64));
        match self.spot {
            Spot::Global(at) => touched.global.extend(place(at)),
            Spot::Shared(c, at) => touched.shared.push((c, place(at).collect())),
            _ => {}
        }
        touched
    }
}
