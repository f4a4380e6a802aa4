//! Shorter schedules from one that is known: small parts of it are freed and solved exactly, again and again (S99).

use crate::driver::session::Session;
use crate::driver::shortening::{NEAR, Shortening, Trial};
use crate::exact::shortest::Shortest;
use crate::exact::steps::StepBudget;
use crate::exact::verdict::Verdict;
use crate::model::answer::Algorithm;
use crate::model::problem::Problem;
use crate::model::random::Random;

/// Operations freed at first, or such a part of all where that is more, and at least: where units are full, few have nowhere
/// to go.
const FIRST_FREE: usize = 10;
const FIRST_PART: usize = 4;
const LEAST_FREE: usize = 5;
/// Conflicts of a question, and of one that `exact` asks.
const CONFLICTS: u64 = 20;
const EXACT_CONFLICTS: u64 = 40;
/// Refuted questions in a row after which more operations are freed.
const ROW: u32 = 6;
/// `auto` may spend such a part of `steps`, and where there are k times so many operations, k times as much for each of
/// them on average: a question costs more, too.
const PART: u64 = 10;
const MANY: u64 = 32;
/// What shortens the schedule by a part p earns it p times as much as the whole, times `PAYS`.
const PAYS: u64 = 8;
/// The first step is such a part of what is open, as a power of two.
const LONG_STEP: u32 = 4;
/// Questions without success, for each operation, after which it is over.
const PATIENCE: usize = 2;

impl Session<'_> {
    /// Frees parts of the best schedule and asks for a shorter one around the rest.
    pub(super) fn improve(&mut self, search: &Shortest<'_>, s: &mut Shortening<'_>, trial: Trial) {
        let exact = self.options.algorithm == Algorithm::Exact;
        let parts = search.nodes().len() as u64 / MANY;
        let many = (parts + 1) * (parts + 2) / 2;
        let conflicts = if exact { EXACT_CONFLICTS } else { CONFLICTS };
        let near = if exact { 0 } else { s.proved / NEAR };
        let mut budget =
            StepBudget::new(if exact { self.left } else { (self.options.steps / PART).saturating_mul(many) });
        let whole = budget.work;
        let mut earned =
            if exact { whole } else { trial.work((whole, parts), s.high - s.proved - near, s.high) };
        let mut choice = Choice::new(s.problem, search, s.ii, self.options.seed);
        let (mut size, mut row, mut fruitless) = (FIRST_FREE.max(search.nodes().len() / FIRST_PART), 0, 0);
        while s.high > s.proved + near
            && fruitless < PATIENCE * search.nodes().len()
            && whole - budget.work < earned
            && !self.guard.expired()
        {
            let free = choice.next(&s.best, s.high, size);
            // Far from the bound, steps are long at first.
            let step = ((s.high - s.proved) >> (LONG_STEP + fruitless.min(40) as u32 / 2)).max(1);
            match search.ask_around((&s.best, &free), s.high - step, conflicts, &mut budget, self.guard) {
                Verdict::Found(time) => {
                    let before = s.high;
                    s.take(time);
                    earned = earned.saturating_add(pay(whole, before - s.high, before));
                    self.guard.note(|p| p.best_length = Some(s.high));
                    (row, fruitless) = (0, 0);
                    continue;
                }
                Verdict::Refuted => row += 1,
                Verdict::Undecided if budget.nodes == 0 => break,
                Verdict::Undecided => (row, size) = (0, (size - 1).max(LEAST_FREE)),
            }
            if row == ROW {
                (row, size) = (0, (size + 1).min(search.nodes().len()));
            }
            fruitless += 1;
        }
        self.budget.spent += budget.spent;
        self.left = self.left.saturating_sub(budget.spent);
    }
}

/// The work that a schedule shorter by so many cycles allows.
fn pay(whole: u64, shorter: i64, before: i64) -> u64 {
    let part = u128::from(whole) * u128::from(PAYS) * u128::from(shorter.unsigned_abs());
    u64::try_from(part / u128::from(before.unsigned_abs().max(1))).unwrap_or(u64::MAX)
}

/// Which operations are freed next.
struct Choice<'c> {
    problem: &'c Problem,
    nodes: &'c [u32],
    tails: &'c [i64],
    ii: i64,
    random: Random,
    /// The place of each operation among the nodes.
    place: Vec<Option<u32>>,
}

impl<'c> Choice<'c> {
    fn new(problem: &'c Problem, search: &'c Shortest<'_>, ii: i64, seed: u64) -> Self {
        let mut place = vec![None; problem.n];
        (0u32..).zip(search.nodes()).for_each(|(i, &v)| place[v as usize] = Some(i));
        Choice { problem, nodes: search.nodes(), tails: search.tails(), ii, random: Random::new(seed), place }
    }

    /// Some `size` operations around one of them: near in time, near on the circle of the II, on a common unit, or by
    /// dependences. One of two times it is one without slack to the end.
    fn next(&mut self, time: &[i64], length: i64, size: usize) -> Vec<bool> {
        let at = |i: usize| time[self.nodes[i] as usize];
        let start = time.iter().copied().min().unwrap_or(0);
        let last: Vec<usize> =
            (0..self.nodes.len()).filter(|&i| at(i) - start + self.tails[i] >= length).collect();
        let centre = match self.random.below(2) {
            0 if !last.is_empty() => last[self.random.below(last.len() as u64) as usize],
            _ => self.random.below(self.nodes.len() as u64) as usize,
        };
        let kind = self.random.below(5);
        if kind == 4 {
            return self.connected(centre, size);
        }
        let units = |i: usize| self.problem.uses(self.nodes[i] as usize).iter().map(|u| u.resource);
        let mut all: Vec<(i64, u64, usize)> = (0..self.nodes.len())
            .filter(|&i| kind != 2 || units(i).any(|r| units(centre).any(|s| r == s)))
            .map(|i| {
                let apart = at(i) - at(centre);
                let around = apart.rem_euclid(self.ii);
                let far = if kind == 1 { around.min(self.ii - around) } else { apart.abs() };
                (far, 0, i)
            })
            .collect();
        if kind == 3 {
            // Of those that are near any.
            all.sort_unstable();
            all.truncate(3 * size);
            all.iter_mut().for_each(|(far, tie, i)| {
                *tie = self.random.next();
                *far = i64::from(*i != centre);
            });
        }
        all.sort_unstable();
        let mut free = vec![false; self.nodes.len()];
        all.iter().take(size).for_each(|&(_, _, i)| free[i] = true);
        free
    }

    /// The nearest by dependences in either direction.
    fn connected(&self, centre: usize, size: usize) -> Vec<bool> {
        let g = &self.problem.dependences;
        let mut seen = vec![false; self.problem.n];
        let mut free = vec![false; self.nodes.len()];
        let mut queue = std::collections::VecDeque::from([self.nodes[centre]]);
        seen[self.nodes[centre] as usize] = true;
        let mut freed = 0;
        while let Some(v) = queue.pop_front().filter(|_| freed < size) {
            if let Some(i) = self.place[v as usize] {
                free[i as usize] = true;
                freed += 1;
            }
            let out = g.out(v as usize).iter().map(|a| a.dst);
            for w in out.chain(g.incoming(v as usize).map(|a| a.src)) {
                if !std::mem::replace(&mut seen[w as usize], true) {
                    queue.push_back(w);
                }
            }
        }
        free
    }
}
