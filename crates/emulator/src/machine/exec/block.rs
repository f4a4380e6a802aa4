//! Accesses of a warp whose lanes follow each other, or all go to one place: one piece of memory, checked and moved at once.

use super::touched::Touched;
use crate::isa::lanes::Lanes;
use crate::isa::op::{Load, Space};
use crate::isa::types::{low_mask, sign_extend};
use crate::machine::core::{Core, Spot};
use crate::machine::heap::Heap;
use crate::machine::warp::{FULL, Warp};
use crate::race::mask;

/// Bytes of the widest one: 32 lanes of 32 bytes.
pub(crate) const MOST: usize = 1024;

/// A piece of memory, `size` bytes for each lane.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    spot: Spot,
    size: usize,
    /// The lanes, and whether all of them go to its one place.
    lanes: u32,
    one: bool,
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
        Block::inside(core, w, space, start, Block { spot: Spot::Nowhere, size, lanes, one: false })
    }

    /// The place that all of these lanes load from, if it is one, and they may.
    pub(crate) fn one(
        core: &mut Core<'_>,
        w: &Warp,
        space: Space,
        addrs: &Lanes,
        lanes: u32,
        size: usize,
    ) -> Option<Block> {
        let start = *addrs.get(lanes.trailing_zeros() as usize)?;
        let fine = size.is_power_of_two() && start & (size as u64 - 1) == 0;
        if !fine || mask::lanes(lanes).any(|l| addrs[l as usize & 31] != start) {
            return None;
        }
        Block::inside(core, w, space, start, Block { spot: Spot::Nowhere, size, lanes, one: true })
    }

    /// The block at an address, if the lanes may go there.
    fn inside(core: &mut Core<'_>, w: &Warp, space: Space, start: u64, block: Block) -> Option<Block> {
        let len = block.bytes() as u64;
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
            Spot::Param(at) => {
                block.one && at.checked_add(len).is_some_and(|end| end <= core.params.len() as u64)
            }
            _ => false,
        };
        inside.then_some(Block { spot, ..block })
    }

    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> usize {
        if self.one { self.size } else { 32 * self.size }
    }

    /// Whether it is memory, and no parameter.
    pub(crate) fn is_memory(&self) -> bool {
        !matches!(self.spot, Spot::Param(_))
    }

    /// Fetches what stands there.
    pub(crate) fn read(&self, core: &mut Core<'_>, to: &mut [u8]) {
        let from = match self.spot {
            // Bounds were checked when the block was made.
            Spot::Global(at) => {
                let _ = core.world.global.read(at, to);
                return;
            }
            Spot::Shared(c, at) => core.ctas.get(c as usize).and_then(|c| c.shared.get(at as usize..)),
            Spot::Param(at) => core.params.get(at as usize..),
            _ => None,
        };
        if let Some(from) = from.and_then(|from| from.get(..to.len())) {
            to.copy_from_slice(from);
        }
    }

    /// Loads the registers of all lanes.
    pub(crate) fn load(&self, core: &mut Core<'_>, l: &Load, out: &mut [Lanes]) {
        let mut room = [0; MOST];
        let Some(bytes) = room.get_mut(..self.bytes()) else { return };
        self.read(core, bytes);
        match l.ty.bytes() {
            1 => spread::<1>(l, bytes, out),
            2 => spread::<2>(l, bytes, out),
            4 => spread::<4>(l, bytes, out),
            _ => spread::<8>(l, bytes, out),
        }
        if self.one {
            out.iter_mut().for_each(|v| *v = [v[0]; 32]);
        }
    }

    /// Puts bytes there; whether they stood there already.
    pub(crate) fn write(&self, core: &mut Core<'_>, bytes: &[u8]) -> bool {
        let mut room = [0; MOST];
        let Some(old) = room.get_mut(..bytes.len()) else { return false };
        self.read(core, old);
        match self.spot {
            Spot::Global(at) => _ = core.world.global.write(at, bytes),
            Spot::Shared(c, at) => {
                let at = at as usize;
                if let Some(to) = core.cta(c).and_then(|c| c.shared.get_mut(at..at + bytes.len())) {
                    to.copy_from_slice(bytes);
                }
            }
            _ => {}
        }
        old == bytes
    }

    /// Where the lanes went.
    pub(crate) fn touched(&self) -> Touched {
        let mut touched = Touched::default();
        let step = if self.one { 0 } else { self.size as u64 };
        let place = |at: u64| mask::lanes(self.lanes).map(move |lane| (lane, at + u64::from(lane) * step));
        match self.spot {
            Spot::Global(at) => touched.global.extend(place(at)),
            Spot::Shared(c, at) => touched.shared.push((c, place(at).collect())),
            _ => {}
        }
        touched
    }
}

/// Takes the registers of the lanes, of `N` bytes each, from the bytes that the lanes loaded.
fn spread<const N: usize>(l: &Load, bytes: &[u8], out: &mut [Lanes]) {
    let elements = bytes.as_chunks::<N>().0;
    for ((first, reg), to) in l.dsts.iter().enumerate().zip(out) {
        let Some((_, width)) = reg else { continue };
        let mask = low_mask(u32::from(*width));
        for (v, raw) in to.iter_mut().zip(elements.iter().skip(first).step_by(l.dsts.len())) {
            let mut word = [0; 8];
            word.iter_mut().zip(raw).for_each(|(d, b)| *d = *b);
            let raw = u64::from_le_bytes(word);
            *v = if l.ty.signed() { sign_extend(raw, l.ty.bits()) } else { raw } & mask;
        }
    }
}
