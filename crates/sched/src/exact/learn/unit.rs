//! A nearly full unit: its uses, and the least wraps between them.

use crate::exact::span::Span;
use crate::exact::wrap::Pairs;

/// A unit is saturated when so many in a thousand of its cycles are held.
const SATURATED: i64 = 960;
const LEAST_USES: usize = 4;
const MOST_USES: usize = 48;
/// IIs beyond this are left to the pairs.
const MOST_II: i64 = 1 << 28;

pub(super) const NO_PAIR: u32 = u32::MAX;
/// The least wrap of two uses by one operation: they are never counted.
const NEVER: i32 = -(1 << 24);

/// The uses of a saturated unit.
pub(super) struct Saturated {
    /// The time after the start of each use in which no other use of the unit can start.
    pub(super) held: Vec<i32>,
    pub(super) longest: i64,
    /// The pair of uses i and j at `i * n + j`, and whether it is the other way round.
    pub(super) pairs: Vec<(u32, bool)>,
    /// Scratch: the least wrap from i to j at `i * n + j`, and its mirror image.
    pub(super) from: Vec<i32>,
    pub(super) to: Vec<i32>,
    /// Uses from which, and to which, a least wrap has changed since the last look.
    pub(super) from_news: Vec<bool>,
    pub(super) to_news: Vec<bool>,
    pub(super) in_range: bool,
}

impl Saturated {
    /// The saturated units.
    pub fn all(pairs: &Pairs, span: Span) -> Vec<Saturated> {
        let mut units: Vec<(u32, usize)> = Vec::new();
        for m in &pairs.meetings {
            let most = m.places.0.max(m.places.1) as usize + 1;
            match units.iter_mut().find(|(unit, _)| *unit == m.unit) {
                Some((_, uses)) => *uses = most.max(*uses),
                None => units.push((m.unit, most)),
            }
        }
        let wanted =
            units.into_iter().filter(|(_, n)| (LEAST_USES..=MOST_USES).contains(n) && span.high < MOST_II);
        wanted.filter_map(|(unit, n)| Saturated::of(pairs, unit, n, span)).collect()
    }

    fn of(pairs: &Pairs, unit: u32, n: usize, span: Span) -> Option<Saturated> {
        let mut saturated = Saturated {
            held: vec![i32::MAX; n],
            longest: 0,
            pairs: vec![(NO_PAIR, false); n * n],
            from: vec![NEVER; n * n],
            to: vec![NEVER; n * n],
            from_news: vec![true; n],
            to_news: vec![true; n],
            in_range: true,
        };
        for m in pairs.meetings.iter().filter(|m| m.unit == unit) {
            let (i, j) = (m.places.0 as usize, m.places.1 as usize);
            (saturated.pairs[i * n + j], saturated.pairs[j * n + i]) = ((m.pair, false), (m.pair, true));
            // Both may also meet on other units, for longer.
            let pair = pairs.list[m.pair as usize];
            saturated.held[i] = saturated.held[i].min(pair.first as i32);
            saturated.held[j] = saturated.held[j].min(pair.second as i32);
        }
        saturated.longest = saturated.held.iter().map(|&d| i64::from(d)).max().unwrap_or(0);
        let held: i64 = saturated.held.iter().map(|&d| i64::from(d)).sum();
        (span.low * SATURATED..=span.high * 1_000).contains(&(held * 1_000)).then_some(saturated)
    }

    pub fn len(&self) -> usize {
        self.held.len()
    }

    pub fn set(&mut self, i: usize, j: usize, wrap: i32) {
        let n = self.len();
        if self.from[i * n + j] != wrap {
            (self.from[i * n + j], self.to[j * n + i]) = (wrap, wrap);
            (self.from_news[i], self.to_news[j]) = (true, true);
        }
    }

    /// The time held by uses between i and j, given the least wrap `k` between them.
    pub fn between(&self, i: usize, j: usize, k: i32) -> i32 {
        let n = self.len();
        let (from, to) = (&self.from[i * n..][..n], &self.to[j * n..][..n]);
        let sums = from.iter().zip(to).zip(&self.held);
        // A mask, so that it takes several at a time.
        sums.map(|((f, t), d)| d & -i32::from(f + t >= k)).sum()
    }

    /// Whether a use longer than `room` may still be between i and j, and may be outside.
    pub fn some_undecided(&self, i: usize, j: usize, k: i32, room: i64) -> bool {
        let room = i32::try_from(room).unwrap_or(i32::MIN);
        let n = self.len();
        let (from_i, to_j) = (&self.from[i * n..][..n], &self.to[j * n..][..n]);
        let (to_i, from_j) = (&self.to[i * n..][..n], &self.from[j * n..][..n]);
        let mut any = 0;
        // No early exit, so that it takes several at a time.
        for c in 0..n {
            let outside = from_i[c] + to_j[c] == k - 1;
            let sure = to_i[c] + from_j[c] > -2 - k;
            any |= i32::from(outside & !sure & (self.held[c] > room));
        }
        any != 0
    }
}
