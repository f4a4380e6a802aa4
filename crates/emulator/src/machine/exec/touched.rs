//! Where the lanes of one access went.

use crate::machine::actor::Actor;
use crate::machine::core::Core;
use crate::race::access::Act;
use smallvec::SmallVec;

/// Lanes with their addresses: a scalar access of a warp needs no allocation.
pub(crate) type Places = SmallVec<[(u32, u64); 32]>;

/// Lanes of one access, by where they go.
#[derive(Default)]
pub(crate) struct Touched {
    pub global: Places,
    /// CTA, then (lane, offset).
    pub shared: SmallVec<[(u32, Places); 1]>,
}

impl Touched {
    pub(crate) fn add_shared(&mut self, cta: u32, lane: u32, at: u64) {
        match self.shared.iter_mut().find(|(c, _)| *c == cta) {
            Some((_, list)) => list.push((lane, at)),
            None => self.shared.push((cta, smallvec::smallvec![(lane, at)])),
        }
    }

    pub(crate) fn record(&self, core: &mut Core<'_>, size: u64, a: &Actor, act: Act) {
        if !self.global.is_empty() {
            core.touch_lanes(None, &self.global, size, a, act);
        }
        for (cta, list) in &self.shared {
            core.touch_lanes(Some(*cta), list, size, a, act);
        }
    }
}
