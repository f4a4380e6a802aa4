//! From bounds to start times: a heuristic incumbent, then exact search from below (S28, S29).

mod length;
mod room;
mod stride;

use crate::answer::Algorithm;
use crate::bounds::{Bounds, next_self_fit, recurrence_bound};
use crate::error::ScheduleError;
use crate::guard::Guard;
use crate::ims::Ims;
use crate::joint::joint_bound;
use crate::large::wrap_around;
use crate::normal::{Found, length};
use crate::options::Options;
use crate::paths::heads;
use crate::problem::Problem;
use crate::random::Random;
use crate::search::{Budget, Span, Verdict, at_ii, at_length, refutes};
use crate::serial::serial;
use crate::sms::Swing;
use stride::Stride;

/// `exact` may spend so many times the search nodes of `auto` on a question.
const EXACT_FACTOR: u64 = 2_000;

/// Placements after which the heuristics leave it at the serial schedule, but for so many rounds at least.
const MOST_PLACEMENTS: u64 = 300_000;
const LEAST_ROUNDS: u64 = 30;

/// Proofs that may be tried without a placement: loops that no II suits must come to an end.
const MOST_REFUTED: u32 = 25_000;

/// Of larger loops a part of the operations may be placed again before all slots are laid out at once.
const LARGE: usize = 5_000;
const LARGE_PART: u64 = 16;
/// A resource is full when less than such a part of its cycles is free.
const FULL: i128 = 256;

/// Attempts at a better fallback, and the part of a question's budget that each takes.
const INCUMBENTS: usize = 12;
const BRIEF: u64 = 8;

/// A question may spend such a part of what is left.
const QUESTIONS: u64 = 4;

/// One run of the scheduler.
pub(crate) struct Session<'a> {
    problem: &'a Problem,
    options: &'a Options,
    guard: &'a mut Guard,
    placements: u64,
    budget: Budget,
    /// Search nodes left for all further questions (S45).
    left: u64,
}

/// An II and times at it.
type Schedule = (i64, Vec<i64>);

impl<'a> Session<'a> {
    pub fn new(problem: &'a Problem, options: &'a Options, guard: &'a mut Guard) -> Self {
        let exact = options.algorithm == Algorithm::Exact;
        let left =
            options.steps.saturating_mul(if exact { EXACT_FACTOR } else { 1 }).saturating_mul(QUESTIONS);
        Session { problem, options, guard, placements: 0, budget: Budget::new(0), left }
    }

    /// Gives the next question its share of the search nodes.
    fn question(&mut self) {
        self.left = self.left.saturating_sub(self.budget.granted - self.budget.nodes);
        self.budget = self.budget.renewed(self.left / QUESTIONS);
    }

    /// Gives all of them to one search.
    fn last_question(&mut self) {
        self.question();
        self.budget = self.budget.renewed(self.left);
    }

    fn searches(&self) -> bool {
        matches!(self.options.algorithm, Algorithm::Auto | Algorithm::Exact)
            && (0..self.problem.n).filter(|&v| !self.problem.uses(v).is_empty()).count()
                <= self.options.contract_limit
    }

    pub fn run(&mut self, bounds: &Bounds) -> Result<Found, ScheduleError> {
        let Some(recurrence) = recurrence_bound(&self.problem.dependences, false) else {
            return Err(ScheduleError::Infeasible { up_to: None });
        };
        let joint = if self.searches() { joint_bound(self.problem) } else { 1 };
        let lower = next_self_fit(self.problem, bounds.mii.max(recurrence.bound).max(joint));
        let last = self.options.max_ii.unwrap_or(i64::MAX);
        let first = lower.max(self.options.min_ii);
        if first > last {
            return Err(ScheduleError::Infeasible { up_to: Some(last) });
        }
        let (lower_bound, schedule) = match self.options.algorithm {
            Algorithm::Exact => self.scan_twice(lower, first, last)?,
            _ => self.scan(lower, first, last, None)?,
        };
        let Some((ii, time)) = schedule else {
            return Err(ScheduleError::GaveUp { lower_bound });
        };
        let found = length(self.problem, &time);
        self.guard.note(|p| (p.ii, p.best_ii, p.best_length) = (ii, Some(ii), Some(found)));
        let (time, length_optimal) = self.shorten(ii, time);
        let steps = self.steps();
        Ok(Found { ii, time, lower_bound, length_optimal, steps })
    }

    /// As `auto` does, and then with all the budget below what that found: time that runs out costs the proof alone.
    fn scan_twice(
        &mut self,
        lower: i64,
        first: i64,
        last: i64,
    ) -> Result<(i64, Option<Schedule>), ScheduleError> {
        let options = Options { algorithm: Algorithm::Auto, ..self.options.clone() };
        let mut quick = Session::new(self.problem, &options, self.guard);
        let (proved, found) = quick.scan(lower, first, last, None)?;
        let (placements, spent) = (quick.placements, quick.budget.spent);
        let scanned = if found.as_ref().is_some_and(|(ii, _)| *ii <= proved.max(first)) {
            (proved, found)
        } else {
            self.scan(proved, first.max(proved), last, found)?
        };
        // Only now, as a scan ends by what it has placed itself.
        self.placements += placements;
        self.budget.spent += spent;
        Ok(scanned)
    }

    /// Goes through every II from the lower bound on (S29): the heuristic first, then the search, which also
    /// proves; at worst the schedule that is known, or the serial one, ends it. The proved lower bound, and the schedule.
    fn scan(
        &mut self,
        lower: i64,
        first: i64,
        last: i64,
        known: Option<Schedule>,
    ) -> Result<(i64, Option<Schedule>), ScheduleError> {
        let fallback = if known.is_some() { known } else { self.fallback(first)? };
        let mut fallback = fallback.filter(|(ii, _)| *ii <= last);
        if self.options.algorithm == Algorithm::Serial {
            return Ok((lower, fallback));
        }
        let mut end = fallback.as_ref().map_or(last, |(ii, _)| *ii);
        let searches = self.searches();
        let most_placements = self.most_placements().saturating_mul(LEAST_ROUNDS).max(MOST_PLACEMENTS);
        let swing = match self.options.algorithm {
            Algorithm::Sms => Swing::new(self.problem, lower),
            _ => None,
        };
        let (mut proved, mut complete, mut ii, mut extra) = (lower, true, lower, 0);
        // After a refutation the next II is likely to be refuted, too, so the search is asked before the heuristic.
        let (mut doubtful, mut spared) = (false, 0u32);
        let mut stride = Stride::default();
        loop {
            let best = fallback.as_ref().map(|(ii, _)| *ii);
            self.guard.note(|p| (p.ii, p.lower_bound, p.best_ii) = (ii, proved, best));
            if ii > end || spared > MOST_REFUTED || self.guard.expired() {
                break;
            }
            if heads(self.problem, ii).is_none() {
                // Circuits of negative distance bound II from above (S55): none of the larger ones holds either.
                if complete && fallback.is_none() {
                    return Err(ScheduleError::Infeasible { up_to: None });
                }
                break;
            }
            let open = searches && (ii < end || fallback.is_none());
            if open && complete && stride.wide() {
                let most = if fallback.is_some() { end - 1 } else { end };
                let span = stride.span(ii, most.min(last));
                let refuted = span.low < span.high && self.refutes(span, stride.nodes());
                stride.adapt(span, refuted);
                spared += 1;
                if refuted {
                    proved = next_self_fit(self.problem, span.high + 1);
                    ii = proved;
                }
                if refuted || stride.wide() {
                    continue;
                }
            }
            let before = self.budget.spent;
            let asked = if open && doubtful { Some(self.ask_at(ii)) } else { None };
            if asked == Some(Verdict::Refuted) {
                spared += 1;
                stride.widen(self.budget.spent - before);
            }
            let found = match &swing {
                _ if ii < first || asked == Some(Verdict::Refuted) => None,
                Some(swing) => {
                    self.placements += self.problem.n as u64;
                    swing.run(ii)
                }
                // One after the other does not fit where nothing may be left over.
                None if self.thrifty() && self.full(ii) => None,
                None => self.heuristic(ii),
            };
            // Large loops: what fails to fit operation by operation is laid out at once.
            let found = match found {
                None if !searches && self.options.algorithm == Algorithm::Auto && ii >= first => {
                    let laid_out = wrap_around(self.problem, ii);
                    let most = self.most_placements();
                    laid_out
                        .or_else(|| if self.thrifty() { self.place(self.problem, ii, most) } else { None })
                }
                found => found,
            };
            if let Some(time) = found {
                // Below it nothing is left open, or the other heuristic may look there.
                (end, fallback) = (ii, Some((ii, time)));
                break;
            }
            if open {
                let verdict = asked.unwrap_or_else(|| self.ask_at(ii));
                doubtful = verdict == Verdict::Refuted;
                match verdict {
                    Verdict::Found(time) if ii >= first => {
                        (end, fallback) = (ii, Some((ii, time)));
                        break;
                    }
                    Verdict::Refuted if complete => proved = next_self_fit(self.problem, ii + 1),
                    Verdict::Refuted => {}
                    Verdict::Found(_) => complete = false,
                    Verdict::Undecided => {
                        // Its placements are no part of the scan's, which goes as far as that of `ims` does.
                        let before = self.placements;
                        if complete && let Some(better) = self.incumbent(ii.max(first), end) {
                            end = better.0;
                            fallback = Some(better);
                        }
                        extra += std::mem::replace(&mut self.placements, before) - before;
                        complete = false;
                    }
                }
            } else {
                complete = false;
            }
            if self.placements > most_placements {
                break;
            }
            ii = next_self_fit(self.problem, ii + 1);
        }
        self.placements += extra;
        if proved > last {
            return Err(ScheduleError::Infeasible { up_to: Some(last) });
        }
        // The other heuristic sometimes gets further than the first.
        if searches && self.options.algorithm == Algorithm::Auto && !complete {
            let least = proved.max(first);
            if let Some(found) = self.swing(least, end.min(last.saturating_add(1)), most_placements) {
                return Ok((proved.min(found.0), Some(found)));
            }
        }
        Ok((fallback.as_ref().map_or(proved, |(ii, _)| proved.min(*ii)), fallback))
    }

    /// A schedule at an II above one that was left undecided: no answer to how low the II can be (S29), only a
    /// better fallback than the serial schedule. Growing steps upwards, then the middle for a while.
    fn incumbent(&mut self, above: i64, end: i64) -> Option<Schedule> {
        if self.options.algorithm == Algorithm::Ims {
            return None;
        }
        let (mut low, mut step) = (above, (above / 64).max(1));
        let mut found: Option<Schedule> = None;
        for _ in 0..INCUMBENTS {
            let high = found.as_ref().map_or(end, |(ii, _)| *ii);
            let target = if found.is_some() { low + (high - low) / 2 } else { low.saturating_add(step) };
            let ii = next_self_fit(self.problem, target);
            if ii >= high || ii <= low {
                break;
            }
            let heuristic = self.heuristic(ii);
            let time = heuristic.or_else(|| match self.ask_briefly(ii) {
                Verdict::Found(time) => Some(time),
                _ => None,
            });
            match time {
                Some(time) => found = Some((ii, time)),
                None => (low, step) = (ii, step.saturating_mul(2)),
            }
        }
        found
    }

    /// Swing modulo scheduling below an II that is known to do.
    fn swing(&mut self, least: i64, below: i64, most_placements: u64) -> Option<Schedule> {
        let swing = Swing::new(self.problem, least)?;
        let (mut ii, mut placements) = (least, 0);
        while ii < below && placements <= most_placements && !self.guard.expired() {
            placements += self.problem.n as u64;
            if let Some(time) = swing.run(ii) {
                return Some((ii, time));
            }
            ii = next_self_fit(self.problem, ii + 1);
        }
        None
    }

    fn ask_at(&mut self, ii: i64) -> Verdict {
        self.question();
        at_ii(self.problem, ii, self.options.seed, &mut self.budget, self.guard)
    }

    /// Whether one proof of so many search nodes refutes all these IIs.
    fn refutes(&mut self, span: Span, most: u64) -> bool {
        self.question();
        self.budget = self.budget.renewed(self.budget.nodes.min(most));
        refutes(self.problem, span, &mut self.budget, self.guard)
    }

    fn ask_briefly(&mut self, ii: i64) -> Verdict {
        self.question();
        self.budget = self.budget.renewed(self.budget.nodes / BRIEF);
        at_ii(self.problem, ii, self.options.seed, &mut self.budget, self.guard)
    }

    fn heuristic(&mut self, ii: i64) -> Option<Vec<i64>> {
        self.heuristic_in(self.problem, ii)
    }

    /// Whether there is another way that is worth trying early ([`wrap_around`]).
    fn thrifty(&self) -> bool {
        self.options.algorithm == Algorithm::Auto && self.problem.n > LARGE
    }

    /// Whether some resource has hardly a cycle to spare.
    fn full(&self, ii: i64) -> bool {
        self.problem.held().iter().zip(&self.problem.count).any(|(&held, &count)| {
            let room = i128::from(ii) * i128::from(count);
            (room - i128::from(held)) * FULL < room
        })
    }

    /// Placements of one attempt.
    fn most_placements(&self) -> u64 {
        u64::from(self.options.ratio).saturating_mul(self.problem.n as u64)
    }

    fn heuristic_in(&mut self, problem: &Problem, ii: i64) -> Option<Vec<i64>> {
        let most = self.most_placements();
        let n = problem.n as u64;
        self.place(problem, ii, if self.thrifty() { most.min(n + n / LARGE_PART) } else { most })
    }

    fn place(&mut self, problem: &Problem, ii: i64, most: u64) -> Option<Vec<i64>> {
        let mut random = Random::new(self.options.seed);
        for attempt in 0..=self.options.restarts {
            let mut ims = Ims::new(problem, ii)?;
            if attempt > 0 {
                ims.shake(&mut random);
            }
            let found = ims.run(most);
            self.placements += ims.steps;
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// A schedule that is there without search: the serial one, or with windows that of a single iteration, at
    /// an II so large that iterations do not meet. There may be none (S42).
    fn fallback(&mut self, first: i64) -> Result<Option<Schedule>, ScheduleError> {
        let p = self.problem;
        if let Some(found) = serial(p) {
            let (ii, time) = found;
            let ii = next_self_fit(p, ii.max(first));
            let all_hold = p
                .dependences
                .arcs
                .iter()
                .all(|a| time[a.src as usize] + a.weight(ii) <= time[a.dst as usize]);
            return Ok(all_hold.then_some((ii, time)));
        }
        if p.dependences.arcs.iter().any(|a| a.distance < 0) {
            return Ok(None);
        }
        let latencies = p.dependences.arcs.iter().map(|a| a.latency.unsigned_abs()).sum::<u64>();
        let held = p.all_uses().iter().map(|u| (u.start + u.duration) as u64).sum::<u64>();
        let Ok(apart) = i64::try_from(latencies.saturating_add(held).saturating_add(first as u64)) else {
            return Ok(None);
        };
        self.question();
        match at_ii(p, apart, self.options.seed, &mut self.budget, self.guard) {
            Verdict::Found(time) => Ok(Some((apart, time))),
            Verdict::Refuted => Err(ScheduleError::Infeasible { up_to: None }),
            Verdict::Undecided => Ok(None),
        }
    }

    /// A question about another form of the same loop: is there a schedule at this II, and of this length?
    pub fn ask(&mut self, problem: &Problem, ii: i64, length: Option<i64>) -> Verdict {
        if !self.searches() {
            return Verdict::Undecided;
        }
        self.question();
        let seed = self.options.seed;
        match length {
            Some(length) => at_length(problem, ii, length, seed, &mut self.budget, self.guard),
            None => at_ii(problem, ii, seed, &mut self.budget, self.guard),
        }
    }

    /// Heuristic and search at one II: times, a refutation, or (outer `None`) neither.
    pub fn decide(&mut self, problem: &Problem, ii: i64) -> Option<Option<Vec<i64>>> {
        if let Some(time) = self.heuristic_in(problem, ii) {
            return Some(Some(time));
        }
        match self.ask(problem, ii, None) {
            Verdict::Found(time) => Some(Some(time)),
            Verdict::Refuted => Some(None),
            Verdict::Undecided => None,
        }
    }

    pub fn expired(&mut self) -> bool {
        self.guard.expired()
    }

    /// Nothing more can be found in the budget.
    pub fn exhausted(&self) -> bool {
        self.placements > MOST_PLACEMENTS && self.left < QUESTIONS
    }

    pub fn steps(&self) -> u64 {
        self.placements + self.budget.spent
    }
}
