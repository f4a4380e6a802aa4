//! Violations as they are found, and the few sums that several checks make.

use super::violation::{MOST_VIOLATIONS, ScheduleViolation, ScheduleViolationKind, ScheduleViolations};
use crate::model::answer::Answer;

/// Violations as they are found.
#[derive(Default)]
pub(super) struct Report(Vec<ScheduleViolation>);

impl Report {
    pub fn add(&mut self, kind: ScheduleViolationKind, at: impl Into<String>, message: impl Into<String>) {
        if self.0.len() < MOST_VIOLATIONS {
            self.0.push(ScheduleViolation { kind, at: at.into(), message: message.into() });
        }
    }

    /// Records a violation when the two numbers differ.
    pub fn same(&mut self, kind: ScheduleViolationKind, at: &str, what: &str, found: i128, expected: i128) {
        if found != expected {
            self.add(kind, at, format!("{what} is {found}, recomputed {expected}"));
        }
    }

    pub fn verdict(self) -> Result<(), ScheduleViolations> {
        if self.0.is_empty() { Ok(()) } else { Err(ScheduleViolations::new(self.0)) }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Start times by node id; the shape must have been checked.
pub(super) fn times_by_id(answer: &Answer) -> Vec<i128> {
    let mut time = vec![0i128; answer.nodes.len()];
    for v in &answer.nodes {
        if let Some(slot) = time.get_mut(v.id) {
            *slot = v.time.into();
        }
    }
    time
}

/// `ceil(a / b)` for positive `b`.
pub(super) fn ceil_div(a: i128, b: i128) -> i128 {
    let floor = a.div_euclid(b);
    if a.rem_euclid(b) == 0 { floor } else { floor + 1 }
}
