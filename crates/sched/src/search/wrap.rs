//! Wrap counts: the order of two uses of a single unit (S34).
//!
//! For uses `u` of `a` and `v` of `b` let `x = (t_b + s_v) - (t_a + s_u)`. In a schedule exactly one integer `k`
//! has `d_u + k*II <= x <= (k+1)*II - d_v`. No cycle is enumerated: an II of a million costs what ten does.

use super::network::Network;

/// Two uses of one unit by two operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub a: u32,
    pub b: u32,
    /// `s_v - s_u`: from `t_b - t_a` to `x`.
    pub offset: i64,
    pub first: i64,
    pub second: i64,
    /// The unit, and the places of the two uses in the list of its uses.
    pub unit: u32,
    pub places: (u32, u32),
    /// The search branches on it; otherwise residues decide.
    pub branch: bool,
}

/// A difference constraint `t[b] - t[a] >= least`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    pub a: u32,
    pub b: u32,
    pub least: i64,
}

impl Pair {
    /// The lap that a distance `x` lies in.
    pub fn lap(&self, x: i64, ii: i64) -> i64 {
        (x - self.first).div_euclid(ii)
    }

    /// The greatest distance within lap `k`.
    fn last(&self, k: i64, ii: i64) -> i64 {
        (k + 1) * ii - self.second
    }

    /// The distances `x` that the network still allows.
    fn range(&self, net: &Network) -> (i64, i64) {
        let (a, b) = (self.a as usize, self.b as usize);
        (net.dist(a, b) + self.offset, self.offset - net.dist(b, a))
    }

    /// Rounds both ends of the range to distances at which the uses do not meet; false on contradiction.
    pub fn tighten(&self, net: &mut Network, ii: i64) -> bool {
        let (a, b) = (self.a as usize, self.b as usize);
        let (low, high) = self.range(net);
        let k = self.lap(low, ii);
        if low > self.last(k, ii) && !net.impose(a, b, self.first + (k + 1) * ii - self.offset) {
            return false;
        }
        let k = self.lap(high, ii);
        high <= self.last(k, ii) || net.impose(b, a, self.offset - self.last(k, ii))
    }

    /// Number of laps left beyond the first, and the room there is in all; `None` when one lap is left.
    pub fn slack(&self, net: &Network, ii: i64) -> Option<i64> {
        let (low, high) = self.range(net);
        (self.lap(low, ii) < self.lap(high, ii)).then_some(high - low)
    }

    /// The room there is in all.
    pub fn room(&self, net: &Network) -> i64 {
        -(net.dist(self.a as usize, self.b as usize) + net.dist(self.b as usize, self.a as usize))
    }

    /// The first and the last lap that the network allows; the first is greater when there is none.
    pub fn laps(&self, net: &Network, ii: i64) -> (i64, i64) {
        let (low, high) = self.range(net);
        let k = self.lap(low, ii);
        (if low > self.last(k, ii) { k + 1 } else { k }, self.lap(high, ii))
    }

    /// As [`laps`](Self::laps), without a division where `near` has the laps of the ends, which it then gets.
    pub fn laps_near(&self, net: &Network, ii: i64, near: &mut (i64, i64)) -> (i64, i64) {
        let (low, high) = self.range(net);
        let lap = |x: i64, near: i64| {
            if (0..ii).contains(&(x - self.first - near * ii)) { near } else { self.lap(x, ii) }
        };
        *near = (lap(low, near.0), lap(high, near.1));
        (if low > self.last(near.0, ii) { near.0 + 1 } else { near.0 }, near.1)
    }

    /// Whether the uses overlap when both operations start as early as the network allows. `near`: a lap that is
    /// likely.
    pub fn meets_at_earliest(&self, net: &Network, ii: i64, near: i64) -> bool {
        let x = net.dist(0, self.b as usize) - net.dist(0, self.a as usize) + self.offset;
        let into = x - self.first - near * ii;
        let into = if (0..ii).contains(&into) { into } else { into.rem_euclid(ii) };
        into > ii - self.first - self.second
    }

    /// Lap `k` or a later one.
    pub fn from(&self, k: i64, ii: i64) -> Bound {
        Bound { a: self.a, b: self.b, least: self.first + k * ii - self.offset }
    }

    /// Lap `k` or an earlier one.
    pub fn before(&self, k: i64, ii: i64) -> Bound {
        Bound { a: self.b, b: self.a, least: self.offset - self.last(k, ii) }
    }

    /// The lap with the most room.
    pub fn roomiest(&self, net: &Network, ii: i64) -> i64 {
        let (low, high) = self.range(net);
        let (least, most) = (self.lap(low, ii), self.lap(high, ii));
        let room = |k: i64| high.min(self.last(k, ii)) - low.max(self.first + k * ii);
        // Inner laps have equal room: the first of them stands for all.
        let inner = (least + 1).min(most);
        [least, inner, most].into_iter().max_by_key(|&k| (room(k), -k)).unwrap_or(least)
    }

    /// The lap with the most room, as a constraint and its opposite.
    pub fn split(&self, net: &Network, ii: i64) -> (Bound, Bound) {
        let best = self.roomiest(net, ii);
        if best == self.lap(self.range(net).0, ii) {
            (self.before(best, ii), self.from(best + 1, ii))
        } else {
            (self.from(best, ii), self.before(best - 1, ii))
        }
    }

    /// Whether two fixed residues overlap on the unit.
    pub fn clash(&self, residue_a: i64, residue_b: i64, ii: i64) -> bool {
        let x = (residue_b - residue_a + self.offset).rem_euclid(ii);
        x < self.first || x > ii - self.second
    }
}
