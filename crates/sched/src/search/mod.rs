//! Exact search: is there a schedule at this II, or at this II and length (S30-S36)?
//!
//! [`network`] keeps the least distances between operations closed under addition, [`contract`] builds it from a
//! loop, [`wrap`] orders uses of single units, [`gaps`] refutes what their gaps cannot take, [`learn`] learns from what
//! fails, [`residue`] fixes residues for everything else, and [`tree`] branches on both. Every pruning step is implied
//! by the constraints, so an exhausted tree is a proof.

mod clauses;
mod contract;
mod gaps;
mod kinds;
mod learn;
mod network;
mod residue;
mod shortest;
mod span;
mod tree;
mod wrap;

pub(crate) use contract::{earliest_at_residues, path_lengths};
pub(crate) use shortest::Shortest;
pub(crate) use span::Span;

use crate::guard::Guard;
use crate::problem::Problem;

/// What a search may spend, and has spent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Search nodes left.
    pub nodes: u64,
    /// Search nodes there were.
    pub granted: u64,
    /// Elementary operations: keeps the cost of a node in step with the size of the loop.
    pub work: u64,
    /// Search nodes spent, over all questions.
    pub spent: u64,
    /// Elementary operations a search node may take on average.
    work_per_node: u64,
}

/// Elementary operations a search node may take on average, unless told otherwise.
const WORK_PER_NODE: u64 = 3_000;

/// Conflicts of a question about several IIs: what takes more is asked of fewer.
const SPAN_CONFLICTS: u64 = 500;

impl Budget {
    pub fn new(nodes: u64) -> Self {
        Budget::of(nodes, WORK_PER_NODE)
    }

    fn of(nodes: u64, work_per_node: u64) -> Self {
        let work = nodes.saturating_mul(work_per_node);
        Budget { nodes, granted: nodes, work, spent: 0, work_per_node }
    }

    /// From now on, a search node may take only so much work on average.
    pub fn limit_work(&mut self, per_node: u64) {
        self.work_per_node = self.work_per_node.min(per_node);
        self.work = self.work.min(self.nodes.saturating_mul(per_node));
    }

    /// The same budget for another question, with what was spent so far.
    pub fn renewed(self, nodes: u64) -> Self {
        Budget { spent: self.spent, ..Budget::of(nodes, self.work_per_node) }
    }

    fn take(&mut self, work: u64) -> bool {
        self.spent += 1;
        if self.nodes == 0 || self.work < work {
            self.nodes = 0;
            return false;
        }
        self.nodes -= 1;
        self.work -= work;
        true
    }
}

/// The answer to a question of feasibility.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Start times of all operations.
    Found(Vec<i64>),
    /// Proved: there is none.
    Refuted,
    /// The budget ran out.
    Undecided,
}

/// Is there a schedule at this II, of any length (S31)?
pub(crate) fn at_ii(
    problem: &Problem,
    ii: i64,
    seed: u64,
    budget: &mut Budget,
    guard: &mut Guard,
) -> Verdict {
    let Some(active) = contract::Active::at_span(problem, Span::one(ii)) else { return Verdict::Undecided };
    let times = if active.nodes.is_empty() {
        Vec::new()
    } else {
        match decide(problem, ii, &active, seed, budget, guard) {
            Verdict::Found(times) => times,
            other => return other,
        }
    };
    match contract::complete(problem, ii, &active, &times) {
        Some(times) => Verdict::Found(times),
        None => Verdict::Undecided,
    }
}

/// Times of the active operations, by the method that suits their resources (S35).
fn decide(
    problem: &Problem,
    ii: i64,
    active: &contract::Active,
    seed: u64,
    budget: &mut Budget,
    guard: &mut Guard,
) -> Verdict {
    if kinds::by_laps_alone(problem, Span::one(ii), active) {
        return by_laps(problem, Span::one(ii), active, u64::MAX, budget, guard);
    }
    match tree::Tree::new(problem, ii, active, seed) {
        Some(mut tree) => tree.solve(budget, guard),
        None => Verdict::Undecided,
    }
}

/// The same where laps alone decide, for all IIs of a span and up to so many conflicts. For several IIs only a
/// refutation says anything.
fn by_laps(
    problem: &Problem,
    span: Span,
    active: &contract::Active,
    conflicts: u64,
    budget: &mut Budget,
    guard: &mut Guard,
) -> Verdict {
    let mut learner = learn::Learner::new(span, active, kinds::all_pairs(problem, active), Vec::new());
    // What follows without a decision costs less than the look at the gaps.
    let at_once = learner.solve(None, 0, budget, guard);
    if at_once != Verdict::Undecided {
        at_once
    } else if gaps::refuted(problem, span, active) {
        Verdict::Refuted
    } else {
        learner.solve(None, conflicts, budget, guard)
    }
}

/// Proves that there is no schedule at any of several IIs, where one proof does for all. False says nothing.
pub(crate) fn refutes(problem: &Problem, span: Span, budget: &mut Budget, guard: &mut Guard) -> bool {
    let Some(active) = contract::Active::at_span(problem, span) else { return false };
    !active.nodes.is_empty()
        && kinds::by_laps_alone(problem, span, &active)
        && by_laps(problem, span, &active, SPAN_CONFLICTS, budget, guard) == Verdict::Refuted
}

/// Is there a schedule at this II that is no longer than `length` (S36)?
pub(crate) fn at_length(
    problem: &Problem,
    ii: i64,
    length: i64,
    seed: u64,
    budget: &mut Budget,
    guard: &mut Guard,
) -> Verdict {
    let active = match contract::Active::at_length(problem, ii, length) {
        Ok(active) => active,
        Err(verdict) => return verdict,
    };
    if active.nodes.is_empty() {
        return crate::paths::heads(problem, ii).map_or(Verdict::Refuted, Verdict::Found);
    }
    match decide(problem, ii, &active, seed, budget, guard) {
        Verdict::Found(times) => match contract::fill(problem, ii, &active, &times) {
            Some(times) => Verdict::Found(times),
            None => Verdict::Undecided,
        },
        other => other,
    }
}
