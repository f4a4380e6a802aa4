//! Strategies of `proptest`.

use super::choices::Choices;
use super::packings::packing;
use super::problems::problem;
use super::shrink::{Shrink, ShrinkTree};
use proptest::prelude::Rng;
use proptest::strategy::{NewTree, Strategy};
use proptest::test_runner::TestRunner;
use warploom_bufassign::Problem;
use warploom_bufassign::pack::PackProblem;

/// Inputs made of random choices; what fails shrinks by [`ShrinkTree`].
#[derive(Clone, Copy, Debug)]
pub struct Generated<T>(fn(&mut Choices<'_>) -> T);

impl<T: Shrink + std::fmt::Debug> Strategy for Generated<T> {
    type Tree = ShrinkTree<T>;
    type Value = T;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let seed = runner.rng().next_u64();
        Ok(ShrinkTree::new((self.0)(&mut Choices::seeded(seed))))
    }
}

/// Problems for `assign`; see [`problem`]. Most, not all, are valid.
pub fn problems() -> Generated<Problem> {
    Generated(problem)
}

/// Packing problems; see [`packing`].
pub fn packings() -> Generated<PackProblem> {
    Generated(packing)
}
