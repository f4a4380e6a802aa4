//! The shortest schedule at an II (S36), where wrap counts decide: one search that keeps what it learns from
//! question to question, and many small ones around a schedule that is known.

use super::complete::fill;
use super::contract::{Active, close_through_origin};
use super::kinds::{all_pairs, by_wraps_alone, long_uses, wraps_decide};
use super::learn::learner::Learner;
use super::network::Network;
use super::span::Span;
use super::steps::StepBudget;
use super::verdict::Verdict;
use super::wrap::{Bound, Pairs};
use crate::model::guard::Guard;
use crate::model::paths::tails;
use crate::model::problem::Problem;

/// Asks for ever shorter schedules.
pub(crate) struct Shortest<'p> {
    problem: &'p Problem,
    ii: i64,
    active: Active,
    pairs: Pairs,
    /// Longest path from each active operation to the end.
    tails: Vec<i64>,
    /// The search over all of them; none where uses are short.
    whole: Option<Learner>,
    /// Residues are no better way.
    alone: bool,
}

impl<'p> Shortest<'p> {
    /// `length` is that of the best schedule known. `None` when the loop is not of the kind.
    pub fn new(problem: &'p Problem, ii: i64, length: i64) -> Option<Self> {
        let span = Span::one(ii);
        let active = Active::at_length(problem, ii, length).ok()?;
        if active.nodes.is_empty() || !wraps_decide(problem, span, &active) {
            return None;
        }
        let tail = tails(problem, ii)?;
        let pairs = all_pairs(problem, &active);
        let tails: Vec<i64> = active.nodes.iter().map(|&v| tail[v as usize]).collect();
        let whole = long_uses(problem, span, &active)
            .then(|| Learner::new(span, active.network(), &pairs, tails.clone()));
        let alone = by_wraps_alone(problem, span, &active);
        Some(Shortest { problem, ii, active, pairs, tails, whole, alone })
    }

    /// Whether the search over all operations is worth asking.
    pub fn asks_all(&self) -> bool {
        self.whole.is_some()
    }

    /// Whether it is the better way, and residues need not be asked.
    pub fn alone(&self) -> bool {
        self.alone
    }

    /// The operations that are searched.
    pub fn nodes(&self) -> &[u32] {
        &self.active.nodes
    }

    /// The time from the start of each operation searched to the end of the schedule.
    pub fn tails(&self) -> &[i64] {
        &self.tails
    }

    /// Prefers the wraps of these times.
    pub fn prefer(&mut self, times: &[i64]) {
        let known = self.known(times);
        if let Some(whole) = &mut self.whole {
            whole.prefer(&known);
        }
    }

    /// Prefers the wraps that these times have at another II.
    pub fn prefer_at(&mut self, ii: i64, times: &[i64]) {
        let known = self.known(times);
        if let Some(whole) = &mut self.whole {
            whole.prefer_at(Span::one(ii), &known);
        }
    }

    fn known(&self, times: &[i64]) -> Vec<i64> {
        self.active.nodes.iter().map(|&v| times[v as usize]).collect()
    }

    /// Is there a schedule of at most this length? Undecided after so many conflicts.
    pub fn ask(
        &mut self,
        length: i64,
        conflicts: u64,
        budget: &mut StepBudget,
        guard: &mut Guard,
    ) -> Verdict {
        match &mut self.whole {
            Some(whole) => {
                let verdict = whole.solve(Some(length), conflicts, budget, guard);
                self.filled(verdict)
            }
            None => Verdict::Undecided,
        }
    }

    /// The same where the operations that are not free keep the order on units that they have in these times. A
    /// refutation says that of this order alone.
    pub fn ask_around(
        &self,
        (times, free): (&[i64], &[bool]),
        length: i64,
        conflicts: u64,
        budget: &mut StepBudget,
        guard: &mut Guard,
    ) -> Verdict {
        let m = self.active.nodes.len() + 1;
        let Some(dist) = self.within(length) else { return Verdict::Refuted };
        let mut net = Network::new(m, dist);
        let known = self.known(times);
        let keeps = self.order(&known, free);
        let holds = keeps.iter().all(|b| net.impose(b.a as usize, b.b as usize, b.least));
        if !budget.take(std::mem::take(&mut net.work)) {
            return Verdict::Undecided;
        }
        if !holds {
            return Verdict::Refuted;
        }
        let mut learner = Learner::new(Span::one(self.ii), net, &self.pairs, self.tails.clone());
        learner.prefer(&known);
        let verdict = learner.solve(None, conflicts, budget, guard);
        self.filled(verdict)
    }

    /// The distances of schedules of at most this length; none where there are no such schedules.
    fn within(&self, length: i64) -> Option<Vec<i64>> {
        let (m, mut dist) = (self.active.nodes.len() + 1, self.active.dist.clone());
        for (x, tail) in (1..).zip(&self.tails) {
            dist[x * m] = dist[x * m].max(tail - length);
        }
        close_through_origin(&mut dist, m);
        (1..m).all(|x| dist[x * m] + dist[x] <= 0).then_some(dist)
    }

    /// What keeps the order of the pairs that have no free end, the tightest first: it implies most of the others.
    fn order(&self, known: &[i64], free: &[bool]) -> Vec<Bound> {
        let (at, span) = (|node: u32| known[node as usize - 1], Span::one(self.ii));
        let fixed = |node: u32| !free[node as usize - 1];
        let mut bounds: Vec<(i64, Bound)> = Vec::new();
        for p in self.pairs.list.iter().filter(|p| fixed(p.a) && fixed(p.b)) {
            let wrap = p.wrap_to(at(p.b) - at(p.a) + p.offset, span);
            for bound in [p.from(wrap, span), p.before(wrap, span)] {
                bounds.push((at(bound.b) - at(bound.a) - bound.least, bound));
            }
        }
        bounds.sort_unstable_by_key(|&(slack, b)| (slack, b.a, b.b));
        bounds.into_iter().map(|(_, bound)| bound).collect()
    }

    fn filled(&self, verdict: Verdict) -> Verdict {
        match verdict {
            Verdict::Found(times) => match fill(self.problem, self.ii, &self.active, &times) {
                Some(times) => Verdict::Found(times),
                None => Verdict::Undecided,
            },
            other => other,
        }
    }
}
