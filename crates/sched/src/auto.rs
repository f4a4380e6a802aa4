//! From bounds to start times: a heuristic incumbent, then exact search from below (S28, S29).

use crate::answer::Algorithm;
use crate::bounds::{Bounds, next_self_fit, recurrence_bound};
use crate::error::ScheduleError;
use crate::guard::Guard;
use crate::ims::Ims;
use crate::normal::{Found, length};
use crate::options::Options;
use crate::paths::heads;
use crate::problem::Problem;
use crate::search::{Budget, Verdict, at_ii, at_length};
use crate::serial::serial;

/// `exact` may spend so many times the search nodes of `auto` on a question.
const EXACT_FACTOR: u64 = 2_000;

/// One run of the scheduler.
pub(crate) struct Session<'a> {
    problem: &'a Problem,
    options: &'a Options,
    guard: &'a mut Guard,
    placements: u64,
    budget: Budget,
}

/// An II and times at it.
type Schedule = (i64, Vec<i64>);

impl<'a> Session<'a> {
    pub fn new(problem: &'a Problem, options: &'a Options, guard: &'a mut Guard) -> Self {
        Session { problem, options, guard, placements: 0, budget: Budget::new(0) }
    }

    fn question(&mut self) {
        let factor = if self.options.algorithm == Algorithm::Exact { EXACT_FACTOR } else { 1 };
        self.budget = self.budget.renewed(self.options.steps.saturating_mul(factor));
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
        let incumbent = self.incumbent(first, last)?;
        let (lower_bound, schedule) = self.prove(lower, first, last, incumbent)?;
        let Some((ii, time)) = schedule else {
            return Err(ScheduleError::GaveUp { lower_bound });
        };
        let (time, length_optimal) = self.shorten(ii, time);
        let steps = self.placements + self.budget.spent;
        Ok(Found { ii, time, lower_bound, length_optimal, steps })
    }

    /// The first II at which the heuristics find a schedule; at worst the serial one.
    fn incumbent(&mut self, first: i64, last: i64) -> Result<Option<Schedule>, ScheduleError> {
        let fallback = self.fallback(first)?.filter(|(ii, _)| *ii <= last);
        if self.options.algorithm == Algorithm::Serial {
            return Ok(fallback);
        }
        let scan_end = fallback.as_ref().map_or(last.saturating_add(1), |(ii, _)| *ii);
        let mut ii = next_self_fit(self.problem, first);
        while ii < scan_end && !self.guard.expired() {
            let Some(mut ims) = Ims::new(self.problem, ii) else { break };
            let found = ims.run(u64::from(self.options.ratio).saturating_mul(self.problem.n as u64));
            self.placements += ims.steps;
            if let Some(time) = found {
                return Ok(Some((ii, time)));
            }
            ii = next_self_fit(self.problem, ii + 1);
        }
        Ok(fallback)
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

    /// Decides every II from the lower bound up to the incumbent (S29). The proved lower bound, and the best
    /// schedule.
    fn prove(
        &mut self,
        lower: i64,
        first: i64,
        last: i64,
        incumbent: Option<Schedule>,
    ) -> Result<(i64, Option<Schedule>), ScheduleError> {
        if !self.searches() {
            return Ok((lower, incumbent));
        }
        let end = incumbent.as_ref().map_or(last.saturating_add(1), |(ii, _)| *ii);
        let (mut proved, mut complete, mut ii) = (lower, true, lower);
        while ii < end && !self.guard.expired() {
            self.question();
            match at_ii(self.problem, ii, self.options.seed, &mut self.budget, self.guard) {
                Verdict::Found(time) if ii >= first => return Ok((proved, Some((ii, time)))),
                Verdict::Refuted if complete => proved = next_self_fit(self.problem, ii + 1),
                Verdict::Refuted => {}
                Verdict::Found(_) | Verdict::Undecided => complete = false,
            }
            ii = next_self_fit(self.problem, ii + 1);
        }
        if proved > last {
            return Err(ScheduleError::Infeasible { up_to: Some(last) });
        }
        Ok((proved.min(end), incumbent))
    }

    /// The shortest schedule at this II that the budget finds, and whether it is proved to be that (S36).
    fn shorten(&mut self, ii: i64, time: Vec<i64>) -> (Vec<i64>, bool) {
        let shortest = |t: &[i64]| t.iter().zip(&self.problem.latency).map(|(h, l)| h + l).max().unwrap_or(0);
        let Some(mut low) = heads(self.problem, ii).map(|head| shortest(&head)) else { return (time, false) };
        let mut best = time;
        let mut high = length(self.problem, &best);
        if !self.searches() {
            return (best, low == high);
        }
        // Everything below `low` is refuted while `proved`; `low` itself is asked first, then the middle.
        let (mut proved, mut target) = (true, low);
        while low < high && !self.guard.expired() {
            self.question();
            match at_length(self.problem, ii, target, self.options.seed, &mut self.budget, self.guard) {
                Verdict::Found(time) => {
                    high = length(self.problem, &time);
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
