//! What a search answers.

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
