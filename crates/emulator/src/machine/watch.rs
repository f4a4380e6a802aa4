//! Loops that will never end: lanes that come back to the same state while nothing around them changes (E68, E99).

use smallvec::SmallVec;

/// A state of some lanes at the head of a loop.
#[derive(Clone, Debug)]
struct State {
    lanes: u32,
    head: u32,
    hash: u64,
    /// States seen since; the one kept is renewed at powers of two (Brent's cycle detection).
    seen: u64,
}

/// Groups of lanes that are watched at once.
const GROUPS: usize = 8;

/// States of a warp's lanes at backward branches, and the lanes that were seen to go round in circles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    states: SmallVec<[State; 1]>,
    /// Lanes in a circle, by where they poll.
    pub circling: SmallVec<[(u32, u32); 1]>,
}

impl Watch {
    /// Lanes that go round in circles.
    pub(crate) fn lanes(&self) -> u32 {
        self.circling.iter().fold(0, |m, (l, _)| m | l)
    }

    /// Lanes came to the head of a loop in which they polled at `place`, in a state.
    pub(crate) fn see(&mut self, lanes: u32, head: u32, place: u32, hash: u64) {
        let Some(s) = self.states.iter_mut().find(|s| (s.lanes, s.head) == (lanes, head)) else {
            if self.states.len() < GROUPS {
                self.states.push(State { lanes, head, hash, seen: 1 });
            }
            return;
        };
        if s.hash == hash {
            if lanes & !self.circling.iter().fold(0, |m, (l, _)| m | l) != 0 {
                self.circling.push((lanes, place));
            }
            return;
        }
        s.seen += 1;
        if s.seen.is_power_of_two() {
            s.hash = hash;
        }
    }

    /// Something changed: whoever went round may now leave.
    pub(crate) fn forget(&mut self) {
        self.states.clear();
        self.circling.clear();
    }
}

/// A hash of words (splitmix64's finaliser, chained).
pub(crate) fn hash(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0x9e37_79b9_7f4a_7c15, |h, w| {
        let mut z = (h ^ w).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}
