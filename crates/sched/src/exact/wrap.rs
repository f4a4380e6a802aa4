//! Wrap counts: the order of two uses of a single unit (S34).
//!
//! For uses `u` of `a` and `v` of `b` let `x = (t_b + s_v) - (t_a + s_u)`. In a schedule exactly one integer `k`
//! has `d_u + k*II <= x <= (k+1)*II - d_v`. No cycle is enumerated: an II of a million costs what ten does.

use super::network::Network;
use super::span::Span;

/// Two operations with uses of a common unit, or of several at the same offset, whose wraps are the same then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub a: u32,
    pub b: u32,
    /// `s_v - s_u`: from `t_b - t_a` to `x`.
    pub offset: i64,
    pub first: i64,
    pub second: i64,
    /// The search branches on it; otherwise residues decide.
    pub branch: bool,
    /// The resource has several units, so the uses may overlap: wraps of twice the number, of which the even ones are
    /// overlaps, and the odd ones the wraps of a single unit.
    pub shared: bool,
}

/// Whether the uses of a shared pair overlap in this wrap.
pub(crate) fn is_overlap(wrap: i64) -> bool {
    wrap.rem_euclid(2) == 0
}

/// Two uses of a unit, by their places in the list of its uses, and the pair that keeps them apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    pub unit: u32,
    pub places: (u32, u32),
    pub pair: u32,
}

/// Pairs of operations, and which uses of which units they stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    pub list: Vec<Pair>,
    pub meetings: Vec<Meeting>,
    pub pools: Vec<Pool>,
}

/// A resource of several units that wraps decide: its uses, and the shared pair of each two of them.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    pub units: usize,
    pub uses: Vec<PoolUse>,
    /// Of uses i and j < i at `i*(i-1)/2 + j`; the pair goes from j to i. None for two uses of one operation.
    pub pairs: Vec<Option<u32>>,
}

/// A use of a unit by a node of the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoolUse {
    pub node: u32,
    pub start: i64,
    pub duration: i64,
}

/// A difference constraint `t[b] - t[a] >= least`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    pub a: u32,
    pub b: u32,
    pub least: i64,
}

impl Pair {
    /// The least distance within wrap `k`.
    fn begin(&self, k: i64, span: Span) -> i64 {
        if !self.shared {
            return self.first + span.least(k);
        }
        let turns = span.least(k.div_euclid(2));
        if is_overlap(k) { turns - self.second + 1 } else { turns + self.first }
    }

    /// The greatest distance within wrap `k`.
    fn end(&self, k: i64, span: Span) -> i64 {
        if !self.shared {
            return span.most(k + 1) - self.second;
        }
        let turns = k.div_euclid(2);
        if is_overlap(k) { span.most(turns) + self.first - 1 } else { span.most(turns + 1) - self.second }
    }

    /// The first wrap that reaches as far as `x`.
    pub fn wrap_from(&self, x: i64, span: Span) -> i64 {
        let free = span.ceil(x + self.second) - 1;
        if !self.shared {
            return free;
        }
        if span.most(free) + self.first > x { 2 * free } else { 2 * free + 1 }
    }

    /// The last wrap that begins by `x`: the one `x` lies in, if any.
    pub fn wrap_to(&self, x: i64, span: Span) -> i64 {
        let free = span.floor(x - self.first);
        if !self.shared {
            return free;
        }
        if span.least(free + 1) - self.second < x { 2 * free + 2 } else { 2 * free + 1 }
    }

    /// The distances `x` that the network still allows.
    fn range(&self, net: &Network) -> (i64, i64) {
        let (a, b) = (self.a as usize, self.b as usize);
        (net.dist(a, b) + self.offset, self.offset - net.dist(b, a))
    }

    /// Rounds both ends of the range to distances at which the uses do not meet; false on contradiction.
    pub fn tighten(&self, net: &mut Network, span: Span) -> bool {
        let (a, b) = (self.a as usize, self.b as usize);
        let (low, high) = self.range(net);
        let first = self.begin(self.wrap_from(low, span), span);
        if low < first && !net.impose(a, b, first - self.offset) {
            return false;
        }
        let last = self.end(self.wrap_to(high, span), span);
        high <= last || net.impose(b, a, self.offset - last)
    }

    /// Number of wraps left beyond the first, and the room there is in all; `None` when one wrap is left.
    pub fn slack(&self, net: &Network, span: Span) -> Option<i64> {
        let (low, high) = self.range(net);
        (self.wrap_from(low, span) < self.wrap_to(high, span)).then_some(high - low)
    }

    /// The room there is in all.
    pub fn room(&self, net: &Network) -> i64 {
        -(net.dist(self.a as usize, self.b as usize) + net.dist(self.b as usize, self.a as usize))
    }

    /// The first and the last wrap that the network allows; the first is greater when there is none.
    pub fn wraps(&self, net: &Network, span: Span) -> (i64, i64) {
        let (low, high) = self.range(net);
        (self.wrap_from(low, span), self.wrap_to(high, span))
    }

    /// As [`wraps`](Self::wraps), without a division where the answer is that of before.
    pub fn wraps_near(&self, net: &Network, span: Span, mut near: (i64, i64)) -> (i64, i64) {
        let (low, high) = self.range(net);
        if low > self.end(near.0, span) || low <= self.end(near.0 - 1, span) {
            near.0 = self.wrap_from(low, span);
        }
        if high < self.begin(near.1, span) || high >= self.begin(near.1 + 1, span) {
            near.1 = self.wrap_to(high, span);
        }
        near
    }

    /// The distances from `a` to `b`, and from `b` to `a`, up to which these remain the first and the last wrap.
    pub fn kept(&self, (first, last): (i64, i64), span: Span) -> (i64, i64) {
        (self.end(first, span) - self.offset, self.offset - self.begin(last, span))
    }

    /// Whether the uses overlap when both operations start as early as the network allows. `near`: a wrap that is
    /// likely.
    pub fn meets_at_earliest(&self, net: &Network, span: Span, near: i64) -> bool {
        let x = self.at_earliest(net);
        let within = |k: i64| self.begin(k, span) <= x && x <= self.end(k, span);
        !within(near) && !within(self.wrap_to(x, span))
    }

    /// The distance when both operations start as early as the network allows.
    pub fn at_earliest(&self, net: &Network) -> i64 {
        net.dist(0, self.b as usize) - net.dist(0, self.a as usize) + self.offset
    }

    /// Wraps `k` or a later one.
    pub fn from(&self, k: i64, span: Span) -> Bound {
        Bound { a: self.a, b: self.b, least: self.begin(k, span) - self.offset }
    }

    /// Wraps `k` or an earlier one.
    pub fn before(&self, k: i64, span: Span) -> Bound {
        Bound { a: self.b, b: self.a, least: self.offset - self.end(k, span) }
    }

    /// The wrap with the most room.
    pub fn roomiest(&self, net: &Network, span: Span) -> i64 {
        let (low, high) = self.range(net);
        let (least, most) = (self.wrap_from(low, span), self.wrap_to(high, span));
        let room = |k: i64| high.min(self.end(k, span)) - low.max(self.begin(k, span));
        // Inner wraps have about equal room: the first of them stands for all.
        let inner = (least + 1).min(most);
        [least, inner, most].into_iter().max_by_key(|&k| (room(k), -k)).unwrap_or(least)
    }

    /// The wrap with the most room, as a constraint and its opposite.
    pub fn split(&self, net: &Network, span: Span) -> (Bound, Bound) {
        let best = self.roomiest(net, span);
        if best == self.wrap_from(self.range(net).0, span) {
            (self.before(best, span), self.from(best + 1, span))
        } else {
            (self.from(best, span), self.before(best - 1, span))
        }
    }

    /// Whether two fixed residues overlap on the unit.
    pub fn clash(&self, residue_a: i64, residue_b: i64, ii: i64) -> bool {
        let x = (residue_b - residue_a + self.offset).rem_euclid(ii);
        x < self.first || x > ii - self.second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_of_a_shared_pair_cover_every_distance_once() {
        for (first, second, ii) in [(3, 4, 7), (3, 4, 10), (1, 1, 2), (5, 2, 9)] {
            let pair = Pair { a: 1, b: 2, offset: 0, first, second, branch: true, shared: true };
            let span = Span::one(ii);
            for x in -30..=30 {
                let k = pair.wrap_to(x, span);
                assert_eq!(k, pair.wrap_from(x, span), "{x}");
                assert!(pair.begin(k, span) <= x && x <= pair.end(k, span), "{x}");
                assert_eq!(is_overlap(k), pair.clash(0, x.rem_euclid(ii), ii), "{x}");
            }
        }
    }
}
