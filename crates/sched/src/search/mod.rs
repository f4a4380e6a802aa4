//! Exact search: is there a schedule at this II, or at this II and length (S30-S36)?
//!
//! [`network`] keeps the least distances between operations closed under addition, [`contract`] builds it from a
//! loop, [`wrap`] orders uses of single units, [`residue`] fixes residues for everything else, and [`tree`]
//! branches on both. Every pruning step is implied by the constraints, so an exhausted tree is a proof.

mod contract;
mod network;
mod residue;
mod tree;
mod wrap;

pub(crate) use contract::{earliest_at_residues, path_lengths};

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
}

/// Elementary operations a search node may take on average.
const WORK_PER_NODE: u64 = 3_000;

impl Budget {
    pub fn new(nodes: u64) -> Self {
        Budget { nodes, granted: nodes, work: nodes.saturating_mul(WORK_PER_NODE), spent: 0 }
    }

    /// The same budget for another question, with what was spent so far.
    pub fn renewed(self, nodes: u64) -> Self {
        Budget { spent: self.spent, ..Budget::new(nodes) }
    }

    fn take(&mut self, work: u64) -> bool {
        self.spent += 1;
        if self.nodes == 0 || self.work < work {
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
    let Some(active) = contract::Active::at_ii(problem, ii) else { return Verdict::Undecided };
    let times = if active.nodes.is_empty() {
        Vec::new()
    } else {
        let Some(mut tree) = tree::Tree::new(problem, ii, &active, seed) else { return Verdict::Undecided };
        match tree.solve(budget, guard) {
            Verdict::Found(times) => times,
            other => return other,
        }
    };
    match contract::complete(problem, ii, &active, &times) {
        Some(times) => Verdict::Found(times),
        None => Verdict::Undecided,
    }
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
    let Some(mut tree) = tree::Tree::new(problem, ii, &active, seed) else { return Verdict::Undecided };
    match tree.solve(budget, guard) {
        Verdict::Found(times) => match contract::fill(problem, ii, &active, &times) {
            Some(times) => Verdict::Found(times),
            None => Verdict::Undecided,
        },
        other => other,
    }
}
