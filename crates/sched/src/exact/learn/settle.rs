//! What follows from the truths so far: by clauses, by the network, by units that are nearly full.

use super::learner::{CALM, Conflict, Learner, Reason};
use crate::exact::clauses::negated;

impl Learner {
    /// Lets everything follow that does; an error is what cannot hold together.
    pub(super) fn propagate(&mut self) -> Result<(), Conflict> {
        let mut saturated = !self.saturated.is_empty() && (self.conflicts >= CALM || !self.tails.is_empty());
        loop {
            while self.clauses_at < self.trail.len() {
                let lit = self.trail[self.clauses_at];
                self.clauses_at += 1;
                let level = self.levels.len() as u32;
                let (trail, reasons, level_of) = (&mut self.trail, &mut self.reasons, &mut self.level_of);
                let broken = self.clauses.propagate(lit, &mut self.values, |values, lit, clause| {
                    values.set(lit);
                    reasons[lit as usize / 2] = Reason::Clause(clause);
                    level_of[lit as usize / 2] = level;
                    trail.push(lit);
                });
                if let Some(clause) = broken {
                    return Err(self.clauses.lits(clause).iter().map(|&l| negated(l)).collect());
                }
            }
            if self.net_at < self.trail.len() {
                let lit = self.trail[self.net_at];
                self.net_at += 1;
                self.count(lit)?;
                self.impose(lit)?;
            } else if let Some(watcher) = self.net.next_awake() {
                for i in 0..self.watchers[watcher as usize].len() {
                    self.narrow(self.watchers[watcher as usize][i] as usize)?;
                }
                self.let_sleep(watcher);
            } else if saturated {
                // Once per decision: what follows from what this finds is seen at the next.
                saturated = false;
                self.narrow_all_saturated()?;
            } else {
                return Ok(());
            }
        }
    }
}
