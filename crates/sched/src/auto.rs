//! From bounds to start times: a heuristic incumbent, then exact search from below (S28, S29).

use crate::answer::Algorithm;
use crate::bounds::{Bounds, next_self_fit, recurrence_bound};
use crate::compact::compact;
use crate::error::ScheduleError;
use crate::guard::Guard;
use crate::ims::Ims;
use crate::large::wrap_around;
use crate::normal::{Found, length};
use crate::options::Options;
use crate::paths::heads;
use crate::problem::Problem;
use crate::random::Random;
use crate::search::{Budget, Verdict, at_ii, at_length};
use crate::serial::serial;
use crate::sms::Swing;

/// `exact` may spend so many times the search nodes of `auto` on a question.
const EXACT_FACTOR: u64 = 2_000;

/// Placements after which the heuristics leave it at the serial schedule, but for so many rounds at least.
const MOST_PLACEMENTS: u64 = 300_000;
const LEAST_ROUNDS: u64 = 30;

/// `auto` spends such a part of `steps` on the length.
const LENGTH_PART: u64 = 10;

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

    fn searches(&self) -> bool {
        matches!(self.options.algorithm, Algorithm::Auto | Algorithm::Exact)
            && (0..self.problem.n).filter(|&v| !self.problem.uses(v).is_empty()).count()
                <= self.options.contract_limit
    }

    pub fn run(&mut self, bounds: &Bounds) -> Result<Found, ScheduleError> {
        let Some(recurrence) = recurrence_bound(&self.problem.dependences, false) else {
            return Err(ScheduleError::Infeasible { up_to: None });
        };
        let lower = next_self_fit(self.problem, bounds.mii.max(recurrence.bound));
        let last = self.options.max_ii.unwrap_or(i64::MAX);
        let first = lower.max(self.options.min_ii);
        if first > last {
            return Err(ScheduleError::Infeasible { up_to: Some(last) });
        }
        let (lower_bound, schedule) = self.scan(lower, first, last)?;
        let Some((ii, time)) = schedule else {
            return Err(ScheduleError::GaveUp { lower_bound });
        };
        let (time, length_optimal) = self.shorten(ii, time);
        let steps = self.steps();
        Ok(Found { ii, time, lower_bound, length_optimal, steps })
    }

    /// Goes through every II from the lower bound on (S29): the heuristic first, then the search, which also
    /// proves; at worst the serial schedule ends it. The proved lower bound, and the schedule.
    fn scan(&mut self, lower: i64, first: i64, last: i64) -> Result<(i64, Option<Schedule>), ScheduleError> {
        let fallback = self.fallback(first)?.filter(|(ii, _)| *ii <= last);
        if self.options.algorithm == Algorithm::Serial {
            return Ok((lower, fallback));
        }
        let end = fallback.as_ref().map_or(last, |(ii, _)| *ii);
        let searches = self.searches();
        let each = u64::from(self.options.ratio).saturating_mul(self.problem.n as u64);
        let most_placements = each.saturating_mul(LEAST_ROUNDS).max(MOST_PLACEMENTS);
        let swing = match self.options.algorithm {
            Algorithm::Sms => Swing::new(self.problem, lower),
            _ => None,
        };
        let (mut proved, mut complete, mut ii) = (lower, true, lower);
        while ii <= end && !self.guard.expired() {
            if heads(self.problem, ii).is_none() {
                // Circuits of negative distance bound II from above (S55): none of the larger ones holds either.
                if complete && fallback.is_none() {
                    return Err(ScheduleError::Infeasible { up_to: None });
                }
                break;
            }
            let found = match &swing {
                _ if ii < first => None,
                Some(swing) => {
                    self.placements += self.problem.n as u64;
                    swing.run(ii)
                }
                None => self.heuristic(ii),
            };
            // Large loops: what fails to fit operation by operation is laid out at once.
            let found = match found {
                None if !searches && self.options.algorithm == Algorithm::Auto && ii >= first => {
                    wrap_around(self.problem, ii)
                }
                found => found,
            };
            if let Some(time) = found {
                return Ok((proved, Some((ii, time))));
            }
            if searches && (ii < end || fallback.is_none()) {
                self.question();
                match at_ii(self.problem, ii, self.options.seed, &mut self.budget, self.guard) {
                    Verdict::Found(time) if ii >= first => return Ok((proved, Some((ii, time)))),
                    Verdict::Refuted if complete => proved = next_self_fit(self.problem, ii + 1),
                    Verdict::Refuted => {}
                    Verdict::Found(_) | Verdict::Undecided => complete = false,
                }
            } else {
                complete = false;
            }
            if self.placements > most_placements {
                break;
            }
            ii = next_self_fit(self.problem, ii + 1);
        }
        if proved > last {
            return Err(ScheduleError::Infeasible { up_to: Some(last) });
        }
        Ok((fallback.as_ref().map_or(proved, |(ii, _)| proved.min(*ii)), fallback))
    }

    fn heuristic(&mut self, ii: i64) -> Option<Vec<i64>> {
        self.heuristic_in(self.problem, ii)
    }

    fn heuristic_in(&mut self, problem: &Problem, ii: i64) -> Option<Vec<i64>> {
        let mut random = Random::new(self.options.seed);
        for attempt in 0..=self.options.restarts {
            let mut ims = Ims::new(problem, ii)?;
            if attempt > 0 {
                ims.shake(&mut random);
            }
            let found = ims.run(u64::from(self.options.ratio).saturating_mul(problem.n as u64));
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

    /// The shortest schedule at this II that the budget finds, and whether it is proved to be that (S36).
    fn shorten(&mut self, ii: i64, time: Vec<i64>) -> (Vec<i64>, bool) {
        if self.options.algorithm == Algorithm::Auto {
            // The length only lengthens the prologue (S69): the default spends less on it.
            self.question();
            self.left = self.left.min(self.options.steps / LENGTH_PART);
            self.budget = self.budget.renewed(0);
        }
        let mut time = compact(self.problem, ii, time);
        if self.searches()
            && let Some(other) = Swing::new(self.problem, ii).and_then(|swing| swing.run(ii))
        {
            let other = compact(self.problem, ii, other);
            if length(self.problem, &other) < length(self.problem, &time) {
                time = other;
            }
        }
        self.shorten_in(self.problem, ii, time)
    }

    /// As [`shorten`](Self::shorten), for the same loop with caps on depths.
    pub fn shorten_in(&mut self, problem: &Problem, ii: i64, time: Vec<i64>) -> (Vec<i64>, bool) {
        let shortest = |t: &[i64]| t.iter().zip(&problem.latency).map(|(h, l)| h + l).max().unwrap_or(0);
        let Some(mut low) = heads(problem, ii).map(|head| shortest(&head)) else { return (time, false) };
        let mut best = compact(problem, ii, time);
        let mut high = length(problem, &best);
        if !self.searches() {
            return (best, low == high);
        }
        // Everything below `low` is refuted while `proved`; `low` itself is asked first, then the middle.
        let (mut proved, mut target) = (true, low);
        while low < high && !self.guard.expired() {
            self.question();
            match at_length(problem, ii, target, self.options.seed, &mut self.budget, self.guard) {
                Verdict::Found(time) => {
                    high = length(problem, &time);
                    best = time;
                }
                Verdict::Refuted => low = target + 1,
                Verdict::Undecided => {
                    proved = false;
                    low = target + 1;
                }
            }
            target = low + (high - low) / 2;
        }
        (best, proved && low >= high)
    }
}
