//! Broken rules.

use std::fmt;
use std::ops::Deref;

/// At most so many violations are reported.
pub const MOST_VIOLATIONS: usize = 1000;

/// All violations found, in fixed order; at most [`MOST_VIOLATIONS`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleViolations(Vec<ScheduleViolation>);

impl ScheduleViolations {
    pub(super) fn new(violations: Vec<ScheduleViolation>) -> Self {
        ScheduleViolations(violations)
    }
}

impl Deref for ScheduleViolations {
    type Target = [ScheduleViolation];

    fn deref(&self) -> &[ScheduleViolation] {
        &self.0
    }
}

impl IntoIterator for ScheduleViolations {
    type Item = ScheduleViolation;
    type IntoIter = std::vec::IntoIter<ScheduleViolation>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for ScheduleViolations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.0.iter().take(1).try_for_each(|v| write!(f, "{v}"));
        match self.0.len() {
            0 | 1 => first,
            n => first.and_then(|()| write!(f, " (and {} more)", n - 1)),
        }
    }
}

impl std::error::Error for ScheduleViolations {}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} ({}): {at}: {message}", .kind.rule())]
pub struct ScheduleViolation {
    /// Which check failed.
    pub kind: ScheduleViolationKind,
    /// The operation, edge, value or residue.
    pub at: String,
    /// What was found and what was expected, with both numbers.
    pub message: String,
}

/// The checks of chapter 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScheduleViolationKind {
    /// Each node and value once, `ii >= 1`, nothing missing or unknown (S72).
    Shape,
    /// An edge, or an edge that a value implies, does not hold (S73).
    Dependence,
    /// More units held than there are (S74).
    Resource,
    /// Least time 0; stage and cycle follow from time and II (S75).
    Normal,
    /// The body order (S76).
    Order,
    /// Stages, in_flight, length, bytes (S77).
    Counts,
    /// The bounds (S78).
    Bounds,
    /// Ring depths (S79).
    Depth,
    /// A budget (S80).
    Budget,
    /// Partitions (S81).
    Partition,
    /// The execution with ring slots (S82).
    Replay,
    /// Which of several resources a use takes (S103).
    Binding,
    /// What refutes an II (S102).
    Core,
    /// Loops inside loops, and what they hold (S104).
    Nest,
}

impl ScheduleViolationKind {
    /// Its rule in `docs/rules`.
    pub fn rule(self) -> &'static str {
        match self {
            Self::Shape => "S72",
            Self::Dependence => "S73",
            Self::Resource => "S74",
            Self::Normal => "S75",
            Self::Order => "S76",
            Self::Counts => "S77",
            Self::Bounds => "S78",
            Self::Depth => "S79",
            Self::Budget => "S80",
            Self::Partition => "S81",
            Self::Replay => "S82",
            Self::Binding => "S103",
            Self::Core => "S102",
            Self::Nest => "S104",
        }
    }
}

impl fmt::Display for ScheduleViolationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
