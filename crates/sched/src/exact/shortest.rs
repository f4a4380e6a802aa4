//! The shortest schedule at an II (S36), where wrap counts decide: one search that keeps what it learns from
//! question to question.

use super::complete::fill;
use super::contract::Active;
use super::kinds::{all_pairs, by_wraps_alone};
use super::learn::learner::Learner;
use super::span::Span;
use super::steps::StepBudget;
use super::verdict::Verdict;
use crate::model::guard::Guard;
use crate::model::paths::tails;
use crate::model::problem::Problem;

/// Asks for ever shorter schedules.
pub(crate) struct Shortest<'p> {
    problem: &'p Problem,
    ii: i64,
    active: Active,
    learner: Learner,
}

impl<'p> Shortest<'p> {
    /// `length` is that of the best schedule known. `None` when the loop is not of the kind.
    pub fn new(problem: &'p Problem, ii: i64, length: i64) -> Option<Self> {
        let active = Active::at_length(problem, ii, length).ok()?;
        if active.nodes.is_empty() || !by_wraps_alone(problem, Span::one(ii), &active) {
            return None;
        }
        let tail = tails(problem, ii)?;
        let pairs = all_pairs(problem, &active);
        let tails = active.nodes.iter().map(|&v| tail[v as usize]).collect();
        let learner = Learner::new(Span::one(ii), &active, pairs, tails);
        Some(Shortest { problem, ii, active, learner })
    }

    /// Prefers the wraps of these times.
    pub fn prefer(&mut self, times: &[i64]) {
        let known: Vec<i64> = self.active.nodes.iter().map(|&v| times[v as usize]).collect();
        self.learner.prefer(&known);
    }

    /// Is there a schedule of at most this length? Undecided after so many conflicts.
    pub fn ask(
        &mut self,
        length: i64,
        conflicts: u64,
        budget: &mut StepBudget,
        guard: &mut Guard,
    ) -> Verdict {
        match self.learner.solve(Some(length), conflicts, budget, guard) {
            Verdict::Found(times) => match fill(self.problem, self.ii, &self.active, &times) {
                Some(times) => Verdict::Found(times),
                None => Verdict::Undecided,
            },
            other => other,
        }
    }
}
