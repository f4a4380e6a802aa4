//! What is decided next.

use super::super::clauses::{Lit, negated};
use super::Learner;

impl Learner {
    /// Of the undecided pairs that would meet at the earliest times the one with the least slack, per failure and square
    /// of the time held, and a truth about it. None: the earliest times are a schedule, but for units shared.
    pub(super) fn choose(&self, all: bool) -> Option<Lit> {
        let mut best: Option<(i64, i128, usize)> = None;
        for &i in self.open.pairs() {
            let laps = &self.laps[i as usize];
            if laps.pair.shared || !all && !laps.pair.meets_at_earliest(&self.net, self.span, laps.near.0) {
                continue;
            }
            let slack = laps.pair.room(&self.net);
            let held = i128::from(laps.pair.first + laps.pair.second);
            let weight = (i128::from(laps.weight) * held).saturating_mul(held);
            let better = |(s, w, j): (i64, i128, usize)| {
                let (this, that) =
                    (i128::from(slack).saturating_mul(w), i128::from(s).saturating_mul(weight));
                (this, i as usize) < (that, j)
            };
            if best.is_none_or(better) {
                best = Some((slack, weight, i as usize));
            }
        }
        let laps = &self.laps[best?.2];
        let (least, most) = laps.pair.laps(&self.net, self.span);
        let truth = |j: i64| 2 * (laps.base + (j - laps.first - 1) as u32);
        let lap =
            laps.saved.map_or_else(|| laps.pair.roomiest(&self.net, self.span), |k| k.clamp(least, most));
        Some(if lap > least { truth(lap) } else { negated(truth(least + 1)) })
    }
}
