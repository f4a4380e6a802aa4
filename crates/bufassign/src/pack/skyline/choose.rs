//! Where the search decides next, and on what. No choice excludes a plan; each finds some sooner.

use super::{Among, Skyline, Where};

/// Waste is counted in so many parts of what an interval can lose.
const PARTS: u64 = 16;
/// Weights are whole numbers: so many parts of a block.
const SCALE: u64 = 1 << 20;

impl Skyline<'_> {
    /// The interval to decide in.
    pub(super) fn choose_section(&self, a: usize, b: usize) -> Option<usize> {
        let open = (a..b).filter(|&s| self.lowest[s] != u64::MAX);
        open.min_by_key(|&s| {
            let count = match self.choice.at {
                Where::Lowest => 0,
                Where::Fewest => self.candidates(s),
                Where::Weighted => self.candidates(s) * SCALE / (1 + self.failures[s]),
            };
            (count, self.lowest[s], std::cmp::Reverse(self.left[s]))
        })
    }

    /// The block to try there.
    pub(super) fn choose_block(&self, s: usize) -> Option<usize> {
        let here = self.members[s].iter().map(|&k| k as usize).filter(|&k| !self.placed[k]);
        match self.choice.among {
            Among::Rank => here.filter(|&k| self.floor[k] == self.lowest[s]).min_by_key(|&k| self.rank[k]),
            Among::Fit => here
                .filter(|&k| self.floor[k] <= self.top(s))
                .min_by_key(|&k| (self.waste(k), self.steps(k), self.rank[k])),
        }
    }

    /// The highest place of the lowest block of an interval.
    fn top(&self, s: usize) -> u64 {
        self.capacity.saturating_sub(self.left[s])
    }

    /// How many blocks can be the lowest of an interval.
    fn candidates(&self, s: usize) -> u64 {
        let here = self.members[s].iter().map(|&k| k as usize);
        here.filter(|&k| !self.placed[k] && self.floor[k] <= self.top(s)).count() as u64
    }

    /// Where one block alone can be the lowest of an interval, all others there lie above it; false if one then no
    /// longer fits. It costs the first lane more than it saves.
    pub(super) fn lift_above_the_only_one(&mut self, s: usize) -> bool {
        if self.choice.at == Where::Lowest {
            return true;
        }
        let top = self.top(s);
        let here = self.members[s].iter().map(|&k| k as usize);
        let mut low = here.filter(|&k| !self.placed[k] && self.floor[k] <= top);
        let (Some(only), None) = (low.next(), low.next()) else { return true };
        let end = self.floor[only] + self.size[only];
        for i in 0..self.members[s].len() {
            let k = self.members[s][i] as usize;
            if k != only && !self.placed[k] && self.floor[k] < end {
                let to = self.rest(k, end);
                if !self.raise(k, to, self.base[k]) {
                    return false;
                }
            }
        }
        true
    }

    /// What no block can have any more once this one lies at its floor, of what its intervals can lose.
    fn waste(&self, k: usize) -> u64 {
        let parts = self.sections[k].iter().map(|&s| {
            let (low, top) = (self.lowest[s as usize], self.top(s as usize));
            (self.floor[k] - low).saturating_mul(PARTS) / (top.saturating_sub(low) + 1)
        });
        parts.fold(0, u64::saturating_add)
    }

    /// At how many of its two ends in time a block would not be level with what is beside it.
    fn steps(&self, k: usize) -> u64 {
        let end = self.floor[k] + self.size[k];
        let (first, last) = (self.hull[k].0 as usize, self.hull[k].1 as usize);
        let level = |s: usize| match self.lowest[s] {
            u64::MAX => end == self.capacity,
            low => low == end,
        };
        u64::from(first > 0 && !level(first - 1)) + u64::from(last + 1 < self.moments && !level(last + 1))
    }
}
