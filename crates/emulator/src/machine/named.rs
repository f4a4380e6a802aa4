//! Named barriers of a CTA (E24).

use crate::race::clock::Clock;

/// One of the sixteen barriers.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamedBarrier {
    /// Threads expected in this generation; 0 when nobody has arrived.
    pub count: u32,
    /// Threads that have arrived: warps times 32.
    pub arrived: u32,
    /// Warps that arrived, and whether they wait.
    pub warps: Vec<(u32, bool)>,
    /// Warps of which only some lanes have come, those lanes, and whether some of them wait.
    pub partial: Vec<(u32, u32, bool)>,
    /// Completed generations.
    pub generation: u32,
    /// What the arrivals carry.
    pub clock: Clock,
    /// What everybody knew when the last generation completed (B04).
    pub last: Clock,
    /// Line of the first arrival of this generation.
    pub line: u32,
    /// Result of a reduction: popc, and, or.
    pub votes: (u32, bool, bool),
    /// Whether any thread count came from `n` being absent.
    pub whole: bool,
}

impl NamedBarrier {
    /// A warp has come.
    pub(crate) fn come(&mut self, warp: u32, waits: bool) {
        self.warps.push((warp, waits));
        self.arrived += 32;
    }

    /// Some lanes of a warp have come.
    pub(crate) fn come_apart(&mut self, warp: u32, lanes: u32, waits: bool) {
        match self.partial.iter_mut().find(|p| p.0 == warp) {
            Some(p) => (p.1, p.2) = (p.1 | lanes, p.2 | waits),
            None => self.partial.push((warp, lanes, waits)),
        }
    }

    /// The warp has come once all its live lanes have; false while some are missing.
    pub(crate) fn complete_warp(&mut self, warp: u32, live: u32) -> bool {
        let Some(at) = self.partial.iter().position(|p| p.0 == warp && live & !p.1 == 0) else {
            return false;
        };
        let (_, _, waits) = self.partial.remove(at);
        self.come(warp, waits);
        true
    }
}
