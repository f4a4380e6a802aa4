//! Choices beside wraps: which of several places each group of operations takes, and what follows from that.

use super::clauses::Lit;
use super::wrap::Bound;

/// A bound on a sum: of the weights of the terms that are true, at most so much.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sum {
    pub terms: Vec<(Lit, i64)>,
    pub most: i64,
}

/// Variables, and what is said about them. Literal `2*v` is variable v, `2*v + 1` its opposite.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choices {
    pub variables: usize,
    /// Of each group one is to be true; they are decided, in this order where nothing else tells.
    pub groups: Vec<Vec<Lit>>,
    pub clauses: Vec<Vec<Lit>>,
    pub sums: Vec<Sum>,
    /// Bounds between nodes of the network that hold where the literal does.
    pub bounds: Vec<(Lit, Bound)>,
    /// Shared pairs, by their places in the list, whose uses do not overlap where the literal holds.
    pub apart: Vec<(u32, Lit)>,
}

impl Choices {
    /// A new variable, as the literal that it is true.
    pub fn variable(&mut self) -> Lit {
        self.variables += 1;
        2 * (self.variables as Lit - 1)
    }
}
