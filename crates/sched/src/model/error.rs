//! Why there is no schedule (S42, S57).

use crate::model::graph_error::{GraphError, GraphErrors};
use crate::model::record::ErrorRecord;

/// Why there is no schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The graph is refused; all reasons, at most 100 (S12).
    #[error("the loop graph is refused: {0}")]
    Graph(#[from] GraphErrors),
    /// It is proved that there is no schedule (S42).
    #[error("no schedule exists {}", .up_to.map_or("at any II".to_owned(), |ii| format!("up to II {ii}")))]
    Infeasible {
        /// The largest II refuted; `None`: every II is.
        up_to: Option<i64>,
    },
    /// Nothing was found within the limits, and nothing proved (S42).
    #[error("no schedule found within the limits; II is at least {lower_bound}")]
    GaveUp {
        /// Every smaller II is refuted.
        lower_bound: i64,
    },
    /// Even the least depths do not fit (S57).
    #[error(
        "space `{space}` needs {need} bytes at the least depths and has {have}; the largest value is {largest}"
    )]
    BudgetInfeasible {
        /// The memory space.
        space: String,
        /// Bytes needed at the least depths.
        need: u64,
        /// Bytes there are.
        have: u64,
        /// Id of the value with the most bytes.
        largest: usize,
    },
    /// A partition model that cannot carry the loop (S61-S63).
    #[error("no assignment to partitions: {0}")]
    Partitions(String),
    /// An answer handed in does not belong to the graph.
    #[error("the answer does not fit the graph: {0}")]
    Answer(String),
    /// An option is out of its range.
    #[error("option `{option}`: {message}")]
    BadOption {
        /// The option.
        option: &'static str,
        /// What is wrong.
        message: String,
    },
    /// A schedule failed its own check: a defect of this crate, reported instead of a wrong answer (S28).
    #[error("internal check failed: {0}")]
    Check(String),
}

impl ScheduleError {
    /// Whether it is a defect of this crate rather than an answer about the loop: not to be taken for "no schedule".
    pub fn is_internal(&self) -> bool {
        matches!(self, Self::Check(_))
    }

    /// The machine-readable form; for a refused graph that of its first reason, the others in `all`.
    pub fn record(&self) -> ErrorRecord {
        if let Self::Graph(errors) = self
            && let Some(first) = errors.first()
        {
            let all =
                if errors.len() > 1 { errors.iter().map(GraphError::record).collect() } else { Vec::new() };
            return ErrorRecord { all, ..first.record() };
        }
        let (code, rule, at, help) = match self {
            Self::Graph(_) => ("Graph", "S12", ".", "correct the loop graph"),
            Self::Infeasible { .. } => ("Infeasible", "S42", "edges", "widen the windows, or raise max_ii"),
            Self::GaveUp { .. } => ("GaveUp", "S42", ".", "raise steps, time_limit or max_ii"),
            Self::BudgetInfeasible { .. } => {
                ("BudgetInfeasible", "S57", "budgets", "use smaller tiles, or lower min_depth")
            }
            Self::Partitions(_) => {
                ("Partitions", "S61", "partitions", "add a partition of the kind that is missing")
            }
            Self::Answer(_) => ("Answer", "S72", ".", "pass the answer that was made for this graph"),
            Self::BadOption { option, .. } => ("BadOption", "S46", *option, "give a value in range"),
            Self::Check(_) => ("Check", "S71", ".", "report this loop: it is a defect of the scheduler"),
        };
        ErrorRecord {
            code: code.to_owned(),
            rule: rule.to_owned(),
            at: at.to_owned(),
            message: self.to_string(),
            help: help.to_owned(),
            all: Vec::new(),
        }
    }
}
