//! The modulo reservation table: which unit is held in which cycle, folded modulo II (S4).

use super::row::Row;
use crate::bounds::self_fit::repeats_resource;
use crate::model::problem::Problem;
use smallvec::SmallVec;

/// At most so many counters in all.
const MOST_CELLS: i64 = 1 << 24;

/// At most so many starts are looked at for one operation: an II may have a billion.
const MOST_PROBES: u32 = 1 << 16;

/// Which operations are placed where, and what they hold.
pub(crate) struct Table<'p> {
    problem: &'p Problem,
    ii: i64,
    rows: Vec<Row>,
    /// Start of every placed operation.
    time: Vec<Option<i64>>,
    complex: Vec<bool>,
}

impl<'p> Table<'p> {
    pub fn new(problem: &'p Problem, ii: i64) -> Self {
        let mut uses = vec![(0, 0i64); problem.count.len()];
        for u in problem.all_uses() {
            let (many, longest) = &mut uses[u.resource as usize];
            (*many, *longest) = (*many + 1, u.duration.max(*longest));
        }
        let mut room = MOST_CELLS;
        let rows = problem
            .count
            .iter()
            .zip(uses)
            .map(|(&count, uses)| Row::new(count, uses, ii, &mut room))
            .collect();
        let complex = (0..problem.n).map(|v| repeats_resource(problem.uses(v))).collect();
        Table { problem, ii, rows, time: vec![None; problem.n], complex }
    }

    pub fn time(&self, node: usize) -> Option<i64> {
        self.time[node]
    }

    /// The first start in `from..=to` at which the operation fits.
    pub fn first_fit(&mut self, node: usize, from: i64, to: i64) -> Option<i64> {
        if from <= to
            && let [u] = self.problem.uses(node)
            && let Some(known) = self.rows[u.resource as usize].next_free(u, from, to, self.ii)
        {
            return known;
        }
        let mut t = from;
        for _ in 0..MOST_PROBES {
            if t > to {
                break;
            }
            match self.conflict(node, t) {
                None => return Some(t),
                Some(jump) => t += jump,
            }
        }
        None
    }

    /// The last start in `from..=to` at which the operation fits.
    pub fn last_fit(&mut self, node: usize, from: i64, to: i64) -> Option<i64> {
        let mut t = to;
        for _ in 0..MOST_PROBES {
            if t < from {
                break;
            }
            match self.probe::<true>(node, t) {
                None => return Some(t),
                Some(jump) => t -= jump,
            }
        }
        None
    }

    /// `None` if the operation fits at `t`; otherwise by how much later its start must be before it can fit.
    pub fn conflict(&mut self, node: usize, t: i64) -> Option<i64> {
        self.probe::<false>(node, t)
    }

    /// As [`conflict`](Self::conflict), towards earlier starts when `BACK`.
    fn probe<const BACK: bool>(&mut self, node: usize, t: i64) -> Option<i64> {
        let uses = self.problem.uses(node);
        if !self.complex[node] {
            let jumps =
                uses.iter().filter_map(|u| self.rows[u.resource as usize].conflict::<BACK>(u, t, self.ii));
            return jumps.max();
        }
        // What keeps one of them out keeps out all.
        let alone =
            uses.iter().filter_map(|u| self.rows[u.resource as usize].conflict::<BACK>(u, t, self.ii));
        if let Some(jump) = alone.max() {
            return Some(jump);
        }
        // Uses of one resource add up: hold them one after the other, then let go again.
        let mut jump = None;
        let mut held = 0;
        for u in uses {
            let row = &mut self.rows[u.resource as usize];
            if row.conflict::<BACK>(u, t, self.ii).is_some() {
                jump = Some(1);
                break;
            }
            row.hold(u, t, node as u32, self.ii);
            held += 1;
        }
        for u in uses[..held].iter().rev() {
            self.rows[u.resource as usize].release(u, t, node as u32, self.ii);
        }
        jump
    }

    /// Places an operation, whether it fits or not.
    pub fn place(&mut self, node: usize, t: i64) {
        for u in self.problem.uses(node) {
            self.rows[u.resource as usize].hold(u, t, node as u32, self.ii);
        }
        self.time[node] = Some(t);
    }

    /// Takes an operation out again.
    pub fn remove(&mut self, node: usize) {
        if let Some(t) = self.time[node].take() {
            for u in self.problem.uses(node) {
                self.rows[u.resource as usize].release(u, t, node as u32, self.ii);
            }
        }
    }

    /// The placed operations that hold something the operation would hold at `t`.
    pub fn blockers(&self, node: usize, t: i64) -> SmallVec<[u32; 16]> {
        let mut found = SmallVec::new();
        for u in self.problem.uses(node) {
            self.rows[u.resource as usize].holders(u, t, self.ii, &mut found);
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::graph::LoopGraph;

    fn table_test(count: u64, ii: i64, duration: u64, placed: &[i64], expect: &[i64]) {
        let mut g = LoopGraph::new("t");
        g.add_resource("U", count);
        for _ in 0..=placed.len() {
            g.add_node("x", 1, &[("U", 0, duration)]);
        }
        let p = Problem::new(&g, &[]);
        let mut table = Table::new(&p, ii);
        for (v, &t) in placed.iter().enumerate() {
            table.place(v + 1, t);
        }
        let fits: Vec<i64> = (0..ii).filter(|&t| table.conflict(0, t).is_none()).collect();
        assert_eq!(fits, expect);
        let first = table.first_fit(0, 0, ii - 1);
        assert_eq!(first, expect.first().copied());
        assert_eq!(table.last_fit(0, 0, ii - 1), expect.last().copied());
    }

    #[test]
    fn counted_and_listed_rows_agree() {
        table_test(1, 8, 3, &[0], &[3, 4, 5]);
        table_test(1, 100, 30, &[80], &(10..=50).collect::<Vec<i64>>());
        table_test(2, 100, 60, &[0, 30], &(60..=70).collect::<Vec<i64>>());
        table_test(2, 3, 5, &[], &[0, 1, 2]);
        table_test(2, 3, 2, &[0, 2], &[1]);
    }

    /// However short the use, one probe leads over all that is in its way: an II may have a million cycles.
    #[test]
    fn a_jump_leads_over_all_that_is_held() {
        let mut g = LoopGraph::new("t");
        g.add_resource("U", 2);
        g.add_node("long", 1, &[("U", 0, 1 << 20)]);
        g.add_node("short", 1, &[("U", 0, 7)]);
        let p = Problem::new(&g, &[]);
        let mut table = Table::new(&p, 524_292);
        table.place(0, 1);
        assert_eq!(table.probe::<false>(1, 0), Some(524_285));
        assert_eq!(table.probe::<true>(1, 524_284), Some(524_290));
        assert_eq!(table.first_fit(1, 0, 524_291), Some(524_285));
    }
}
