//! Shortening a schedule by moving operations one at a time, first to the front, then to the back.

use crate::heuristic::reservations::table::Table;
use crate::heuristic::settle::earliest_at_residues;
use crate::model::problem::Problem;

/// Rounds of moving everything back and forth.
const ROUNDS: usize = 4;
/// Above so many operations only whole wraps are moved.
const MOST_OPS: usize = 5_000;

/// A schedule at the same II that is at most as long.
pub(crate) fn compact(problem: &Problem, ii: i64, time: Vec<i64>) -> Vec<i64> {
    let mut best = time;
    if let Some(early) = earliest_at_residues(problem, ii, &best)
        && problem.length(&early) <= problem.length(&best)
    {
        best = early;
    }
    if problem.n > MOST_OPS {
        return best;
    }
    for _ in 0..ROUNDS {
        let mut pass = Pass::new(problem, ii, &best);
        pass.later();
        pass.earlier();
        let time = pass.time;
        if problem.length(&time) >= problem.length(&best) {
            break;
        }
        best = time;
    }
    best
}

struct Pass<'p> {
    problem: &'p Problem,
    ii: i64,
    table: Table<'p>,
    time: Vec<i64>,
}

impl<'p> Pass<'p> {
    fn new(problem: &'p Problem, ii: i64, time: &[i64]) -> Self {
        let mut table = Table::new(problem, ii);
        time.iter().enumerate().for_each(|(v, &t)| table.place(v, t));
        Pass { problem, ii, table, time: time.to_vec() }
    }

    fn by(&self, key: impl Fn(usize) -> i64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.problem.n).collect();
        order.sort_by_key(|&v| (key(v), v));
        order
    }

    /// Every operation as late as its successors and the end of the schedule let it, the last first.
    fn later(&mut self) {
        let problem = self.problem;
        let end = self.time.iter().zip(&problem.latency).map(|(t, l)| t + l).max().unwrap_or(0);
        for v in self.by(|v| -(self.time[v] + problem.latency[v])) {
            let out = problem.dependences.out(v).iter().filter(|a| a.dst as usize != v);
            let latest = out.map(|a| self.time[a.dst as usize] - a.weight(self.ii)).min();
            let latest = latest.unwrap_or(i64::MAX).min(end - problem.latency[v]);
            let from = self.time[v];
            self.table.remove(v);
            let to = self.table.last_fit(v, from.max(latest - self.ii + 1), latest).unwrap_or(from);
            self.put(v, to);
        }
    }

    /// Every operation as early as its predecessors and the start of the schedule let it, the first first.
    fn earlier(&mut self) {
        let problem = self.problem;
        let start = self.time.iter().copied().min().unwrap_or(0);
        for v in self.by(|v| self.time[v]) {
            let into = problem.dependences.incoming(v).filter(|a| a.src as usize != v);
            let earliest = into.map(|a| self.time[a.src as usize] + a.weight(self.ii)).max();
            let earliest = earliest.unwrap_or(i64::MIN).max(start);
            let from = self.time[v];
            self.table.remove(v);
            let to = self.table.first_fit(v, earliest, from.min(earliest + self.ii - 1)).unwrap_or(from);
            self.put(v, to);
        }
    }

    fn put(&mut self, v: usize, t: i64) {
        self.table.place(v, t);
        self.time[v] = t;
    }
}
