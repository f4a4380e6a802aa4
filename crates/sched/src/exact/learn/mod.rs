//! Conflict-driven search over wrap counts (S34): clause learning (Marques-Silva and Sakallah 1996) with the
//! closed network as its theory, as in solvers for difference logic (Cotton and Maler 2006).
//!
//! A pair's wrap k is ordered into truths `k >= j`. Each truth and its opposite is one difference constraint. The
//! network tells which wraps are impossible and, by the paths that made its distances, why; what led to a
//! contradiction is learnt as a clause, so that no branch fails twice for one reason.

mod choose;
mod conflict;
pub(crate) mod learner;
mod lengths;
mod open;
mod overload;
mod place;
mod places;
mod saturated;
mod settle;
mod solve;
#[cfg(test)]
mod tests;
mod theory;
mod unit;
