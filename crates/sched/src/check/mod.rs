//! Independent checkers (S71-S82).
//!
//! They take the graph and the answer, are plain integer loops over the definitions, and share no code, cached
//! bound or table with the schedulers. They collect all violations in fixed order (at most [`MOST_VIOLATIONS`]),
//! each naming the operation, edge or residue, the two numbers compared and the rule.
//!
//! What is *not* checked: that a claimed `lower_bound` above the recomputed MII was really proved, that a claimed
//! `length_optimal` holds, and anything about how fast the loop runs on a chip.

mod agents;
mod bounds;
mod budget;
mod depths;
mod replay;
mod schedule;
mod verdict;

pub use agents::agents;
pub use budget::budget;
pub use depths::depths;
pub use replay::replay;
pub use schedule::{schedule, times};
pub use verdict::{Verdict, verdict};

use crate::answer::Answer;
use crate::graph::LoopGraph;
use std::fmt;

/// At most so many violations are reported.
pub const MOST_VIOLATIONS: usize = 1000;

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} ({}): {at}: {message}", .kind.rule())]
pub struct Violation {
    /// Which check failed.
    pub kind: ViolationKind,
    /// The operation, edge, value or residue.
    pub at: String,
    /// What was found and what was expected, with both numbers.
    pub message: String,
}

/// The checks of chapter 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ViolationKind {
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
    /// Agents (S81).
    Agent,
    /// The execution with ring slots (S82).
    Replay,
}

impl ViolationKind {
    /// The rule of the specification.
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
            Self::Agent => "S81",
            Self::Replay => "S82",
        }
    }
}

impl fmt::Display for ViolationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Every check that applies to a plain answer: S72-S80 and S82.
///
/// # Errors
/// All violations found. When the shape is broken (S72), nothing else is looked at.
pub fn all(graph: &LoopGraph, answer: &Answer) -> Result<(), Vec<Violation>> {
    let mut report = Report::default();
    if schedule::check_shape(graph, answer, &mut report) {
        schedule::check_times(graph, answer, &mut report);
        schedule::check_form(graph, answer, &mut report);
        bounds::check(graph, answer, &mut report);
        depths::check(graph, answer, &mut report);
        budget::check(graph, answer, &mut report);
        replay::check(graph, answer, &mut report);
    }
    report.verdict()
}

/// Violations as they are found.
#[derive(Default)]
pub(crate) struct Report(Vec<Violation>);

impl Report {
    fn add(&mut self, kind: ViolationKind, at: impl Into<String>, message: impl Into<String>) {
        if self.0.len() < MOST_VIOLATIONS {
            self.0.push(Violation { kind, at: at.into(), message: message.into() });
        }
    }

    /// Records a violation when the two numbers differ.
    fn same(&mut self, kind: ViolationKind, at: &str, what: &str, found: i128, expected: i128) {
        if found != expected {
            self.add(kind, at, format!("{what} is {found}, recomputed {expected}"));
        }
    }

    fn verdict(self) -> Result<(), Vec<Violation>> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0) }
    }
}

/// Start times by node id; the shape must have been checked.
fn times_by_id(answer: &Answer) -> Vec<i128> {
    let mut time = vec![0i128; answer.nodes.len()];
    for v in &answer.nodes {
        if let Some(slot) = time.get_mut(v.id) {
            *slot = v.time.into();
        }
    }
    time
}

fn ceil_div(a: i128, b: i128) -> i128 {
    let floor = a.div_euclid(b);
    if a.rem_euclid(b) == 0 { floor } else { floor + 1 }
}
