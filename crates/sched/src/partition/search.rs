//! The search for the least II over all assignments, then for the least cost of crossings at it (S97).

use super::capacity::capacity_bound;
use super::frame::Frame;
use super::settle::{Candidate, with_times};
use crate::bounds::least_ii::bounds_of;
use crate::bounds::self_fit::next_self_fit;
use crate::driver::fixed::bound_by_search;
use crate::driver::stride::Stride;
use crate::exact::joint::{Joint, Placing};
use crate::exact::span::Span;
use crate::exact::split::Together;
use crate::exact::steps::StepBudget;
use crate::exact::verdict::Verdict;
use crate::model::answer::Algorithm;
use crate::model::error::ScheduleError;
use crate::model::guard::Guard;
use crate::model::options::ScheduleOptions;
use crate::model::problem::{Problem, own_caps};

/// Search nodes per question, as multiples of `steps`; `exact` may spend that much more.
const NODES_FACTOR: u64 = 4;
const EXACT_FACTOR: u64 = 200;
/// Work that a search node may take on average.
const WORK_PER_NODE: u64 = 20_000;
/// Attempts at a better schedule between the bound and the best.
const ATTEMPTS: usize = 12;
/// Loops of more operations are not searched: the network of a question has the square of their number.
const MOST_OPERATIONS: usize = 300;
/// Assignments whose registers do not suffice in the schedule found, before a question is given up.
const MOST_REJECTED: usize = 40;

/// What is known.
pub(super) struct Search<'f, 'a> {
    frame: &'f Frame<'a>,
    options: &'f ScheduleOptions,
    /// The loop with all dependences long whose ends are never together.
    problem: Problem,
    pub best: Option<Candidate>,
    /// Every smaller II is refuted, for all assignments.
    pub lower_bound: i64,
    /// No assignment at the best II costs less.
    pub crossings_optimal: bool,
    pub spent: u64,
}

/// What a question brought.
enum Asked {
    Better,
    Refuted,
    Undecided,
}

impl<'f, 'a> Search<'f, 'a> {
    /// # Errors
    /// [`ScheduleError::Partitions`] when no II suffices.
    pub fn new(
        frame: &'f Frame<'a>,
        problem: &Problem,
        options: &'f ScheduleOptions,
    ) -> Result<Self, ScheduleError> {
        let mut graph = frame.graph.clone();
        let apart = |src: u32, dst: u32| {
            let (a, b) = (frame.split.slice_of[src as usize], frame.split.slice_of[dst as usize]);
            frame.split.together(a, b) == Together::Never
        };
        let caps = own_caps(&graph);
        let long = frame.split.crossings.iter().filter(|c| apart(c.src, c.dst) && c.distance >= 0);
        long.for_each(|c| _ = graph.add_edge(c.src as usize, c.dst as usize, c.latency, c.distance));
        let problem = problem.with_caps(&graph, &caps);
        let Some(capacity) = capacity_bound(&frame.split) else {
            let message = "the partitions there may be cannot issue all operations".to_owned();
            return Err(ScheduleError::Partitions(message));
        };
        let lower_bound = next_self_fit(&problem, bounds_of(&problem).mii.max(capacity));
        Ok(Search { frame, options, problem, best: None, lower_bound, crossings_optimal: false, spent: 0 })
    }

    /// Takes a candidate where it is better.
    pub fn offer(&mut self, candidate: Candidate, guard: &mut Guard) {
        if self.best.as_ref().is_none_or(|best| candidate.cost() < best.cost()) {
            let ii = candidate.ii;
            guard.note(|p| (p.ii, p.best_ii) = (ii, Some(ii)));
            self.best = Some(candidate);
        }
    }

    fn searches(&self) -> bool {
        matches!(self.options.algorithm, Algorithm::Auto | Algorithm::Exact)
            && self.problem.n <= self.options.contract_limit.min(MOST_OPERATIONS)
    }

    fn budget(&self) -> StepBudget {
        let exact = if self.options.algorithm == Algorithm::Exact { EXACT_FACTOR } else { 1 };
        StepBudget::with_work(self.options.steps.saturating_mul(NODES_FACTOR * exact), WORK_PER_NODE)
    }

    /// The least II, then the least cost of crossings.
    pub fn run(&mut self, guard: &mut Guard) -> Result<(), ScheduleError> {
        if !self.searches() {
            return Ok(());
        }
        let end = |best: &Option<Candidate>| best.as_ref().map_or(i64::MAX, |b| b.ii);
        let first = self.options.min_ii.max(self.lower_bound);
        let last = self.options.max_ii.unwrap_or(i64::MAX);
        if first > last {
            return Err(ScheduleError::Infeasible { up_to: Some(last) });
        }
        // What no assignment can help is refuted without any.
        if self.lower_bound < end(&self.best) {
            let options = self.options.clone().algorithm(Algorithm::Auto).max_ii(None).min_ii(1);
            let (proved, _) = bound_by_search(&self.problem, &options, guard)?;
            self.lower_bound = self.lower_bound.max(proved.min(end(&self.best)));
        }
        let complete = self.refute_upwards(last, guard);
        if self.lower_bound > last {
            return Err(ScheduleError::Infeasible { up_to: Some(last) });
        }
        if !complete {
            self.improve(last, guard);
        }
        self.cheapen(guard);
        Ok(())
    }

    /// II after II from the bound on; true when the least is found.
    fn refute_upwards(&mut self, last: i64, guard: &mut Guard) -> bool {
        let mut stride = Stride::default();
        loop {
            let (ii, best) = (self.lower_bound, self.best.as_ref().map(|b| b.ii));
            guard.note(|p| (p.ii, p.lower_bound, p.best_ii) = (ii, ii, best));
            if best.is_some_and(|best| ii >= best) || ii > last {
                return true;
            }
            if guard.expired() {
                return false;
            }
            if stride.wide() {
                let span = stride.span(ii, best.map_or(last, |b| last.min(b - 1)));
                let refuted = span.low < span.high && self.refutes(span, stride.nodes(), guard);
                stride.adapt(span, refuted);
                if refuted {
                    self.lower_bound = next_self_fit(&self.problem, span.high + 1);
                }
                if refuted || stride.wide() {
                    continue;
                }
            }
            let before = self.spent;
            match self.ask(ii, self.budget(), guard) {
                Asked::Better => return true,
                Asked::Undecided => return false,
                Asked::Refuted => {
                    self.lower_bound = next_self_fit(&self.problem, ii + 1);
                    stride.widen(self.spent - before);
                }
            }
        }
    }

    fn refutes(&mut self, span: Span, nodes: u64, guard: &mut Guard) -> bool {
        let Some(mut joint) = Joint::new(&self.problem, &self.frame.split, span) else { return false };
        let mut budget = StepBudget::with_work(nodes.min(self.budget().nodes), WORK_PER_NODE);
        let verdict = joint.solve(u64::MAX, &mut budget, guard);
        self.spent += budget.spent;
        matches!(verdict, Err(Verdict::Refuted))
    }

    /// Is there an assignment with a schedule at this II?
    fn ask(&mut self, ii: i64, mut budget: StepBudget, guard: &mut Guard) -> Asked {
        let Some(mut joint) = Joint::new(&self.problem, &self.frame.split, Span::one(ii)) else {
            return Asked::Undecided;
        };
        if let Some(best) = &self.best {
            joint.prefer(&best.place_of);
        }
        let asked = self.next_of(&mut joint, ii, &mut budget, guard);
        self.spent += budget.spent;
        asked
    }

    /// The next assignment that has a schedule, of those that have not been excluded.
    fn next_of(
        &mut self,
        joint: &mut Joint<'f>,
        ii: i64,
        budget: &mut StepBudget,
        guard: &mut Guard,
    ) -> Asked {
        for rejected in 0..MOST_REJECTED {
            match joint.solve(u64::MAX, budget, guard) {
                Ok(Placing { place_of, times }) => {
                    let frame = self.frame;
                    match with_times(frame, place_of.clone(), ii, joint.active(), &times, self.options) {
                        Ok(candidate) => {
                            self.offer(candidate, guard);
                            return Asked::Better;
                        }
                        // Other times might hold fewer registers, so this proves nothing.
                        Err(_) => joint.exclude(&place_of),
                    }
                }
                Err(Verdict::Refuted) if rejected == 0 => return Asked::Refuted,
                Err(_) => return Asked::Undecided,
            }
        }
        Asked::Undecided
    }

    /// A better schedule between the bound and the best; none of the refutations counts (S29).
    fn improve(&mut self, last: i64, guard: &mut Guard) {
        let mut low = self.lower_bound;
        for _ in 0..ATTEMPTS {
            let high = self.best.as_ref().map_or(last, |b| b.ii);
            let step = if self.best.is_some() { (high - low) / 2 } else { low };
            let ii = next_self_fit(&self.problem, low.saturating_add(step)).min(last);
            if ii <= low || ii >= high && self.best.is_some() || guard.expired() {
                return;
            }
            match self.ask(ii, self.budget(), guard) {
                Asked::Better => {}
                Asked::Refuted | Asked::Undecided => low = ii,
            }
        }
    }

    /// Cheaper assignments at the best II, until none is left.
    fn cheapen(&mut self, guard: &mut Guard) {
        let Some(best) = self.best.clone() else { return };
        if best.crossings == 0 {
            self.crossings_optimal = true;
            return;
        }
        let Some(mut joint) = Joint::new(&self.problem, &self.frame.split, Span::one(best.ii)) else {
            return;
        };
        joint.prefer(&best.place_of);
        let (mut most, mut budget) = (best.crossings, self.budget());
        while most > 0 && !guard.expired() {
            joint.limit_cost(most - 1);
            match self.next_of(&mut joint, best.ii, &mut budget, guard) {
                Asked::Better => most = self.best.as_ref().map_or(0, |b| b.crossings),
                Asked::Refuted => {
                    self.crossings_optimal = true;
                    break;
                }
                Asked::Undecided => break,
            }
        }
        self.crossings_optimal |= most == 0;
        self.spent += budget.spent;
    }
}
