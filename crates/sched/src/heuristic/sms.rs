//! Swing modulo scheduling (Llosa 1996): every operation close to its placed neighbours, no backtracking (S39).

use crate::bounds::ratio::component_bound;
use crate::heuristic::reservations::table::Table;
use crate::model::paths::{heads, tails};
use crate::model::problem::Problem;
use crate::model::recurrence::RecurrenceFinder;
use crate::model::visit::reachable;
use petgraph::visit::Reversed;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The order in which operations are placed; it depends on II only through ties, so MII's is used for all.
pub(crate) struct Swing<'p> {
    problem: &'p Problem,
    order: Vec<u32>,
}

impl<'p> Swing<'p> {
    /// `None` when a recurrence is positive at `mii`.
    pub fn new(problem: &'p Problem, mii: i64) -> Option<Self> {
        let head = heads(problem, mii)?;
        let tail = tails(problem, mii)?;
        let order = Ordering { problem, head, tail, placed: vec![false; problem.n], order: Vec::new() }.run();
        Some(Swing { problem, order })
    }

    /// Places all operations, or fails at the first that finds no slot.
    pub fn run(&self, ii: i64) -> Option<Vec<i64>> {
        let problem = self.problem;
        let head = heads(problem, ii)?;
        let mut table = Table::new(problem, ii);
        for &v in &self.order {
            let v = v as usize;
            let g = &problem.dependences;
            let placed = |w: u32| if w as usize == v { None } else { table.time(w as usize) };
            let early = g.incoming(v).filter_map(|a| Some(placed(a.src)? + a.weight(ii))).max();
            let late = g.out(v).iter().filter_map(|a| Some(placed(a.dst)? - a.weight(ii))).min();
            let t = match (early, late) {
                (Some(early), Some(late)) => table.first_fit(v, early, late.min(early + ii - 1)),
                (Some(early), None) => table.first_fit(v, early, early + ii - 1),
                (None, Some(late)) => table.last_fit(v, late - ii + 1, late),
                (None, None) => table.first_fit(v, head[v], head[v] + ii - 1),
            };
            table.place(v, t?);
        }
        (0..problem.n).map(|v| table.time(v)).collect()
    }
}

struct Ordering<'p> {
    problem: &'p Problem,
    head: Vec<i64>,
    tail: Vec<i64>,
    placed: Vec<bool>,
    order: Vec<u32>,
}

impl Ordering<'_> {
    /// Components by descending RecMII, each with the paths that lead to those before, then the rest.
    fn run(mut self) -> Vec<u32> {
        let g = &self.problem.dependences;
        let cyclic = g.components_in_order().filter(|m| g.is_cyclic(m));
        let mut finder = RecurrenceFinder::new(g.n);
        let mut sets: Vec<(i64, Vec<u32>)> =
            cyclic.map(|m| (component_bound(g, m, &mut finder), m.to_vec())).collect();
        sets.sort_by_key(|(bound, members)| (Reverse(*bound), members.iter().copied().min()));
        for (_, members) in sets {
            let between = self.between(&members);
            self.swing(between.into_iter().chain(members).collect());
        }
        self.swing((0..self.problem.n as u32).collect());
        self.order
    }

    /// Operations on paths between what is ordered already and these members.
    fn between(&self, members: &[u32]) -> Vec<u32> {
        if self.order.is_empty() {
            return Vec::new();
        }
        let g = &self.problem.dependences;
        let (from_done, to_done) = (reachable(g, &self.order), reachable(Reversed(g), &self.order));
        let (from_new, to_new) = (reachable(g, members), reachable(Reversed(g), members));
        let on_path = |v: u32| (from_done(v) && to_new(v)) || (from_new(v) && to_done(v));
        (0..g.n as u32).filter(|&v| on_path(v) && !self.placed[v as usize]).collect()
    }

    /// Orders a set by alternating sweeps along successors (deepest path ahead first) and predecessors.
    fn swing(&mut self, set: Vec<u32>) {
        let problem = self.problem;
        let g = &problem.dependences;
        let mut open: BTreeSet<u32> = set.into_iter().filter(|&v| !self.placed[v as usize]).collect();
        while let Some(&lowest) = open.first() {
            let near = |v: &&u32, down: bool| {
                let v = **v as usize;
                if down {
                    g.incoming(v).any(|a| self.placed[a.src as usize] && a.src as usize != v)
                } else {
                    g.out(v).iter().any(|a| self.placed[a.dst as usize] && a.dst as usize != v)
                }
            };
            let above: Vec<u32> = open.iter().filter(|v| near(v, false)).copied().collect();
            let below: Vec<u32> = open.iter().filter(|v| near(v, true)).copied().collect();
            let (start, mut down) = if !above.is_empty() && below.is_empty() {
                (above, false)
            } else if !below.is_empty() {
                (below, true)
            } else {
                let latest = open.iter().copied().max_by_key(|&v| (self.head[v as usize], Reverse(v)));
                (vec![latest.unwrap_or(lowest)], false)
            };
            let mut ready: BTreeSet<u32> = start.into_iter().collect();
            while !ready.is_empty() {
                while let Some(v) = self.next(&ready, down) {
                    ready.remove(&v);
                    open.remove(&v);
                    self.placed[v as usize] = true;
                    self.order.push(v);
                    let ahead: Vec<u32> = if down {
                        g.out(v as usize).iter().map(|a| a.dst).collect()
                    } else {
                        g.incoming(v as usize).map(|a| a.src).collect()
                    };
                    ready.extend(ahead.into_iter().filter(|w| open.contains(w)));
                }
                down = !down;
                let touches = |v: &u32| {
                    let v = *v as usize;
                    if down {
                        g.incoming(v).any(|a| self.placed[a.src as usize])
                    } else {
                        g.out(v).iter().any(|a| self.placed[a.dst as usize])
                    }
                };
                ready = open.iter().copied().filter(touches).collect();
            }
        }
    }

    /// Downwards the operation with the longest path ahead, upwards the one with the longest path behind.
    fn next(&self, ready: &BTreeSet<u32>, down: bool) -> Option<u32> {
        let depth = |v: u32| if down { self.tail[v as usize] } else { self.head[v as usize] };
        ready.iter().copied().max_by_key(|&v| (depth(v), Reverse(v)))
    }
}
