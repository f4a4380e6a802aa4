//! What is decided next.

use super::super::clauses::{Lit, negated};
use super::Learner;

impl Learner {
    /// Of the undecided pairs that would meet at the earliest times the one with the least slack, per failure and square
    /// of the time held, and a truth about it. None: the earliest times are a schedule, but for units shared.
    pub(super) fn choose(&self, all: bool) -> Option<Lit> {
        let mut best: Option<(f64, u32)> = None;
        for &i in self.open.pairs() {
            let laps = &self.laps[i as usize];
            if laps.pair.shared || !all && !laps.pair.meets_at_earliest(&self.net, self.span, laps.left.0) {
                continue;
            }
            let slack = laps.pair.room(&self.net) as f64 * laps.ease;
            if best.is_none_or(|(least, j)| slack < least || slack == least && i < j) {
                best = Some((slack, i));
            }
        }
        let pair = best?.1 as usize;
        let (laps, truths) = (&self.laps[pair], &self.truths[pair]);
        let (least, most) = laps.left;
        let lap =
            truths.saved.map_or_else(|| laps.pair.roomiest(&self.net, self.span), |k| k.clamp(least, most));
        Some(if lap > least { truths.at_least(lap) } else { negated(truths.at_least(least + 1)) })
    }
}
