//! What is decided next.

use super::super::clauses::{Lit, negated};
use super::Learner;

/// Pairs that are ranked at once: a look at all of them costs as much as a decision.
const BATCH: usize = 8;

impl Learner {
    /// Of the undecided pairs that would meet at the earliest times one of the least slack, per failure and square of
    /// the time held, and a truth about it. None: the earliest times are a schedule, but for units shared.
    pub(super) fn choose(&mut self, all: bool) -> Option<Lit> {
        let pair = match self.next_ranked(all) {
            Some(pair) => pair,
            None => {
                self.rank(all);
                self.ranked.pop()?
            }
        } as usize;
        let (laps, truths) = (&self.laps[pair], &self.truths[pair]);
        let (least, most) = laps.left;
        let lap =
            truths.saved.map_or_else(|| laps.pair.roomiest(&self.net, self.span), |k| k.clamp(least, most));
        Some(if lap > least { truths.at_least(lap) } else { negated(truths.at_least(least + 1)) })
    }

    /// Whether a decision about this pair is wanted.
    fn wanted(&self, pair: u32, all: bool) -> bool {
        let laps = &self.laps[pair as usize];
        laps.left.0 < laps.left.1
            && !laps.pair.shared
            && (all || laps.pair.meets_at_earliest(&self.net, self.span, laps.left.0))
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
            if !self.wanted(i, all) {
                continue;
            }
            let laps = &self.laps[i as usize];
            let slack = laps.pair.room(&self.net) as f64 * laps.ease;
            let before = |&(s, j): &(f64, u32)| s < slack || s == slack && j < i;
            let at = best.partition_point(before);
            if at < BATCH {
                best.insert(at, (slack, i));
                best.truncate(BATCH);
            }
        }
        self.ranked.extend(best.iter().rev().map(|&(_, i)| i));
    }
}
