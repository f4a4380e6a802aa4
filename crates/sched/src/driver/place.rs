//! Schedules from the heuristics, as a session has them.

use crate::bounds::self_fit::next_self_fit;
use crate::driver::session::{Schedule, Session};
use crate::exact::ask::at_ii;
use crate::exact::verdict::Verdict;
use crate::heuristic::ims;
use crate::heuristic::serial::serial;
use crate::heuristic::sms::Swing;
use crate::model::answer::Algorithm;
use crate::model::error::ScheduleError;
use crate::model::problem::Problem;

/// Of larger loops a part of the operations may be placed again before all slots are laid out at once.
const LARGE: usize = 5_000;
const LARGE_PART: u64 = 16;
/// A resource is full when less than such a part of its cycles is free.
const FULL: i128 = 256;

impl Session<'_> {
    /// Whether there is another way that is worth trying early: all slots laid out at once.
    pub fn thrifty(&self) -> bool {
        self.options.algorithm == Algorithm::Auto && self.problem.n > LARGE
    }

    /// Whether some resource has hardly a cycle to spare.
    pub fn full(&self, ii: i64) -> bool {
        self.problem.held().iter().zip(&self.problem.count).any(|(&held, &count)| {
            let room = i128::from(ii) * i128::from(count);
            (room - i128::from(held)) * FULL < room
        })
    }

    /// Iterative modulo scheduling at this II, in as many placements as suit the size.
    pub fn heuristic(&mut self, problem: &Problem, ii: i64) -> Option<Vec<i64>> {
        let most = self.placements_of_one();
        let n = problem.n as u64;
        self.place(problem, ii, if self.thrifty() { most.min(n + n / LARGE_PART) } else { most })
    }

    /// The same in so many placements.
    pub fn place(&mut self, problem: &Problem, ii: i64, most: u64) -> Option<Vec<i64>> {
        let attempt = ims::place(problem, ii, self.options, most);
        self.placements += attempt.placements;
        attempt.time
    }

    /// Swing modulo scheduling below an II that is known to do.
    pub fn swing_below(&mut self, least: i64, below: i64, most_placements: u64) -> Option<Schedule> {
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

    /// A schedule that is there without search: the serial one, or with windows that of a single iteration, at
    /// an II so large that iterations do not meet. There may be none (S42).
    pub fn fallback(&mut self, first: i64) -> Result<Option<Schedule>, ScheduleError> {
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
        let Some(apart) = self.apart(first) else { return Ok(None) };
        self.question();
        match at_ii(p, apart, self.options.seed, &mut self.budget, self.guard) {
            Verdict::Found(time) => Ok(Some((apart, time))),
            Verdict::Refuted => Err(ScheduleError::Infeasible { up_to: None }),
            Verdict::Undecided => Ok(None),
        }
    }
    /// An II, from `first` on, at which iterations do not meet: what has no schedule there has none at a larger one either.
    pub fn apart(&self, first: i64) -> Option<i64> {
        let p = self.problem;
        let latencies = p.dependences.arcs.iter().map(|a| a.latency.unsigned_abs()).sum::<u64>();
        let held = p.all_uses().iter().map(|u| (u.start + u.duration) as u64).sum::<u64>();
        let apart = i64::try_from(latencies.saturating_add(held).saturating_add(first as u64)).ok()?;
        Some(next_self_fit(p, apart))
    }
}
