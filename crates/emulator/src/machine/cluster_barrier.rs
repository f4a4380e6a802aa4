//! The barrier of a cluster (E28): threads come to it, one by one where `.aligned` is not said.

use crate::race::clock::Clock;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What one round knows so far, and what the last one published.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClusterBarrier {
    pub generation: u32,
    /// Warps all of whose live lanes have come.
    pub arrived: u32,
    /// Lanes of each warp that have come in this round.
    came: BTreeMap<u32, u32>,
    pub clock: Clock,
    pub released: Rc<Clock>,
}

impl ClusterBarrier {
    /// Before the first round; `empty` is a clock that knows nothing.
    pub(crate) fn new(empty: Clock) -> Self {
        Self { released: Rc::new(empty.clone()), clock: empty, ..Self::default() }
    }

    /// Lanes of a warp come; `live` are those it still has.
    pub(crate) fn come(&mut self, warp: u32, lanes: u32, live: u32) {
        let before = self.pending(warp);
        self.came.insert(warp, before | lanes);
        self.arrived += u32::from(live & !(before | lanes) == 0);
    }

    /// Lanes of a warp are gone: the rest may have come as a whole. A warp that has ended counts no longer.
    pub(crate) fn leave(&mut self, warp: u32, gone: u32, live: u32) {
        let came = self.pending(warp);
        if came == 0 {
            return;
        }
        let was_whole = (live | gone) & !came == 0;
        let is_whole = live != 0 && live & !came == 0;
        self.arrived = self.arrived + u32::from(is_whole) - u32::from(was_whole);
    }

    /// The lanes of a warp that have come in this round.
    pub(crate) fn pending(&self, warp: u32) -> u32 {
        self.came.get(&warp).copied().unwrap_or(0)
    }

    /// Ends the round if all live warps have come.
    pub(crate) fn settle(&mut self, live_warps: u32, empty: Clock) {
        if self.arrived < live_warps {
            return;
        }
        self.generation += 1;
        self.arrived = 0;
        self.came.clear();
        self.released = Rc::new(std::mem::replace(&mut self.clock, empty));
    }
}
