//! The shortest schedule at an II, as far as the budget goes (S36).

use crate::bounds::length::least_length;
use crate::driver::session::Session;
use crate::exact::ask::at_length;
use crate::exact::shortest::Shortest;
use crate::exact::verdict::Verdict;
use crate::heuristic::compact::compact;
use crate::heuristic::sms::Swing;
use crate::model::answer::Algorithm;
use crate::model::problem::Problem;

/// `auto` spends such a part of `steps` on the length; a smaller one, and less work on each, where units are held for
/// long, which is where loops are hard and lengths matter least.
const LENGTH_PART: u64 = 2;
const LONG_LENGTH_PART: u64 = 25;
const LONG_WORK_PER_NODE: u64 = 1_000;
/// Uses of more cycles are long.
const SHORT_USE: i64 = 4;

/// Conflicts of the first questions about a length.
const FIRST_CONFLICTS: u64 = 100;

/// The length to ask about next: nearer to the floor, as shorter schedules are worth more than refutations.
fn below(floor: i64, high: i64) -> i64 {
    floor + (high - floor) * 3 / 8
}

impl Session<'_> {
    /// The shortest schedule at this II that the budget finds, and whether it is proved to be that (S36).
    pub fn shorten(&mut self, ii: i64, time: Vec<i64>) -> (Vec<i64>, bool) {
        if self.options.algorithm == Algorithm::Auto {
            // The length only lengthens the prologue (S69): the default spends less on it.
            self.question();
            self.left = self.left.min(self.options.steps / LENGTH_PART);
            self.budget = self.budget.renewed(0);
            if self.problem.all_uses().iter().any(|u| u.duration > SHORT_USE) {
                self.spend_little();
            }
        }
        let mut time = compact(self.problem, ii, time);
        if self.searches()
            && let Some(other) = Swing::new(self.problem, ii).and_then(|swing| swing.run(ii))
        {
            let other = compact(self.problem, ii, other);
            if self.problem.length(&other) < self.problem.length(&time) {
                time = other;
            }
        }
        self.shorten_in(self.problem, ii, time)
    }

    /// What `auto` may still spend where units are held for long.
    fn spend_little(&mut self) {
        if self.options.algorithm == Algorithm::Auto {
            self.left = self.left.min(self.options.steps / LONG_LENGTH_PART);
            self.budget.limit_work(LONG_WORK_PER_NODE);
        }
    }

    /// As [`shorten`](Self::shorten), for the same loop with caps on depths.
    pub fn shorten_in(&mut self, problem: &Problem, ii: i64, time: Vec<i64>) -> (Vec<i64>, bool) {
        let Some(mut low) = least_length(problem, ii) else { return (time, false) };
        let mut best = compact(problem, ii, time);
        let mut high = problem.length(&best);
        if !self.searches() {
            return (best, low == high);
        }
        if low < high
            && let Some(search) = Shortest::new(problem, ii, high)
        {
            return self.descend(search, problem, ii, low, best);
        }
        // Everything below `low` is refuted while `proved`; `low` itself is asked first, then the middle.
        let (mut proved, mut target) = (true, low);
        while low < high && !self.guard.expired() {
            self.question();
            match at_length(problem, ii, target, self.options.seed, &mut self.budget, self.guard) {
                Verdict::Found(time) => {
                    high = problem.length(&time);
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

    /// Bisects the length with a search that learns; what a pass leaves undecided, the next asks again with more
    /// conflicts, until the budget ends.
    fn descend(
        &mut self,
        mut search: Shortest<'_>,
        problem: &Problem,
        ii: i64,
        low: i64,
        mut best: Vec<i64>,
    ) -> (Vec<i64>, bool) {
        self.spend_little();
        self.last_question();
        let (mut proved, mut high) = (low, problem.length(&best));
        let mut conflicts = FIRST_CONFLICTS;
        while proved < high && self.budget.nodes > 0 && !self.guard.expired() {
            // The bound itself is asked first, unless it is far away.
            let mut floor = proved;
            let mut target = if high / 2 <= proved { proved } else { below(floor, high) };
            while floor < high && self.budget.nodes > 0 {
                match search.ask(target, conflicts, &mut self.budget, self.guard) {
                    Verdict::Found(time) => {
                        let time = compact(problem, ii, time);
                        search.prefer(&time);
                        high = problem.length(&time);
                        self.guard.note(|p| p.best_length = Some(high));
                        best = time;
                    }
                    Verdict::Refuted => {
                        proved = proved.max(target + 1);
                        floor = target + 1;
                    }
                    Verdict::Undecided => floor = target + 1,
                }
                target = below(floor, high);
            }
            conflicts *= 4;
        }
        (best, proved >= high)
    }
}
