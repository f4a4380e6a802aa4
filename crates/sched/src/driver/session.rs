//! One run of the scheduler: what it is asked, and what it may still spend (S45).

use crate::bounds::joint::joint_bound;
use crate::bounds::least_ii::Bounds;
use crate::bounds::ratio::recurrence_bound;
use crate::bounds::self_fit::next_self_fit;
use crate::exact::ask::{at_ii, at_length, crowds_refute, refutes};
use crate::exact::span::Span;
use crate::exact::steps::StepBudget;
use crate::exact::verdict::Verdict;
use crate::model::answer::Algorithm;
use crate::model::digraph::Arc;
use crate::model::error::ScheduleError;
use crate::model::guard::Guard;
use crate::model::options::ScheduleOptions;
use crate::model::problem::Problem;

/// `exact` may spend so many times the search nodes of `auto` on a question.
const EXACT_FACTOR: u64 = 2_000;

/// Placements after which the heuristics leave it at the serial schedule, but for so many rounds at least.
const MOST_PLACEMENTS: u64 = 300_000;
const LEAST_ROUNDS: u64 = 30;

/// The part of a question's budget that an attempt at a better fallback takes.
const BRIEF: u64 = 8;

/// A question may spend such a part of what is left.
const QUESTIONS: u64 = 4;

/// Search nodes below which a question finds nothing.
const LEAST_NODES: u64 = 64;

/// Search nodes of a question that was not easy.
pub(super) const HARD: u64 = 300;

/// One run of the scheduler.
pub(super) struct Session<'a> {
    pub problem: &'a Problem,
    pub options: &'a ScheduleOptions,
    pub guard: &'a mut Guard,
    pub placements: u64,
    pub budget: StepBudget,
    /// Search nodes left for all further questions (S45).
    pub left: u64,
    /// What was refuted last took a search: the next question may be as hard.
    hard: bool,
    /// That of a smaller loop, where this one is copies of it.
    pub unfolded: Option<Schedule>,
}

/// An II and times at it.
pub(crate) type Schedule = (i64, Vec<i64>);

/// The IIs to scan: `first..=last`; those below `lower` are excluded by bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub lower: i64,
    pub first: i64,
    pub last: i64,
}

impl<'a> Session<'a> {
    pub fn new(problem: &'a Problem, options: &'a ScheduleOptions, guard: &'a mut Guard) -> Self {
        let exact = options.algorithm == Algorithm::Exact;
        let left =
            options.steps.saturating_mul(if exact { EXACT_FACTOR } else { 1 }).saturating_mul(QUESTIONS);
        Session {
            problem,
            options,
            guard,
            placements: 0,
            budget: StepBudget::new(0),
            left,
            hard: false,
            unfolded: None,
        }
    }

    /// The IIs that bounds and options leave.
    pub fn range(&self, bounds: &Bounds) -> Result<Range, ScheduleError> {
        let Some(recurrence) = recurrence_bound(&self.problem.dependences, false) else {
            return Err(ScheduleError::Infeasible { up_to: None });
        };
        let single = bounds.mii.max(recurrence.bound);
        let joint = if self.searches() { joint_bound(self.problem, single) } else { 1 };
        let lower = next_self_fit(self.problem, single.max(joint));
        let last = self.options.max_ii.unwrap_or(i64::MAX);
        let first = lower.max(self.options.min_ii);
        if first > last {
            return Err(ScheduleError::Infeasible { up_to: Some(last) });
        }
        Ok(Range { lower, first, last })
    }

    /// The schedule to begin with, where it suits this form of the loop and these IIs.
    pub fn given(&self, range: Range) -> Option<Schedule> {
        let start = self.options.start.as_ref().filter(|s| (range.first..=range.last).contains(&s.ii))?;
        let time = start.times();
        let holds = |a: &Arc| time[a.dst as usize] - time[a.src as usize] >= a.weight(start.ii);
        let holds = time.len() == self.problem.n && self.problem.dependences.arcs.iter().all(holds);
        holds.then_some((start.ii, time))
    }

    /// Tells the observer of a schedule.
    pub fn note_schedule(&mut self, ii: i64, time: &[i64]) {
        let found = self.problem.length(time);
        self.guard.note(|p| (p.ii, p.best_ii, p.best_length) = (ii, Some(ii), Some(found)));
    }

    /// Gives the next question its share of the search nodes.
    pub fn question(&mut self) {
        self.left = self.left.saturating_sub(self.budget.granted - self.budget.nodes);
        self.budget = self.budget.renewed(self.left / QUESTIONS);
    }

    /// Gives all of them to one search.
    pub fn last_question(&mut self) {
        self.question();
        self.budget = self.budget.renewed(self.left);
    }

    /// Whether loops of this size are searched at all.
    pub fn searches(&self) -> bool {
        matches!(self.options.algorithm, Algorithm::Auto | Algorithm::Exact)
            && (0..self.problem.n).filter(|&v| !self.problem.uses(v).is_empty()).count()
                <= self.options.contract_limit
    }

    /// Is there a schedule at this II? A refutation is only of use where it proves something.
    pub fn ask_at(&mut self, ii: i64, proves: bool) -> Verdict {
        self.question();
        if self.hard && proves && crowds_refute(self.problem, ii, &mut self.budget) {
            return Verdict::Refuted;
        }
        let verdict = at_ii(self.problem, ii, self.options.seed, &mut self.budget, self.guard);
        self.hard = self.budget.granted - self.budget.nodes > HARD;
        verdict
    }

    /// The same, with a part of the budget.
    pub fn ask_briefly(&mut self, ii: i64) -> Verdict {
        self.question();
        self.budget = self.budget.renewed(self.budget.nodes / BRIEF);
        at_ii(self.problem, ii, self.options.seed, &mut self.budget, self.guard)
    }

    /// Whether one proof of so many search nodes refutes all these IIs.
    pub fn refutes(&mut self, span: Span, most: u64) -> bool {
        self.question();
        self.budget = self.budget.renewed(self.budget.nodes.min(most));
        refutes(self.problem, span, &mut self.budget, self.guard)
    }

    /// A question about another form of the same loop: is there a schedule at this II, and of this length?
    pub fn ask(&mut self, problem: &Problem, ii: i64, length: Option<i64>) -> Verdict {
        if !self.searches() {
            return Verdict::Undecided;
        }
        self.question();
        let seed = self.options.seed;
        match length {
            Some(length) => at_length(problem, ii, length, seed, &mut self.budget, self.guard),
            None => at_ii(problem, ii, seed, &mut self.budget, self.guard),
        }
    }

    /// Heuristic and search at one II: times, a refutation, or (outer `None`) neither.
    pub fn decide(&mut self, problem: &Problem, ii: i64) -> Option<Option<Vec<i64>>> {
        if let Some(time) = self.heuristic(problem, ii) {
            return Some(Some(time));
        }
        match self.ask(problem, ii, None) {
            Verdict::Found(time) => Some(Some(time)),
            Verdict::Refuted => Some(None),
            Verdict::Undecided => None,
        }
    }

    /// Placements of one attempt of the heuristic.
    pub fn placements_of_one(&self) -> u64 {
        u64::from(self.options.ratio).saturating_mul(self.problem.n as u64)
    }

    /// Placements of a whole scan.
    pub fn placements_of_all(&self) -> u64 {
        self.placements_of_one().saturating_mul(LEAST_ROUNDS).max(MOST_PLACEMENTS)
    }

    pub fn expired(&mut self) -> bool {
        self.guard.expired()
    }

    /// Leaves most of the search nodes unspent.
    pub fn forgo(&mut self) {
        self.question();
        self.left /= BRIEF;
        self.budget = self.budget.renewed(0);
    }

    /// A question has hardly a search node left.
    pub fn spent_up(&self) -> bool {
        let left = self.left.saturating_sub(self.budget.granted - self.budget.nodes);
        left / QUESTIONS < LEAST_NODES
    }

    /// Nothing more can be found in the budget.
    pub fn exhausted(&self) -> bool {
        self.placements > MOST_PLACEMENTS && self.left < QUESTIONS
    }

    pub fn steps(&self) -> u64 {
        self.placements + self.budget.spent
    }
}
