//! What the lanes of a warp know of each other after a synchronisation of some of them (E60, E100).

use super::mask::lanes;

/// A time for each lane.
type Row = [u32; 32];

/// For each lane, the time up to which it knows the accesses of every lane of its warp, beyond what the warp's clock
/// knows. Only made when lanes synchronise without the rest of their warp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Within {
    known: [Row; 32],
}

impl Within {
    /// What some lanes know together.
    pub(crate) fn of(&self, some: u32) -> Row {
        let mut all = [0; 32];
        for row in lanes(some).filter_map(|l| self.known.get(l as usize)) {
            all.iter_mut().zip(row).for_each(|(a, k)| *a = (*a).max(*k));
        }
        all
    }

    /// Some lanes tell each other all they know, and what they have done up to `time`.
    pub(crate) fn meet(&mut self, some: u32, time: u32) {
        let mut all = self.of(some);
        lanes(some).filter_map(|l| all.get_mut(l as usize).map(|a| *a = time)).count();
        for l in lanes(some) {
            if let Some(row) = self.known.get_mut(l as usize) {
                *row = all;
            }
        }
    }

    /// Whether every one of `some` knows, or is, what `lane` did at `time`.
    pub(crate) fn knows(&self, some: u32, lane: u32, time: u32) -> bool {
        let known = |l: u32| self.known.get(l as usize).and_then(|r| r.get(lane as usize)).copied();
        lanes(some).all(|l| l == lane || known(l).is_some_and(|k| k >= time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knowledge_is_passed_on_by_lanes_that_meet_twice() {
        let mut w = Within::default();
        w.meet(0b0011, 4);
        assert!(w.knows(0b0001, 1, 4) && !w.knows(0b0001, 1, 5));
        assert!(!w.knows(0b0101, 1, 4), "lane 2 was not there");
        w.meet(0b0110, 7);
        assert!(w.knows(0b0100, 0, 4), "lane 1 told lane 2 of lane 0");
        assert!(!w.knows(0b0001, 1, 7));
        assert_eq!(w.of(0b0111)[..4], [4, 7, 7, 0]);
    }
}
