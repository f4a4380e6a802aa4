//! Iterative modulo scheduling (Rau 1994): place the highest operation first, evict what is in its way (S37).

use crate::heuristic::reservations::table::Table;
use crate::model::options::ScheduleOptions;
use crate::model::paths::{heads, tails};
use crate::model::problem::Problem;
use crate::model::random::Random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What the attempts at one II came to.
pub(crate) struct Attempts {
    /// Starts of all operations, the least of which may be negative.
    pub time: Option<Vec<i64>>,
    pub placements: u64,
}

/// Places all operations at this II, with as many restarts as the options allow and `most` placements in each.
pub(crate) fn place(problem: &Problem, ii: i64, options: &ScheduleOptions, most: u64) -> Attempts {
    let mut random = Random::new(options.seed);
    let mut attempts = Attempts { time: None, placements: 0 };
    for attempt in 0..=options.restarts {
        let Some(mut ims) = Ims::new(problem, ii) else { break };
        if attempt > 0 {
            ims.shake(&mut random);
        }
        attempts.time = ims.run(most);
        attempts.placements += ims.steps;
        if attempts.time.is_some() {
            break;
        }
    }
    attempts
}

/// One attempt at one II.
struct Ims<'p> {
    problem: &'p Problem,
    ii: i64,
    head: Vec<i64>,
    /// The priority: longest path to the end of the schedule.
    height: Vec<i64>,
    table: Table<'p>,
    /// Where each operation was placed last, so that a forced placement moves on.
    last: Vec<Option<i64>>,
    waiting: BinaryHeap<(i64, Reverse<u32>)>,
    queued: Vec<bool>,
    steps: u64,
}

/// The starts that the placed neighbours leave an operation.
struct Window {
    from_predecessors: Option<i64>,
    latest: i64,
}

impl<'p> Ims<'p> {
    /// `None` when a recurrence is positive at this II.
    fn new(problem: &'p Problem, ii: i64) -> Option<Self> {
        Some(Ims {
            problem,
            ii,
            head: heads(problem, ii)?,
            height: tails(problem, ii)?,
            table: Table::new(problem, ii),
            last: vec![None; problem.n],
            waiting: BinaryHeap::with_capacity(problem.n),
            queued: vec![false; problem.n],
            steps: 0,
        })
    }

    /// Shakes the priorities by up to an eighth, for a retry.
    fn shake(&mut self, random: &mut Random) {
        for h in &mut self.height {
            *h += random.below(h.unsigned_abs() / 8 + 2) as i64;
        }
    }

    /// Places all operations within `budget` placements; their starts, the least of which may be negative.
    fn run(&mut self, budget: u64) -> Option<Vec<i64>> {
        for v in 0..self.problem.n {
            self.enqueue(v);
        }
        while let Some((_, Reverse(v))) = self.waiting.pop() {
            let v = v as usize;
            self.queued[v] = false;
            if self.steps >= budget {
                return None;
            }
            self.steps += 1;
            let t = self.choose(v);
            self.make_room(v, t);
            self.table.place(v, t);
            self.last[v] = Some(t);
        }
        (0..self.problem.n).map(|v| self.table.time(v)).collect()
    }

    fn enqueue(&mut self, v: usize) {
        if !self.queued[v] {
            self.queued[v] = true;
            self.waiting.push((self.height[v], Reverse(v as u32)));
        }
    }

    fn window(&self, v: usize) -> Window {
        let g = &self.problem.dependences;
        let placed = |w: u32| if w as usize == v { None } else { self.table.time(w as usize) };
        let early = g.incoming(v).filter_map(|a| Some(placed(a.src)? + a.weight(self.ii))).max();
        let late = g.out(v).iter().filter_map(|a| Some(placed(a.dst)? - a.weight(self.ii))).min();
        Window { from_predecessors: early, latest: late.unwrap_or(i64::MAX) }
    }

    /// The first free of II consecutive slots; if none, a forced one that is later than the last time.
    fn choose(&mut self, v: usize) -> i64 {
        let Window { from_predecessors, latest } = self.window(v);
        let ii = self.ii;
        let from = match from_predecessors {
            Some(early) => early,
            // Times may be negative (S21): before its placed successors an operation goes as late as it can.
            None if latest < self.head[v] => {
                if let Some(t) = self.table.last_fit(v, latest - ii + 1, latest) {
                    return t;
                }
                latest
            }
            None => self.head[v],
        };
        self.table.first_fit(v, from, from + ii - 1).unwrap_or_else(|| match self.last[v] {
            Some(last) => from.max(last + 1),
            None => from,
        })
    }

    /// Unschedules whatever conflicts with `v` at `t`: holders of its units, lowest first, until it fits, and
    /// neighbours whose dependence would break.
    fn make_room(&mut self, v: usize, t: i64) {
        if self.table.conflict(v, t).is_some() {
            let mut holders = self.table.blockers(v, t);
            holders.sort_unstable_by_key(|&w| (self.height[w as usize], Reverse(w)));
            for w in holders {
                self.unschedule(w as usize);
                if self.table.conflict(v, t).is_none() {
                    break;
                }
            }
        }
        let problem = self.problem;
        for a in problem.dependences.out(v) {
            let d = a.dst as usize;
            if d != v && self.table.time(d).is_some_and(|td| td < t + a.weight(self.ii)) {
                self.unschedule(d);
            }
        }
        for a in problem.dependences.incoming(v) {
            let s = a.src as usize;
            if s != v && self.table.time(s).is_some_and(|ts| t < ts + a.weight(self.ii)) {
                self.unschedule(s);
            }
        }
    }

    fn unschedule(&mut self, v: usize) {
        self.table.remove(v);
        self.enqueue(v);
    }
}
