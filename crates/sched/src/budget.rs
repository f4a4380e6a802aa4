//! Scheduling within a memory budget: II and ring depths together (S55-S60).

use crate::answer::{Answer, SpaceUse};
use crate::auto::Session;
use crate::bounds::{Bounds, bounds_of, next_self_fit, recurrence_bound};
use crate::bytes::{Ring, caps_of, fewer_bytes, rings};
use crate::error::{GraphError, GraphErrorKind, ScheduleError};
use crate::graph::LoopGraph;
use crate::guard::Guard;
use crate::normal::{Found, length, normal_form};
use crate::options::Options;
use crate::problem::Problem;
use crate::schedule::{schedule, self_check};
use crate::stages::relax;
use crate::validate::ValidGraph;
use std::collections::BTreeMap;

/// At most so many ways to spend the budget are looked at.
const MOST_VECTORS: usize = 256;

/// Prices depths: from the depth of every value, in the graph's order, to bytes per space.
pub type Footprint<'a> = &'a dyn Fn(&[u64]) -> BTreeMap<String, u64>;

/// Bytes there are per memory space.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Budget<'a> {
    /// Bytes per space.
    pub spaces: BTreeMap<String, u64>,
    /// Every slot is rounded up to a multiple of so many bytes. Default: 1.
    pub align: u64,
    /// Prices depths where slots are shared (S59); must not fall when a depth rises. Default: the sum of all
    /// slots and what the graph reserves.
    pub footprint: Option<Footprint<'a>>,
}

impl<'a> Budget<'a> {
    /// The budgets that the graph itself names.
    pub fn of(graph: &LoopGraph) -> Self {
        Budget { spaces: graph.budgets.clone(), align: 1, footprint: None }
    }

    /// Sets the bytes of one space.
    #[must_use]
    pub fn space(mut self, name: impl Into<String>, bytes: u64) -> Self {
        self.spaces.insert(name.into(), bytes);
        self
    }

    /// Sets the alignment of slots, bytes.
    #[must_use]
    pub fn align(mut self, bytes: u64) -> Self {
        self.align = bytes;
        self
    }

    /// Sets the pricing of depths.
    #[must_use]
    pub fn footprint(mut self, price: Footprint<'a>) -> Self {
        self.footprint = Some(price);
        self
    }

    fn price(&self, graph: &LoopGraph, depths: &[u64]) -> BTreeMap<String, u64> {
        if let Some(price) = self.footprint {
            return price(depths);
        }
        let align = self.align.max(1);
        let mut used: BTreeMap<String, u64> = graph.reserved.clone();
        for (v, d) in graph.values.iter().zip(depths) {
            let slot = v.bytes.div_ceil(align).saturating_mul(align);
            let sum = used.entry(v.space.clone()).or_default();
            *sum = sum.saturating_add(slot.saturating_mul(*d));
        }
        used
    }

    /// The first space that these depths overfill, with the bytes needed.
    fn overfilled(&self, graph: &LoopGraph, depths: &[u64]) -> Option<(String, u64, u64)> {
        let used = self.price(graph, depths);
        let over = self.spaces.iter().find(|(space, have)| used.get(*space).is_some_and(|u| u > have));
        over.map(|(space, have)| (space.clone(), used.get(space).copied().unwrap_or(0), *have))
    }
}

/// The least II at which some depths within the budget have a schedule, then the least bytes (S57).
///
/// The answer's `spaces` say what is used, which values have fewer slots than without the budget, and the II
/// without it.
///
/// # Errors
/// [`ScheduleError::BudgetInfeasible`] when even the least depths are too much, [`ScheduleError::Graph`] when a
/// value lies in a space without a budget, and those of [`schedule`].
pub fn schedule_within(
    graph: &ValidGraph<'_>,
    budget: &Budget<'_>,
    options: &Options,
) -> Result<Answer, ScheduleError> {
    let g = graph.graph();
    let unknown = g.values.iter().enumerate().filter(|(_, v)| !budget.spaces.contains_key(&v.space));
    let errors: Vec<GraphError> = unknown
        .map(|(i, v)| GraphError {
            at: format!("values[{i}]"),
            kind: GraphErrorKind::UnknownSpace(v.space.clone()),
        })
        .take(100)
        .collect();
    if !errors.is_empty() {
        return Err(ScheduleError::Graph(errors));
    }
    let free = schedule(graph, &options.clone().slack_slots(0))?;
    let depths: Vec<u64> = free.values.iter().map(|v| v.depth).collect();
    if budget.overfilled(g, &depths).is_none() {
        return Ok(with_spaces(g, budget, free.clone(), &free));
    }
    let mut guard = Guard::new(options);
    let bounds = bounds_of(&graph.problem);
    let mut sweep = Sweep::new(graph, budget, options, &free)?;
    let found = sweep.run(&bounds, &mut guard)?;
    let mut answer = normal_form(graph, &bounds, found, options.algorithm);
    answer.stopped_by = guard.stopped_by();
    answer.micros = free.micros.saturating_add(guard.micros());
    let answer = with_spaces(g, budget, answer, &free);
    self_check(graph, &answer)?;
    Ok(answer)
}

fn with_spaces(graph: &LoopGraph, budget: &Budget<'_>, mut answer: Answer, free: &Answer) -> Answer {
    let depths: Vec<u64> = answer.values.iter().map(|v| v.depth).collect();
    let used = budget.price(graph, &depths);
    let spaces = budget.spaces.iter().filter(|(space, _)| graph.values.iter().any(|v| v.space == **space));
    let cut = |space: &str| {
        let shorter = answer.values.iter().zip(&free.values).zip(&graph.values);
        let shorter = shorter.filter(|((a, f), v)| v.space == space && a.depth < f.depth);
        shorter.map(|((a, _), _)| a.id).collect()
    };
    let spaces = spaces.map(|(space, have)| SpaceUse {
        space: space.clone(),
        used: used.get(space).copied().unwrap_or(0),
        budget: *have,
        cut: cut(space),
        unlimited_ii: free.ii,
    });
    answer.spaces = spaces.collect();
    answer
}

/// A way to spend the budget: depths that cannot be raised any more, and the II they need at least.
struct Spending {
    depths: Vec<u64>,
    least_ii: i64,
}

struct Sweep<'g, 'a, 'b> {
    graph: &'g ValidGraph<'a>,
    budget: &'g Budget<'b>,
    options: &'g Options,
    rings: Vec<Ring>,
    ways: Vec<Spending>,
    /// All ways are known, so that refuting each refutes an II.
    complete: bool,
    unlimited: Found,
}

impl<'g, 'a, 'b> Sweep<'g, 'a, 'b> {
    fn new(
        graph: &'g ValidGraph<'a>,
        budget: &'g Budget<'b>,
        options: &'g Options,
        free: &Answer,
    ) -> Result<Self, ScheduleError> {
        let g = graph.graph();
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
        let g = self.graph.graph();
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
        let g = self.graph.graph();
        self.graph.problem.with_caps(g, &caps_of(g, &self.rings, depths, strict))
    }

    fn run(&mut self, bounds: &Bounds, guard: &mut Guard) -> Result<Found, ScheduleError> {
        let base = &self.graph.problem;
        let start = self.unlimited.lower_bound;
        let least = self.ways.iter().map(|w| w.least_ii).min();
        let Some(least) = least else { return Err(ScheduleError::GaveUp { lower_bound: start }) };
        let lower = if self.complete { next_self_fit(base, start.max(least)) } else { start };
        let first = next_self_fit(base, start.max(least).max(self.options.min_ii).max(bounds.mii));
        let last = self.options.max_ii.unwrap_or(i64::MAX);
        let (mut proved, mut refuting) = (lower, self.complete && first <= lower.max(self.options.min_ii));
        let mut session = Session::new(base, self.options, guard);
        let mut ii = first;
        while ii <= last && !session.expired() {
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
            if session.exhausted() {
                break;
            }
            ii = next;
        }
        Err(ScheduleError::GaveUp { lower_bound: proved })
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
        let g = self.graph.graph();
        let base = &self.graph.problem;
        let (time, _) = session.shorten_in(problem, ii, time);
        let time = relax(problem, g, ii, time, None);
        let (time, _) = fewer_bytes(base, g, ii, None, time, session);
        let order = crate::order::body_order(base, g, ii, &time);
        let depths: Vec<u64> =
            crate::depth::depths_of(g, ii, &time, &order).iter().map(|d| d.depth).collect();
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
        let order = crate::order::body_order(base, g, ii, &shorter);
        let kept = crate::depth::depths_of(g, ii, &shorter, &order)
            .iter()
            .zip(&depths)
            .all(|(d, have)| d.depth <= *have);
        let time = if kept && length(base, &shorter) <= length(base, &time) { shorter } else { time };
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
