//! A schedule that is made shorter, and how much may be spent on it (S99).

use crate::heuristic::compact::compact;
use crate::model::problem::Problem;

/// A schedule that is longer than the bound by less than such a part is good enough for `auto`.
pub(super) const NEAR: i64 = 40;

/// A schedule that is made shorter, and what is known of that.
pub(super) struct Shortening<'p> {
    pub problem: &'p Problem,
    pub ii: i64,
    /// Every shorter length is refuted.
    pub proved: i64,
    /// The length of the best.
    pub high: i64,
    pub best: Vec<i64>,
}

impl Shortening<'_> {
    /// Takes a shorter schedule, and makes it as short as moves of single operations can.
    pub fn take(&mut self, time: Vec<i64>) {
        self.best = compact(self.problem, self.ii, time);
        self.high = self.problem.length(&self.best);
    }
}

/// What may be spent before anything is found, as a part of all, where a part p of the schedule is open: near the
/// bound there is little to find.
#[derive(Clone, Copy)]
pub(super) enum Trial {
    /// A sixteenth of the square of p, and k*k times as much for k times as many operations.
    Brief,
    /// The square of p: what comes after it costs more.
    Long,
}

impl Trial {
    /// That part, for a loop of so many times the operations of a small one.
    pub fn work(self, (whole, parts): (u64, u64), open: i64, length: i64) -> u64 {
        let (open, length) =
            (u128::from(open.max(0).unsigned_abs()), u128::from(length.max(1).unsigned_abs()));
        let square = u128::from(whole) * open / length * open / length;
        let part = match self {
            Trial::Brief => square * u128::from(parts * parts).max(1) / 16,
            Trial::Long => square,
        };
        u64::try_from(part).unwrap_or(u64::MAX)
    }
}
