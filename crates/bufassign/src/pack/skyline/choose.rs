//! Where the search decides next, and on what. No choice excludes a plan; each finds some sooner.

use super::{Among, STALE, Skyline, Where};

/// Waste is counted in so many parts of what an interval can lose.
const PARTS: u64 = 16;
/// Weights are whole numbers: so many parts of a block.
const SCALE: u64 = 1 << 20;

impl Skyline<'_> {
    /// The interval to decide in.
    pub(super) fn choose_section(&mut self, a: usize, b: usize) -> Option<usize> {
        if self.choice.at == Where::Lowest {
            return self.lowest_section(a, b);
        }
        let mut best: Option<(usize, u64)> = None;
        for s in a..b {
            let low = self.lowest[s];
            if low == u64::MAX {
                continue;
            }
            if self.counts[s] == STALE {
                self.counts[s] = self.candidates(s);
            }
            let count = match self.choice.at {
                Where::Lowest | Where::Fewest => self.counts[s].into(),
                Where::Weighted => u64::from(self.counts[s]) * SCALE / (1 + self.failures[s]),
            };
            // The lowest, then the fullest, among equals.
            let better = best.is_none_or(|(t, least)| {
                let (low, left) = (low.cmp(&self.lowest[t]), self.left[t].cmp(&self.left[s]));
                count.cmp(&least).then(low).then(left).is_lt()
            });
            if better {
                best = Some((s, count));
            }
        }
        best.map(|b| b.0)
    }

    /// The interval of the lowest floor, of the least slack on ties: that of the first lane, whose nodes are the cheapest.
    fn lowest_section(&self, a: usize, b: usize) -> Option<usize> {
        let (mut best, mut low, mut left) = (None, u64::MAX, u64::MAX);
        for (k, (&l, &full)) in self.lowest[a..b].iter().zip(&self.left[a..b]).enumerate() {
            if l < low || l == low && full > left {
                (best, low, left) = (Some(a + k), l, full);
            }
        }
        best
    }

    /// A block changed: how many can be the lowest of its intervals is to be counted anew.
    pub(super) fn recount(&mut self, k: usize) {
        if self.choice.at != Where::Lowest {
            for &s in &self.sections[k] {
                self.counts[s as usize] = STALE;
            }
        }
    }

    /// The block to try there.
    pub(super) fn choose_block(&self, s: usize) -> Option<usize> {
        let here = self.members[s].iter().map(|&k| k as usize);
        if self.choice.among == Among::Rank {
            return here.filter(|&k| self.open[k] == self.lowest[s]).min_by_key(|&k| self.rank[k]);
        }
        let top = self.top(s);
        let (mut best, mut least) = (None, (u64::MAX, u64::MAX, u32::MAX));
        for k in here.filter(|&k| self.open[k] <= top) {
            let Some(waste) = self.waste(k, least.0) else { continue };
            let key = (waste, self.steps(k), self.rank[k]);
            if key < least || best.is_none() {
                (best, least) = (Some(k), key);
            }
        }
        best
    }

    /// The highest place of the lowest block of an interval.
    fn top(&self, s: usize) -> u64 {
        self.capacity.saturating_sub(self.left[s])
    }

    /// How many blocks can be the lowest of an interval.
    fn candidates(&self, s: usize) -> u32 {
        let (top, mut count) = (self.top(s), 0);
        for &k in &self.members[s] {
            count += u32::from(self.open[k as usize] <= top);
        }
        count
    }

    /// Where one block alone can be the lowest of an interval, all others there lie above it; false if one then no
    /// longer fits. It costs the first lane more than it saves.
    pub(super) fn lift_above_the_only_one(&mut self, s: usize) -> bool {
        if self.choice.at == Where::Lowest {
            return true;
        }
        let top = self.top(s);
        let here = self.members[s].iter().map(|&k| k as usize);
        let mut low = here.filter(|&k| self.open[k] <= top);
        let (Some(only), None) = (low.next(), low.next()) else { return true };
        let end = self.open_end[only];
        for i in 0..self.members[s].len() {
            let k = self.members[s][i] as usize;
            if k != only && self.open[k] < end {
                let to = self.rest(k, end);
                if !self.raise(k, to, self.base[k]) {
                    return false;
                }
            }
        }
        true
    }

    /// What no block can have any more once this one lies at its floor, of what its intervals can lose; none where it is
    /// more than `most`.
    fn waste(&self, k: usize, most: u64) -> Option<u64> {
        let (floor, mut sum) = (self.floor[k], 0u64);
        for &s in &self.sections[k] {
            let low = self.lowest[s as usize];
            if floor > low {
                let room = self.top(s as usize).saturating_sub(low) + 1;
                sum = sum.saturating_add((floor - low).saturating_mul(PARTS) / room);
                if sum > most {
                    return None;
                }
            }
        }
        Some(sum)
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
