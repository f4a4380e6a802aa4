//! Bounds on the length, as truths of which the shorter implies the longer.

use super::learner::{Learner, NO_OWNER, Reason};
use crate::exact::clauses::{Lit, negated};

impl Learner {
    /// The truth that the schedule is no longer than `length`.
    pub(super) fn no_longer(&mut self, length: i64) -> Lit {
        if let Some(&(_, lit)) = self.lengths.iter().find(|(l, _)| *l == length) {
            return lit;
        }
        let lit = 2 * self.owner.len() as u32;
        self.name_variables(1, NO_OWNER, (0, 0));
        self.grow();
        // The shorter implies the longer: what is learnt about one serves the other.
        let longer = self.lengths.iter().filter(|(l, _)| *l > length).min();
        let shorter = self.lengths.iter().filter(|(l, _)| *l < length).max();
        let implied = [longer.map(|&(_, other)| (lit, other)), shorter.map(|&(_, other)| (other, lit))];
        for (this, that) in implied.into_iter().flatten() {
            match (self.values.of(this), self.values.of(that)) {
                (0, 0) => _ = self.clauses.add(vec![negated(this), that], 1),
                (0, -1) => self.assign(negated(this), Reason::Decision),
                (1, 0) => self.assign(that, Reason::Decision),
                _ => {}
            }
        }
        self.lengths.push((length, lit));
        lit
    }
}
