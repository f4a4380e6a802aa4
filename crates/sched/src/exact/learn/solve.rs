//! The search itself: decide, let follow, learn, start again.

use super::learner::Learner;
use crate::exact::clauses::Lit;
use crate::exact::steps::StepBudget;
use crate::exact::verdict::Verdict;
use crate::model::guard::Guard;

impl Learner {
    /// Times of the active operations, no longer than `length` where one is given; a proof that there are none;
    /// or neither, after so many conflicts.
    pub fn solve(
        &mut self,
        length: Option<i64>,
        conflicts: u64,
        budget: &mut StepBudget,
        guard: &mut Guard,
    ) -> Verdict {
        self.back_to(0);
        let goal = length.map(|l| self.no_longer(l));
        let (mut left, mut round) = (conflicts, 1);
        while !self.refuted {
            if goal.is_some_and(|g| self.values.of(g) < 0) {
                return Verdict::Refuted;
            }
            let run = (self.shortest_run * luby(round)).min(left);
            match self.run(goal, run, budget, guard) {
                Some(verdict) => return verdict,
                None if run == left => return Verdict::Undecided,
                None => left -= run,
            }
            round += 1;
            self.back_to(0);
            if self.clauses.len() > self.most_clauses {
                self.clauses.forget();
                self.most_clauses += self.most_clauses / 16;
            }
        }
        Verdict::Refuted
    }

    /// One run between restarts; `None` when its conflicts are used up.
    fn run(
        &mut self,
        goal: Option<Lit>,
        conflicts: u64,
        budget: &mut StepBudget,
        guard: &mut Guard,
    ) -> Option<Verdict> {
        let mut left = conflicts;
        loop {
            if let Err(conflict) = self.propagate() {
                if !self.learn(conflict) {
                    self.refuted = true;
                    return Some(Verdict::Refuted);
                }
                left = left.saturating_sub(1);
                self.conflicts += 1;
            } else {
                if left == 0 {
                    return None;
                }
                match goal {
                    Some(goal) if self.levels.is_empty() && self.values.of(goal) < 0 => {
                        return Some(Verdict::Refuted);
                    }
                    Some(goal) if self.levels.is_empty() && self.values.of(goal) == 0 => self.decide(goal),
                    _ => match self.choose(!self.tails.is_empty()) {
                        Some(lit) => self.decide(lit),
                        None => match self.overload() {
                            None => {
                                let times = (1..self.net.m).map(|v| self.net.dist(0, v)).collect();
                                return Some(Verdict::Found(times));
                            }
                            Some(clause) => {
                                left = left.saturating_sub(1);
                                if !self.forbid(clause) {
                                    self.refuted = true;
                                    return Some(Verdict::Refuted);
                                }
                            }
                        },
                    },
                }
            }
            let work = std::mem::take(&mut self.net.work)
                + std::mem::take(&mut self.clauses.work)
                + self.wraps.len() as u64 / 4;
            if !budget.take(work) || (budget.nodes.is_multiple_of(64) && guard.expired()) {
                return Some(Verdict::Undecided);
            }
        }
    }
}

/// The Luby sequence 1, 1, 2, 1, 1, 2, 4, ..., from 1.
fn luby(mut i: u64) -> u64 {
    loop {
        let length = (i + 1).next_power_of_two();
        if length == i + 1 {
            return length / 2;
        }
        i -= length / 2 - 1;
    }
}
