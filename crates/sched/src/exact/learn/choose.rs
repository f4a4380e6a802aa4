//! What is decided next.

use super::learner::Learner;
use super::places::NEVER;
use crate::exact::clauses::{Lit, negated};
use crate::exact::wrap::{Pair, is_overlap};

/// Pairs that are ranked at once: a look at all of them costs as much as a decision.
const BATCH: usize = 8;

impl Learner {
    /// Of the undecided pairs that would meet at the earliest times one of the least slack, per failure and square of
    /// the time held, and a truth about it. None: the earliest times are a schedule, but for units shared.
    pub(super) fn choose(&mut self, all: bool) -> Option<Lit> {
        if let Some(lit) = self.places.choose(&self.values) {
            return Some(lit);
        }
        let pair = match self.next_ranked(all) {
            Some(pair) => pair,
            None => {
                self.rank(all);
                self.ranked.pop()?
            }
        } as usize;
        let (wraps, truths) = (&self.wraps[pair], &self.truths[pair]);
        let (least, most) = wraps.left;
        if wraps.pair.shared {
            return Some(self.part(pair));
        }
        let wrap =
            truths.saved.map_or_else(|| wraps.pair.roomiest(&self.net, self.span), |k| k.clamp(least, most));
        Some(if wrap > least { truths.at_least(wrap) } else { negated(truths.at_least(least + 1)) })
    }

    /// Whether a decision about this pair is wanted.
    fn wanted(&self, pair: u32, all: bool) -> bool {
        let wraps = &self.wraps[pair as usize];
        if wraps.left.0 == wraps.left.1 {
            return false;
        }
        if wraps.pair.shared {
            return self.to_part(pair) && is_overlap(self.wrap_at_earliest(&wraps.pair));
        }
        all || wraps.pair.meets_at_earliest(&self.net, self.span, wraps.left.0)
    }

    /// Whether what is chosen so far keeps the uses of a shared pair from overlapping.
    fn to_part(&self, pair: u32) -> bool {
        self.places.apart.get(pair as usize).is_some_and(|&lit| lit != NEVER && self.values.of(lit) > 0)
    }

    fn wrap_at_earliest(&self, pair: &Pair) -> i64 {
        pair.wrap_to(pair.at_earliest(&self.net), self.span)
    }

    /// The truth that parts an overlapping pair at the least delay of one of the two.
    fn part(&self, pair: usize) -> Lit {
        let (wraps, truths) = (&self.wraps[pair], &self.truths[pair]);
        let (x, k) = (wraps.pair.at_earliest(&self.net), self.wrap_at_earliest(&wraps.pair));
        let later = wraps.pair.from(k + 1, self.span).least - wraps.pair.offset - x;
        let earlier = x - (wraps.pair.offset - wraps.pair.before(k - 1, self.span).least);
        let (least, most) = wraps.left;
        if k >= most || (k > least && earlier < later) {
            negated(truths.at_least(k))
        } else {
            truths.at_least(k + 1)
        }
    }

    /// The next of those that were ranked and are still wanted.
    fn next_ranked(&mut self, all: bool) -> Option<u32> {
        while let Some(pair) = self.ranked.pop() {
            if self.wanted(pair, all) {
                return Some(pair);
            }
        }
        None
    }

    /// Ranks the best of the pairs.
    fn rank(&mut self, all: bool) {
        let mut best: Vec<(f64, u32)> = Vec::with_capacity(BATCH + 1);
        for &i in self.open.pairs() {
            let wraps = &self.wraps[i as usize];
            let slack = wraps.pair.room(&self.net) as f64 * wraps.ease;
            let before = |&(s, j): &(f64, u32)| s < slack || s == slack && j < i;
            // Most are told by that alone.
            if best.get(BATCH - 1).is_some_and(before) || !self.wanted(i, all) {
                continue;
            }
            let at = best.partition_point(before);
            best.insert(at, (slack, i));
            best.truncate(BATCH);
        }
        self.ranked.extend(best.iter().rev().map(|&(_, i)| i));
    }
}
