//! Questions to the search: is there a schedule at this II, or at this II and length?

use super::complete::{complete, fill};
use super::contract::{Active, magnitudes_fit};
use super::crowd::crowded;
use super::intervals;
use super::kinds::{all_pairs, by_wraps_alone};
use super::learn::learner::Learner;
use super::span::Span;
use super::steps::StepBudget;
use super::tree::Tree;
use super::verdict::Verdict;
use crate::model::guard::Guard;
use crate::model::paths::heads;
use crate::model::problem::Problem;

/// Conflicts of a question about several IIs: what takes more is asked of fewer.
const SPAN_CONFLICTS: u64 = 500;

/// Failures of a search after which a question is not easy.
const EASY: u64 = 300;

/// Is there a schedule at this II, of any length (S31)?
pub(crate) fn at_ii(
    problem: &Problem,
    ii: i64,
    seed: u64,
    budget: &mut StepBudget,
    guard: &mut Guard,
) -> Verdict {
    let Some(mut active) = Active::at_span(problem, Span::one(ii)) else { return Verdict::Undecided };
    let times = if active.nodes.is_empty() {
        Vec::new()
    } else {
        match by_crowds(problem, ii, &mut active, seed, budget, guard) {
            Verdict::Found(times) => times,
            other => return other,
        }
    };
    match complete(problem, ii, &active, &times) {
        Some(times) => Verdict::Found(times),
        None => Verdict::Undecided,
    }
}

/// Whether too many uses between some operations refute the II, without any search. False says nothing.
pub(crate) fn crowds_refute(problem: &Problem, ii: i64, budget: &mut StepBudget) -> bool {
    magnitudes_fit(problem, ii, 0) && matches!(crowded(problem, ii, budget), Some(Err(())))
}

/// Times of the active operations: what is not easy is asked again with longer paths (S35).
fn by_crowds(
    problem: &Problem,
    ii: i64,
    active: &mut Active,
    seed: u64,
    budget: &mut StepBudget,
    guard: &mut Guard,
) -> Verdict {
    let first = decide(problem, ii, active, seed, EASY, budget, guard);
    if first != Verdict::Undecided || budget.nodes == 0 || guard.expired() {
        return first;
    }
    match crowded(problem, ii, budget) {
        Some(Ok(paths)) if active.lengthen(problem, &paths) => {
            decide(problem, ii, active, seed, u64::MAX, budget, guard)
        }
        Some(_) => Verdict::Refuted,
        None => Verdict::Undecided,
    }
}

/// Times of the active operations, by the method that suits their resources, within so many failures (S35).
fn decide(
    problem: &Problem,
    ii: i64,
    active: &Active,
    seed: u64,
    failures: u64,
    budget: &mut StepBudget,
    guard: &mut Guard,
) -> Verdict {
    if by_wraps_alone(problem, Span::one(ii), active) {
        return by_wraps(problem, Span::one(ii), active, failures, budget, guard);
    }
    match Tree::new(problem, ii, active, seed) {
        Some(mut tree) => tree.solve(failures, budget, guard),
        None => Verdict::Undecided,
    }
}

/// The same where wraps alone decide, for all IIs of a span and up to so many conflicts. For several IIs only a
/// refutation says anything.
fn by_wraps(
    problem: &Problem,
    span: Span,
    active: &Active,
    conflicts: u64,
    budget: &mut StepBudget,
    guard: &mut Guard,
) -> Verdict {
    let mut learner = Learner::new(span, active.network(), &all_pairs(problem, active), Vec::new());
    // What follows without a decision costs less than the look at the intervals.
    let at_once = learner.solve(None, 0, budget, guard);
    if at_once != Verdict::Undecided {
        at_once
    } else if intervals::refuted(problem, span, active) {
        Verdict::Refuted
    } else {
        learner.solve(None, conflicts, budget, guard)
    }
}

/// Proves that there is no schedule at any of several IIs, where one proof does for all. False says nothing.
pub(crate) fn refutes(problem: &Problem, span: Span, budget: &mut StepBudget, guard: &mut Guard) -> bool {
    let Some(active) = Active::at_span(problem, span) else { return false };
    !active.nodes.is_empty()
        && by_wraps_alone(problem, span, &active)
        && by_wraps(problem, span, &active, SPAN_CONFLICTS, budget, guard) == Verdict::Refuted
}

/// Is there a schedule at this II that is no longer than `length` (S36)?
pub(crate) fn at_length(
    problem: &Problem,
    ii: i64,
    length: i64,
    seed: u64,
    budget: &mut StepBudget,
    guard: &mut Guard,
) -> Verdict {
    let active = match Active::at_length(problem, ii, length) {
        Ok(active) => active,
        Err(verdict) => return verdict,
    };
    if active.nodes.is_empty() {
        return heads(problem, ii).map_or(Verdict::Refuted, Verdict::Found);
    }
    match decide(problem, ii, &active, seed, u64::MAX, budget, guard) {
        Verdict::Found(times) => match fill(problem, ii, &active, &times) {
            Some(times) => Verdict::Found(times),
            None => Verdict::Undecided,
        },
        other => other,
    }
}
