//! The search for the least II over all assignments, then for the least cost of crossings at it (S97).

use super::capacity::capacity_bound;
use super::frame::Frame;
use super::settle::{Candidate, schedule_at, with_times};
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

/// Questions about IIs: loops that no II suits must come to an end.
const MOST_QUESTIONS: usize = 10_000;
/// Assignments that no II helps, before questions are given up.
const MOST_IMPOSSIBLE: usize = 400;
/// Assignments that are scheduled one by one, and the search nodes for finding them.
const MOST_ASSIGNMENTS: usize = 200;
const LEAST_NODES: u64 = 1_000;

/// An attempt before any refutation may take such a part of the steps.
const BRIEF: u64 = 20;
/// A gap between the bound and the best is narrow up to such a part of the bound.
const NARROW: i64 = 64;

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
    /// Questions about places and times were answered, as far as they were asked.
    joint: bool,
    /// Assignments that no II helps.
    impossible: Vec<Vec<u32>>,
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
        Ok(Search {
            frame,
            options,
            problem,
            best: None,
            lower_bound,
            crossings_optimal: false,
            spent: 0,
            joint: false,
            impossible: Vec::new(),
        })
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
        self.joint = true;
        self.improve(last, self.options.steps / BRIEF, guard);
        self.refute_gap(guard);
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
            self.improve(last, u64::MAX, guard);
        }
        self.cheapen(guard);
        Ok(())
    }

    /// A narrow gap between the bound and the best is mostly refuted as a whole, or not at all.
    fn refute_gap(&mut self, guard: &mut Guard) {
        let Some(best) = self.best.as_ref().map(|b| b.ii) else { return };
        let span = Span { low: self.lower_bound, high: best - 1 };
        let narrow = span.low <= span.high && (span.high - span.low).saturating_mul(NARROW) <= span.low;
        if narrow && self.refutes(span, self.options.steps.saturating_mul(2), guard) {
            self.lower_bound = best;
        }
    }

    /// II after II from the bound on; true when the least is found.
    fn refute_upwards(&mut self, last: i64, guard: &mut Guard) -> bool {
        let mut stride = Stride::default();
        for _ in 0..MOST_QUESTIONS {
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
        false
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
            self.joint = false;
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
        self.impossible.iter().for_each(|place_of| joint.exclude(place_of));
        let mut doubtful = 0;
        while doubtful < MOST_REJECTED && self.impossible.len() < MOST_IMPOSSIBLE {
            match joint.solve(u64::MAX, budget, guard) {
                Ok(Placing { place_of, times }) => {
                    let frame = self.frame;
                    match with_times(frame, place_of.clone(), ii, joint.active(), &times, self.options) {
                        Ok(candidate) => {
                            self.offer(candidate, guard);
                            return Asked::Better;
                        }
                        Err(ScheduleError::Infeasible { .. }) => {
                            self.impossible.push(place_of.clone());
                            if self.hopeless() {
                                return Asked::Undecided;
                            }
                        }
                        // Other times might hold fewer registers, so this proves nothing.
                        Err(_) => doubtful += 1,
                    }
                    joint.exclude(&place_of);
                }
                Err(Verdict::Refuted) if doubtful == 0 => return Asked::Refuted,
                Err(_) => return Asked::Undecided,
            }
        }
        Asked::Undecided
    }

    /// Whether all assignments are impossible: then no larger II is worth a question.
    fn hopeless(&self) -> bool {
        let mut untimed = Joint::untimed(&self.frame.split, i64::MAX);
        self.impossible.iter().for_each(|place_of| untimed.exclude(place_of));
        let mut budget = StepBudget::with_work(LEAST_NODES, WORK_PER_NODE);
        let mut patient = Guard::new(&ScheduleOptions::default());
        matches!(untimed.solve(u64::MAX, &mut budget, &mut patient), Err(Verdict::Refuted))
    }

    /// A better schedule between the bound and the best, with so many search nodes each; none of the refutations counts (S29).
    fn improve(&mut self, last: i64, nodes: u64, guard: &mut Guard) {
        let mut low = self.lower_bound;
        for _ in 0..ATTEMPTS {
            let high = self.best.as_ref().map_or(last, |b| b.ii);
            let step = if self.best.is_some() { (high - low) / 2 } else { low };
            let ii = next_self_fit(&self.problem, low.saturating_add(step)).min(last);
            if ii <= low || ii >= high && self.best.is_some() || guard.expired() {
                return;
            }
            let budget = StepBudget::with_work(self.budget().nodes.min(nodes), WORK_PER_NODE);
            match self.ask(ii, budget, guard) {
                Asked::Better => {}
                Asked::Refuted | Asked::Undecided => low = ii,
            }
        }
    }

    /// Where places and times are not searched together, or nothing was found: one assignment after the other, each as a
    /// loop of its own. True when that has looked at all of them, which is a proof.
    pub fn one_by_one(&mut self, options: &ScheduleOptions, guard: &mut Guard) -> bool {
        if self.joint && self.best.is_some() {
            return false;
        }
        let (mut untimed, mut seen) = (Joint::untimed(&self.frame.split, i64::MAX), Vec::new());
        let mut budget = StepBudget::with_work(options.steps.max(LEAST_NODES), WORK_PER_NODE);
        // One schedule is wanted at any time limit.
        let mut patient = Guard::new(&options.clone().time_limit(None).observer(None));
        while seen.len() < MOST_ASSIGNMENTS && (self.best.is_none() || !guard.expired()) {
            match untimed.solve(u64::MAX, &mut budget, &mut patient) {
                Ok(Placing { place_of, .. }) => {
                    untimed.exclude(&place_of);
                    let crossings = self.frame.split.cost(&place_of);
                    let (bound, found) = schedule_at(self.frame, place_of, options, guard);
                    seen.push((bound, crossings));
                    if let Ok(candidate) = found {
                        self.offer(candidate, guard);
                    }
                }
                Err(Verdict::Refuted) => {
                    self.conclude(&seen);
                    return true;
                }
                Err(_) => return false,
            }
        }
        false
    }

    /// Takes the bounds of all assignments, and what each costs, for those of the loop.
    fn conclude(&mut self, seen: &[(i64, i64)]) {
        let Some(best) = &self.best else { return };
        let least = seen.iter().map(|&(bound, _)| bound).min().unwrap_or(i64::MAX);
        self.lower_bound = self.lower_bound.max(least).min(best.ii);
        let (ii, paid) = best.cost();
        self.crossings_optimal |= seen.iter().all(|&(bound, crossings)| bound > ii || crossings >= paid);
    }

    /// Cheaper assignments at the best II, until none is left.
    fn cheapen(&mut self, guard: &mut Guard) {
        let Some(best) = self.best.clone() else { return };
        if best.crossings == 0 {
            self.crossings_optimal = true;
            return;
        }
        let Some(mut joint) = Joint::new(&self.problem, &self.frame.split, Span::one(best.ii)) else {
            self.joint = false;
            return;
        };
        joint.prefer(&best.place_of);
        let (mut most, mut budget) = (best.crossings, self.budget());
        let mut untimed = Joint::untimed(&self.frame.split, best.ii);
        while most > 0 && !guard.expired() {
            // Often no times are needed to see that no places cost less.
            untimed.limit_cost(most - 1);
            let mut brief = StepBudget::with_work(self.options.steps, WORK_PER_NODE);
            let verdict = untimed.solve(u64::MAX, &mut brief, guard);
            self.spent += brief.spent;
            if matches!(verdict, Err(Verdict::Refuted)) {
                self.crossings_optimal = true;
                break;
            }
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
