//! II and ring depths together: IIs upwards, and at each every way to spend the budget (S56, S57).

use crate::bounds::least_ii::Bounds;
use crate::bounds::ratio::recurrence_bound;
use crate::bounds::self_fit::next_self_fit;
use crate::driver::bytes::fewer_bytes;
use crate::driver::session::Session;
use crate::exact::verdict::Verdict;
use crate::model::answer::Answer;
use crate::model::budget::MemoryBudget;
use crate::model::error::ScheduleError::{self, GaveUp, Infeasible};
use crate::model::graph::LoopGraph;
use crate::model::guard::Guard;
use crate::model::options::ScheduleOptions;
use crate::model::paths::heads;
use crate::model::problem::Problem;
use crate::model::validate::ValidGraph;
use crate::post::depth::depths_of;
use crate::post::normal::Found;
use crate::post::order::body_order;
use crate::post::rings::{Ring, caps_of, rings};
use crate::post::stages::relax;

/// At most so many ways to spend the budget are looked at.
const MOST_VECTORS: usize = 256;

/// Attempts at a better schedule before the IIs are gone through, and the ways looked at in each.
const ATTEMPTS: usize = 8;
const MOST_HEURISTIC: usize = 8;

/// A way to spend the budget: depths that cannot be raised any more, and the II they need at least.
struct Spending {
    depths: Vec<u64>,
    least_ii: i64,
}

pub(super) struct Sweep<'g, 'a, 'b> {
    graph: &'g ValidGraph<'a>,
    budget: &'g MemoryBudget<'b>,
    options: &'g ScheduleOptions,
    rings: Vec<Ring>,
    ways: Vec<Spending>,
    /// All ways are known, so that refuting each refutes an II.
    complete: bool,
    unlimited: Found,
}

impl<'g, 'a, 'b> Sweep<'g, 'a, 'b> {
    pub fn new(
        graph: &'g ValidGraph<'a>,
        budget: &'g MemoryBudget<'b>,
        options: &'g ScheduleOptions,
        free: &Answer,
    ) -> Result<Self, ScheduleError> {
        let g = graph.whole();
        // At a very large II a ring needs least: what min_depth and carried uses ask for (S60).
        let floors = rings(g);
        let least: Vec<u64> = floors.iter().map(|r| r.least).collect();
        if let Some((space, need, have)) = budget.overfilled(g, &spread(g, &floors, &least)) {
            let inside = g.values.iter().filter(|v| v.space == space);
            let largest = inside.max_by_key(|v| (v.bytes, std::cmp::Reverse(v.id))).map_or(0, |v| v.id);
            return Err(ScheduleError::BudgetInfeasible { space, need, have, largest });
        }
        let mut time = vec![0; graph.problem.n];
        free.nodes.iter().for_each(|v| time[v.id] = v.time);
        let unlimited = Found {
            ii: free.ii,
            time,
            lower_bound: free.lower_bound,
            length_optimal: false,
            steps: free.steps,
        };
        let mut sweep =
            Sweep { graph, budget, options, rings: floors, ways: Vec::new(), complete: true, unlimited };
        sweep.spend(&mut least.clone(), 0, free);
        Ok(sweep)
    }

    fn fits(&self, depths: &[u64]) -> bool {
        let g = self.graph.whole();
        self.budget.overfilled(g, &spread(g, &self.rings, depths)).is_none()
    }

    /// Enumerates the depths that fit and cannot be raised; none above what the schedule without a budget has,
    /// and one more, for a longer ring of one value may allow a shorter one of another.
    fn spend(&mut self, depths: &mut Vec<u64>, from: usize, free: &Answer) {
        if self.ways.len() >= MOST_VECTORS {
            self.complete = false;
            return;
        }
        if from == self.rings.len() {
            let raisable = (0..depths.len()).any(|i| {
                let mut more = depths.clone();
                more[i] += 1;
                more[i] <= self.most(i, free) && self.fits(&more)
            });
            if !raisable {
                self.add(depths.clone());
            }
            return;
        }
        let (least, most) = (self.rings[from].least, self.most(from, free));
        for d in (least..=most.max(least)).rev() {
            depths[from] = d;
            if self.fits(depths) {
                self.spend(depths, from + 1, free);
            }
        }
        depths[from] = least;
    }

    fn most(&self, ring: usize, free: &Answer) -> u64 {
        let depth = |v: &usize| free.values.get(*v).map_or(1, |d| d.depth);
        let unlimited = self.rings[ring].values.iter().map(depth).max().unwrap_or(1);
        self.rings[ring].most.min(unlimited.saturating_mul(2) + 2)
    }

    fn add(&mut self, depths: Vec<u64>) {
        let problem = self.problem(&depths, false);
        if let Some(r) = recurrence_bound(&problem.dependences, false) {
            self.ways.push(Spending { depths, least_ii: r.bound });
        }
    }

    fn problem(&self, depths: &[u64], strict: bool) -> Problem {
        let g = self.graph.whole();
        self.graph.problem.with_caps(g, &caps_of(g, &self.rings, depths, strict))
    }

    pub fn run(&mut self, bounds: &Bounds, guard: &mut Guard) -> Result<Found, ScheduleError> {
        let base = &self.graph.problem;
        let start = self.unlimited.lower_bound;
        let least = self.ways.iter().map(|w| w.least_ii).min();
        let Some(least) = least else {
            // No way is known that any II suits; the schedule of one iteration may still be.
            let found =
                self.incumbent(bounds, start).filter(|f| self.options.max_ii.is_none_or(|m| f.ii <= m));
            let known = found.map(|f| Found { lower_bound: start.min(f.ii), ..f });
            return known.ok_or(GaveUp { lower_bound: start });
        };
        let lower = if self.complete { next_self_fit(base, start.max(least)) } else { start };
        let first = next_self_fit(base, start.max(least).max(self.options.min_ii).max(bounds.mii));
        let last = self.options.max_ii.unwrap_or(i64::MAX);
        let apart = Session::new(base, self.options, guard).apart(first).unwrap_or(i64::MAX);
        let (mut proved, mut refuting) = (lower, self.complete && first <= lower.max(self.options.min_ii));
        let mut best = self.incumbent(bounds, first).filter(|f| f.ii <= last);
        let mut session = Session::new(base, self.options, guard);
        self.descend(&mut session, first, &mut best);
        let (mut ii, mut tried) = (first, 0);
        while ii <= last.min(apart) && best.as_ref().is_none_or(|b| ii < b.ii) && !session.expired() {
            self.leave_behind(ii);
            if self.ways.is_empty() && best.is_none() {
                let all = refuting && ii >= proved;
                return Err(if all { Infeasible { up_to: None } } else { GaveUp { lower_bound: proved } });
            }
            tried += 1;
            let mut all_refuted = true;
            for i in 0..self.ways.len() {
                if self.ways[i].least_ii > ii {
                    continue;
                }
                for strict in [false, true] {
                    let problem = self.problem(&self.ways[i].depths, strict);
                    match session.decide(&problem, ii) {
                        Some(Some(time)) => {
                            if let Some(found) = self.settle(&mut session, &problem, ii, time, proved) {
                                return Ok(found);
                            }
                            all_refuted = false;
                        }
                        Some(None) => break,
                        None => {
                            all_refuted = false;
                            break;
                        }
                    }
                }
            }
            refuting &= all_refuted;
            let next = next_self_fit(base, ii + 1);
            if refuting && ii >= proved {
                proved = next;
            }
            if session.exhausted() || tried >= self.options.steps {
                break;
            }
            ii = next;
        }
        match best {
            Some(found) => {
                let lower_bound = proved.min(found.ii);
                let problem = self.problem(&self.depths_at(&found), false);
                let better = self.settle(&mut session, &problem, found.ii, found.time.clone(), lower_bound);
                Ok(better.unwrap_or(Found { lower_bound, ..found }))
            }
            None => Err(GaveUp { lower_bound: proved }),
        }
    }

    /// Forgets the ways that no II from this one on suits: dependences alone allow an interval of IIs, and a ring that holds its
    /// readers to few slots may end it.
    fn leave_behind(&mut self, ii: i64) {
        let ways = std::mem::take(&mut self.ways);
        let lasts = |w: &Spending| w.least_ii > ii || heads(&self.problem(&w.depths, false), ii).is_some();
        self.ways = ways.into_iter().filter(lasts).collect();
    }

    /// A schedule that is there whatever the time limit (S100): that of one iteration after the other, at the least depths
    /// and then at any that fit. Where the depths hold readers and writers together, a search of so many steps finds it.
    fn incumbent(&self, bounds: &Bounds, first: i64) -> Option<Found> {
        let options = ScheduleOptions { time_limit: None, observer: None, ..self.options.clone() };
        let mut guard = Guard::new(&options);
        let base = &self.graph.problem;
        let mut session = Session::new(base, &options, &mut guard);
        let least: Vec<u64> = self.rings.iter().map(|r| r.least).collect();
        let plain = session.fallback(first).ok().flatten();
        if let Some(found) = plain.clone().and_then(|(ii, time)| self.kept(ii, time)) {
            return Some(found);
        }
        let near = plain.map_or(bounds.mii, |(ii, _)| ii).max(first);
        for depths in std::iter::once(&least).chain(self.ways.iter().map(|w| &w.depths)) {
            for strict in [false, true] {
                let problem = self.problem(depths, strict);
                let mut capped = Session::new(&problem, &options, session.guard);
                let serial = capped.fallback(first).ok().flatten();
                if let Some(found) = serial.and_then(|(ii, time)| self.kept(ii, time)) {
                    return Some(found);
                }
                // Readers that must come iterations before their writers may need the room of several.
                for ii in std::iter::once(near).chain(capped.apart(near)) {
                    if let Verdict::Found(time) = capped.ask_briefly(ii)
                        && let Some(found) = self.kept(ii, time)
                    {
                        return Some(found);
                    }
                }
            }
        }
        None
    }

    /// The depth of every ring of a schedule.
    fn depths_at(&self, found: &Found) -> Vec<u64> {
        let (g, base) = (self.graph.whole(), &self.graph.problem);
        let order = body_order(base, g, found.ii, &found.time);
        let depths = depths_of(g, found.ii, &found.time, &order);
        let of = |r: &Ring| r.values.iter().filter_map(|&v| Some(depths.get(v)?.depth)).max().unwrap_or(1);
        self.rings.iter().map(of).collect()
    }

    /// These times, where the depths they need fit.
    fn kept(&self, ii: i64, time: Vec<i64>) -> Option<Found> {
        let (g, base) = (self.graph.whole(), &self.graph.problem);
        let order = body_order(base, g, ii, &time);
        let depths: Vec<u64> = depths_of(g, ii, &time, &order).iter().map(|d| d.depth).collect();
        let most = self.rings.iter().flat_map(|r| r.values.iter().map(|&v| (v, r.most)));
        let capped = most.into_iter().all(|(v, most)| depths.get(v).is_none_or(|d| *d <= most));
        let fits = capped && self.budget.overfilled(g, &depths).is_none();
        let steps = self.unlimited.steps;
        fits.then_some(Found { ii, time, lower_bound: 1, length_optimal: false, steps })
    }

    /// Better schedules from the heuristic, between the bound and the best, by halves; no answer to how low the II can be.
    fn descend(&self, session: &mut Session<'_>, first: i64, best: &mut Option<Found>) {
        let mut low = first;
        for _ in 0..ATTEMPTS {
            let Some(high) = best.as_ref().map(|b| b.ii) else { return };
            let ii = next_self_fit(&self.graph.problem, low + (high - low) / 2);
            if ii >= high || session.expired() {
                return;
            }
            let ways = self.ways.iter().filter(|w| w.least_ii <= ii).take(MOST_HEURISTIC);
            let found = ways.into_iter().find_map(|way| {
                let problem = self.problem(&way.depths, false);
                session.heuristic(&problem, ii).and_then(|time| self.kept(ii, time))
            });
            match found {
                Some(found) => *best = Some(found),
                None => low = ii,
            }
        }
    }

    /// Shortens within the depths found, then looks for fewer bytes; `None` when the order within a cycle makes
    /// a ring too long after all.
    fn settle(
        &self,
        session: &mut Session<'_>,
        problem: &Problem,
        ii: i64,
        time: Vec<i64>,
        proved: i64,
    ) -> Option<Found> {
        let g = self.graph.whole();
        let base = &self.graph.problem;
        let (time, _) = session.shorten_in(problem, ii, time);
        let time = relax(problem, g, ii, time, None);
        let (time, _) = fewer_bytes(base, g, ii, None, time, session);
        let order = body_order(base, g, ii, &time);
        let depths: Vec<u64> = depths_of(g, ii, &time, &order).iter().map(|d| d.depth).collect();
        if self.budget.overfilled(g, &depths).is_some() {
            return None;
        }
        let rings = rings(g);
        let chosen: Vec<u64> = rings
            .iter()
            .map(|r| r.values.first().and_then(|&v| depths.get(v)).copied().unwrap_or(1))
            .collect();
        let within = base.with_caps(g, &caps_of(g, &rings, &chosen, false));
        let (shorter, _) = session.shorten_in(&within, ii, time.clone());
        let order = body_order(base, g, ii, &shorter);
        let kept = depths_of(g, ii, &shorter, &order).iter().zip(&depths).all(|(d, have)| d.depth <= *have);
        let time = if kept && base.length(&shorter) <= base.length(&time) { shorter } else { time };
        let steps = self.unlimited.steps + session.steps();
        Some(Found { ii, time, lower_bound: proved, length_optimal: false, steps })
    }
}

/// Depths per value from depths per ring.
fn spread(graph: &LoopGraph, rings: &[Ring], depths: &[u64]) -> Vec<u64> {
    let mut all = vec![1; graph.values.len()];
    for (ring, d) in rings.iter().zip(depths) {
        ring.values.iter().for_each(|&v| all[v] = *d);
    }
    all
}
