//! Shorter schedules by putting operations earlier in the reservation table.
//!
//! Given residues, the earliest times are longest paths on which operations wait for their residue to come around. A move
//! takes an operation that waits, puts it where it waits less, and moves what is in its way later, around to where it was.
//! Whole wraps follow by themselves, so one move may change the wraps of many pairs. Late acceptance (Burke, Bykov 2017)
//! takes what is no worse than what there was some moves ago.

use crate::heuristic::reservations::table::Table;
use crate::model::paths::tails;
use crate::model::problem::Problem;
use crate::model::random::Random;

/// Passes over all operations after which times that still grow are given up.
const MOST_PASSES: usize = 40;
/// Moves with which a move is compared.
const HISTORY: usize = 20;
/// Loops of greater numbers are left alone, so that no sum overflows.
const MOST: i64 = 1 << 40;

/// A schedule at one II that is changed move by move.
pub(crate) struct Insertion<'p> {
    problem: &'p Problem,
    ii: i64,
    table: Table<'p>,
    /// Weight of every dependence at this II.
    weights: Vec<i64>,
    /// The resources of each operation, as bits: two without a common bit are never in each other's way.
    units: Vec<u64>,
    /// Least times to the end, whatever the residues.
    tails: Vec<i64>,
    residue: Vec<i64>,
    time: Vec<i64>,
    length: i64,
    cost: i64,
    /// Operations in the order of their times, and the place of each.
    order: Vec<u32>,
    rank: Vec<u32>,
    /// The costs of some moves ago.
    history: [i64; HISTORY],
    steps: usize,
    random: Random,
}

/// Operations that were moved, and where they were.
type Moved = Vec<(usize, i64)>;

impl<'p> Insertion<'p> {
    /// `time` must be a schedule at this II. `None` where numbers are too large.
    pub fn new(problem: &'p Problem, ii: i64, time: &[i64], seed: u64) -> Option<Self> {
        let weights: Vec<i64> = problem.dependences.arcs.iter().map(|a| a.weight(ii)).collect();
        let fits = |x: i64| x.unsigned_abs() < MOST as u64;
        if !fits(problem.length(time)) || !fits(ii) || !weights.iter().all(|&w| fits(w)) {
            return None;
        }
        let bits = |v| problem.uses(v).iter().fold(0, |bits, u| bits | 1 << (u.resource % 64));
        let mut search = Insertion {
            problem,
            ii,
            table: Table::new(problem, ii),
            weights,
            units: (0..problem.n).map(bits).collect(),
            tails: tails(problem, ii)?,
            residue: vec![0; problem.n],
            time: Vec::new(),
            length: 0,
            cost: 0,
            order: (0..problem.n as u32).collect(),
            rank: vec![0; problem.n],
            history: [0; HISTORY],
            steps: 0,
            random: Random::new(seed),
        };
        let first = time.iter().copied().min().unwrap_or(0);
        search.turn_to(|v| time[v] - first);
        search.order_by(time);
        let time = search.earliest(i64::MAX)?;
        search.take(time);
        search.history = [search.cost; HISTORY];
        Some(search)
    }

    /// The schedule now, from 0 on.
    pub fn time(&self) -> &[i64] {
        &self.time
    }

    /// Its length.
    pub fn length(&self) -> i64 {
        self.length
    }

    /// One move, taken or not.
    pub fn step(&mut self) {
        self.steps += 1;
        let waiting = if self.random.below(2) == 0 { self.any_waiting() } else { self.last_waiting() };
        let Some((v, from)) = waiting else { return };
        let Some(moved) = self.insert(v, from) else { return };
        for &(x, _) in &moved {
            self.residue[x] = self.table.time(x).unwrap_or(0).rem_euclid(self.ii);
        }
        let slot = self.steps % HISTORY;
        let most = self.history[slot].max(self.cost);
        match self.earliest(most).filter(|time| self.cost_of(time) <= most) {
            Some(time) => self.take(time),
            None => self.put_back(moved),
        }
        self.history[slot] = self.history[slot].min(self.cost);
    }

    /// What is to become less: the end, and the ends of all operations on average, so that there is a way down where many
    /// paths are equally long.
    fn cost_of(&self, time: &[i64]) -> i64 {
        let ends = time.iter().zip(&self.problem.latency).map(|(t, l)| t + l);
        let sum = ends.clone().map(i128::from).sum::<i128>() / self.problem.n.max(1) as i128;
        ends.max().unwrap_or(0) + sum as i64
    }

    fn holds(&self, v: usize) -> bool {
        self.units[v] != 0
    }

    /// The earliest times of these residues; `None` where they end after `most`, or there are none.
    fn earliest(&self, most: i64) -> Option<Vec<i64>> {
        let g = &self.problem.dependences;
        let mut time: Vec<i64> =
            (0..self.problem.n).map(|v| if self.holds(v) { self.residue[v] } else { 0 }).collect();
        for _ in 0..MOST_PASSES {
            let mut again = false;
            for (i, &v) in (0u32..).zip(&self.order) {
                let at = time[v as usize];
                if at + self.tails[v as usize] > most {
                    return None;
                }
                for (a, weight) in
                    g.out(v as usize).iter().zip(&self.weights[g.first_out(v as usize) as usize..])
                {
                    let (d, to) = (a.dst as usize, at + weight);
                    if to > time[d] {
                        let wait = if self.holds(d) { (self.residue[d] - to).rem_euclid(self.ii) } else { 0 };
                        time[d] = to + wait;
                        again |= self.rank[d] <= i;
                    }
                }
            }
            if !again {
                return Some(time);
            }
        }
        None
    }

    /// The first start when everything starts as late as an end at `end` lets it; 0 where that is not settled.
    fn latest_first(&self, end: i64) -> i64 {
        let g = &self.problem.dependences;
        let mut late: Vec<i64> = self.problem.latency.iter().map(|l| end - l).collect();
        for _ in 0..MOST_PASSES {
            let mut moved = false;
            for v in self.order.iter().rev().map(|&v| v as usize) {
                let mut most = late[v];
                for (a, weight) in g.out(v).iter().zip(&self.weights[g.first_out(v) as usize..]) {
                    most = most.min(late[a.dst as usize] - weight);
                }
                if self.holds(v) {
                    most -= (most - self.residue[v]).rem_euclid(self.ii);
                }
                moved |= most < late[v];
                late[v] = most;
            }
            if !moved {
                return late.into_iter().min().unwrap_or(0);
            }
        }
        0
    }

    /// Takes these times. Where what begins the schedule may wait, all of it begins later.
    fn take(&mut self, time: Vec<i64>) {
        let end = self.problem.latency.iter().zip(&time).map(|(l, t)| l + t).max().unwrap_or(0);
        self.order_by(&time);
        self.time = time;
        let first = self.latest_first(end);
        if first > 0 {
            let residue = self.residue.clone();
            self.turn_to(|v| residue[v] - first);
            if let Some(time) = self.earliest(end - first) {
                self.order_by(&time);
                self.time = time;
            }
        }
        self.length = self.problem.latency.iter().zip(&self.time).map(|(l, t)| l + t).max().unwrap_or(0);
        self.cost = self.cost_of(&self.time);
    }

    /// Places all operations anew at these residues.
    fn turn_to(&mut self, at: impl Fn(usize) -> i64) {
        (0..self.problem.n).for_each(|v| self.table.remove(v));
        for v in 0..self.problem.n {
            self.residue[v] = at(v).rem_euclid(self.ii);
            self.table.place(v, self.residue[v]);
        }
    }

    fn order_by(&mut self, time: &[i64]) {
        self.order.sort_by_key(|&v| (time[v as usize], v));
        (0u32..).zip(&self.order).for_each(|(i, &v)| self.rank[v as usize] = i);
    }

    /// Any operation that waits, and since when.
    fn any_waiting(&mut self) -> Option<(usize, i64)> {
        let v = self.random.below(self.problem.n as u64) as usize;
        let from = self.reaches(v).map(|(_, reach)| reach).max().unwrap_or(0).max(0);
        (from < self.time[v] && self.holds(v)).then_some((v, from))
    }

    /// One that does on a longest path, and since when.
    fn last_waiting(&mut self) -> Option<(usize, i64)> {
        let ends = |&v: &usize| self.time[v] + self.problem.latency[v] == self.length;
        let ends: Vec<usize> = (0..self.problem.n).filter(ends).collect();
        let mut v = *ends.get(self.random.below(ends.len() as u64) as usize)?;
        let (mut found, mut waiting) = (None, 0);
        for _ in 0..self.problem.n {
            let at = self.time[v];
            let (mut from, mut before, mut binding) = (0, None, 0);
            let reaches: Vec<(usize, i64)> =
                self.reaches(v).filter(|&(u, reach)| u != v && reach > 0).collect();
            for (u, reach) in reaches {
                from = from.max(reach);
                // A turn earlier would be too early for this one.
                let binds = if self.holds(v) { reach > at - self.ii } else { reach == at };
                if binds {
                    binding += 1;
                    if self.random.below(binding) == 0 {
                        before = Some(u);
                    }
                }
            }
            if at > from && self.holds(v) {
                waiting += 1;
                if self.random.below(waiting) == 0 {
                    found = Some((v, from));
                }
            }
            let Some(u) = before else { break };
            v = u;
        }
        found
    }

    /// What comes before an operation, and the start that each allows it.
    fn reaches(&self, v: usize) -> impl Iterator<Item = (usize, i64)> + '_ {
        let g = &self.problem.dependences;
        g.incoming_indices(v).iter().map(move |&i| {
            let src = g.arcs[i as usize].src as usize;
            (src, self.time[src] + self.weights[i as usize])
        })
    }

    /// Puts an operation that waits since `from` somewhere before where it is, and what is in its way later. What was
    /// moved; `None`, and nothing moved, where not all of that finds a place.
    fn insert(&mut self, v: usize, from: i64) -> Option<Moved> {
        let at = self.time[v];
        let to = from + self.random.below((at - from) as u64) as i64;
        let mut moved = vec![(v, self.table.time(v)?)];
        self.table.remove(v);
        let free = self.table.first_fit(v, to, at - 1).filter(|_| self.random.below(2) == 0);
        let to = free.unwrap_or_else(|| self.start_of_blockers(v, from, to));
        let following = self.following(v, to, at);
        for &(_, x) in &following {
            moved.push((x, self.table.time(x)?));
            self.table.remove(x);
        }
        self.table.place(v, to);
        for (t, x) in following {
            match self.table.first_fit(x, t, t + self.ii - 1) {
                Some(t) => self.table.place(x, t),
                None => {
                    self.put_back(moved);
                    return None;
                }
            }
        }
        Some(moved)
    }

    /// The first start of what is in the way at `to`, from `from` on; or one of the two.
    fn start_of_blockers(&mut self, v: usize, from: i64, to: i64) -> i64 {
        let blockers = self.table.blockers(v, to);
        let starts = blockers.iter().filter_map(|&x| self.table.time(x as usize));
        let starts = starts.map(|t| to - (to - t).rem_euclid(self.ii)).filter(|&t| t >= from);
        let either = if self.random.below(2) == 0 { from } else { to };
        starts.min().unwrap_or(either)
    }

    /// What is moved when `v` goes from `at` to `to`: what is there, and what follows until `at`, in order. Nothing where
    /// nothing is in the way.
    fn following(&self, v: usize, to: i64, at: i64) -> Vec<(i64, usize)> {
        let blockers = self.table.blockers(v, to);
        if blockers.is_empty() {
            return Vec::new();
        }
        let meets = |x: usize| x != v && self.units[x] & self.units[v] != 0;
        let mut following = Vec::new();
        for x in (0..self.problem.n).filter(|&x| meets(x)) {
            let Some(t) = self.table.time(x) else { continue };
            let start = to + (t - to).rem_euclid(self.ii);
            if blockers.contains(&(x as u32)) {
                // It may have begun before.
                following.push((if start >= at { start - self.ii } else { start }, x));
            } else if start < at {
                following.push((start, x));
            }
        }
        following.sort_unstable();
        following
    }

    fn put_back(&mut self, moved: Moved) {
        moved.iter().for_each(|&(x, _)| self.table.remove(x));
        for (x, t) in moved {
            self.table.place(x, t);
            self.residue[x] = t.rem_euclid(self.ii);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::graph::LoopGraph;
    use crate::model::validate::validate;

    /// Four chains over two units that both are full at the II, with one carried dependence each.
    fn chains() -> LoopGraph {
        let mut g = LoopGraph::new("chains");
        g.add_resource("U", 1).add_resource("V", 2);
        for chain in 0..4 {
            let first = g.add_node(format!("first {chain}"), 9, &[("U", 0, 3)]);
            let middle = g.add_node(format!("middle {chain}"), 11, &[("V", 2, 6)]);
            let last = g.add_node(format!("last {chain}"), 4, &[("U", 0, 2)]);
            g.add_edge(first, middle, 9, 0);
            g.add_edge(middle, last, 11, 0);
            g.add_edge(last, first, 4, 4);
        }
        g
    }

    /// Dependences, and every cycle of every resource, counted one by one.
    fn holds(problem: &Problem, ii: i64, time: &[i64]) -> bool {
        let mut held = vec![vec![0; ii as usize]; problem.count.len()];
        for (v, t) in time.iter().enumerate() {
            for u in problem.uses(v) {
                (t + u.start..t + u.start + u.duration)
                    .for_each(|c| held[u.resource as usize][c.rem_euclid(ii) as usize] += 1);
            }
        }
        let room = held.iter().zip(&problem.count).all(|(row, count)| row.iter().all(|h| h <= count));
        let after =
            |a: &crate::model::digraph::Arc| time[a.dst as usize] - time[a.src as usize] >= a.weight(ii);
        room && problem.dependences.arcs.iter().all(after)
    }

    #[test]
    fn every_move_leaves_a_schedule_and_some_make_it_shorter() {
        let g = chains();
        let Ok(valid) = validate(&g) else { unreachable!("a legal loop") };
        let (problem, ii) = (&valid.problem, 20);
        // Everything a turn or two later than it need be.
        let uses = [[0, 29, 52], [3, 35, 54], [6, 49, 76], [9, 55, 78]];
        let time: Vec<i64> = uses.iter().flatten().map(|t| t + 1).collect();
        assert!(holds(problem, ii, &time));
        let Some(mut search) = Insertion::new(problem, ii, &time, 7) else {
            unreachable!("the numbers are small")
        };
        let before = problem.length(&time);
        let mut shortest = before;
        for _ in 0..2_000 {
            search.step();
            assert!(holds(problem, ii, search.time()));
            assert_eq!(search.length(), problem.length(search.time()));
            shortest = shortest.min(search.length());
        }
        assert!(shortest * 3 < before * 2, "{shortest} of {before}");
    }

    #[test]
    fn loops_of_great_numbers_are_left_alone() {
        let g = chains();
        let Ok(valid) = validate(&g) else { unreachable!("a legal loop") };
        let time = vec![0; g.nodes.len()];
        assert!(Insertion::new(&valid.problem, MOST, &time, 0).is_none());
        let mut late = time;
        late[0] = MOST;
        assert!(Insertion::new(&valid.problem, 20, &late, 0).is_none());
    }
}
