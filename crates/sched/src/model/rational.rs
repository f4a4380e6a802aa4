//! An answer for several iterations at once: a rational II (S101).

use crate::model::answer::Answer;
use serde::{Deserialize, Serialize};

/// The best way to unroll a loop that was found, and what is known of the others (S101).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnrolledAnswer {
    /// So many iterations are started in every [`Answer::ii`] cycles.
    pub factor: u64,
    /// Every factor looked at takes at least so many cycles for so many iterations, as `[cycles, iterations]`.
    pub lower_bound: [i64; 2],
    /// No factor up to the limit takes fewer cycles for an iteration.
    pub optimal: bool,
    /// The starts of all copies, by copy and operation of the source loop.
    pub copies: Vec<CopyTime>,
    /// What is known of each factor, from 1 on.
    pub factors: Vec<FactorBound>,
    /// The schedule of the loop unrolled; copy c of operation v is operation `c * n + v`.
    pub answer: Answer,
}

/// The start of one copy of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyTime {
    /// The operation of the source loop.
    pub node: usize,
    /// Which of the iterations taken together: copy c of the i-th is iteration `i * factor + c`.
    pub copy: u64,
    /// Start, cycles.
    pub time: i64,
}

/// What is known of one factor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactorBound {
    /// So many iterations at once.
    pub factor: u64,
    /// Every smaller II of the loop unrolled is refuted.
    pub lower_bound: i64,
    /// The II of the schedule found, where one was looked for and found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ii: Option<i64>,
    /// Why the loop cannot be unrolled so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}
