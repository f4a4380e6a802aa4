//! The shortest schedule at an II, as far as the budget goes (S36).

use crate::bounds::length::least_length;
use crate::driver::session::{Range, Session};
use crate::driver::shortening::{Shortening, Trial};
use crate::exact::ask::at_length;
use crate::exact::shortest::Shortest;
use crate::exact::steps::StepBudget;
use crate::exact::verdict::Verdict;
use crate::heuristic::compact::compact;
use crate::heuristic::sms::Swing;
use crate::model::answer::Algorithm;
use crate::model::problem::Problem;

/// `auto` spends such a part of `steps` on the length; where wraps decide, it asks about the whole loop with a smaller one,
/// and less work on each, as small parts of it are the better questions.
const LENGTH_PART: u64 = 2;
const LEAST_LENGTH_PART: u64 = 8;
/// Where the II took many steps, such a part of them, but no more than `steps`.
const SPENT_PART: u64 = 2;
const WHOLE_PART: u64 = 40;
const WHOLE_WORK_PER_NODE: u64 = 1_000;

/// The part of what is left that is given to wraps where residues decide, and the most, as so many times `steps`.
const WRAPS_PART: u64 = 3;
const MOST_WRAPS: u64 = 8;

/// Where residues decide, questions may take such a part of `steps` before anything else is tried.
const BRIEF_PART: u64 = 16;

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
            // Also where the II took all there was; what took long for its II is no easier for its length.
            let (steps, spent) = (self.options.steps, self.budget.spent / SPENT_PART);
            let most = spent.clamp(steps / LENGTH_PART, steps);
            self.left = self.left.max(spent).clamp(steps / LEAST_LENGTH_PART, most);
            self.budget = self.budget.renewed(0);
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
        let given = self.given(Range { lower: ii, first: ii, last: ii });
        let unfolded = self.unfolded.clone().filter(|(other, _)| *other == ii);
        for (_, other) in given.into_iter().chain(unfolded) {
            let other = compact(self.problem, ii, other);
            if self.problem.length(&other) < self.problem.length(&time) {
                time = other;
            }
        }
        self.shorten_in(self.problem, ii, time)
    }

    /// As [`shorten`](Self::shorten), for the same loop with caps on depths.
    pub fn shorten_in(&mut self, problem: &Problem, ii: i64, time: Vec<i64>) -> (Vec<i64>, bool) {
        let Some(low) = least_length(problem, ii) else { return (time, false) };
        let best = compact(problem, ii, time);
        let high = problem.length(&best);
        if !self.searches() || low >= high {
            return (best, low >= high);
        }
        let mut shortening = Shortening { problem, ii, proved: low, high, best };
        match Shortest::new(problem, ii, high) {
            Some(search) if search.alone() => self.descend(search, &mut shortening),
            search => self.bisect(search, &mut shortening),
        }
        (shortening.best, shortening.proved >= shortening.high)
    }

    /// `exact` looks around what is found quickly before it proves anything, so that time that runs out costs the proof.
    /// `auto` asks about the whole loop before, which costs little where that is easy, and after it has a better schedule.
    fn descend(&mut self, mut search: Shortest<'_>, s: &mut Shortening<'_>) {
        let exact = self.options.algorithm == Algorithm::Exact;
        self.last_question();
        let whole = (self.budget.nodes).min(self.options.steps / WHOLE_PART);
        if !exact {
            self.budget.limit_work(WHOLE_WORK_PER_NODE);
            self.budget = self.budget.renewed(whole / 2);
            self.passes(&mut search, s);
        }
        self.begin_with_room(&mut search, s);
        self.insert(s);
        self.budget = self.budget.renewed(if exact { whole } else { whole - whole / 2 });
        self.passes(&mut search, s);
        self.improve_with_copies(&mut search, s);
        if exact {
            search.prefer(&s.best);
            self.last_question();
            self.passes(&mut search, s);
        }
    }

    /// Bisects the length with a search that learns; what a pass leaves undecided, the next asks again with more
    /// conflicts, until the budget ends.
    fn passes(&mut self, search: &mut Shortest<'_>, s: &mut Shortening<'_>) {
        let mut conflicts = FIRST_CONFLICTS;
        while s.proved < s.high && self.budget.nodes > 0 && !self.guard.expired() {
            // The bound itself is asked first, unless it is far away.
            let mut floor = s.proved;
            let mut target = if s.high / 2 <= s.proved { s.proved } else { below(floor, s.high) };
            while floor < s.high && self.budget.nodes > 0 {
                match search.ask(target, conflicts, &mut self.budget, self.guard) {
                    Verdict::Found(time) => {
                        s.take(time);
                        search.prefer(&s.best);
                        self.guard.note(|p| p.best_length = Some(s.high));
                    }
                    Verdict::Refuted => {
                        s.proved = s.proved.max(target + 1);
                        floor = target + 1;
                    }
                    Verdict::Undecided => floor = target + 1,
                }
                target = below(floor, s.high);
            }
            conflicts *= 4;
        }
    }

    /// Bisects with questions of their own, where residues are the better way: briefly, as most loops are easy, and again
    /// around what was found in between.
    fn bisect(&mut self, search: Option<Shortest<'_>>, s: &mut Shortening<'_>) {
        self.question();
        let brief = self.left.min(self.options.steps / BRIEF_PART);
        let rest = self.left - brief;
        self.left = brief;
        self.halve(s);
        self.question();
        self.left += rest;
        self.insert(s);
        if let Some(mut search) = search {
            if search.asks_all() {
                self.by_wraps(&mut search, s);
            }
            self.improve(&search, s, Trial::Long);
        }
        self.halve(s);
    }

    /// Where uses are long, the search by wraps may know better than residues.
    fn by_wraps(&mut self, search: &mut Shortest<'_>, s: &mut Shortening<'_>) {
        let budget = self.budget;
        let nodes = (self.left / WRAPS_PART).min(self.options.steps.saturating_mul(MOST_WRAPS));
        self.budget = StepBudget::with_work(nodes, WHOLE_WORK_PER_NODE);
        search.prefer(&s.best);
        self.begin_with_room(search, s);
        self.passes(search, s);
        let spent = self.budget.spent;
        self.budget = budget;
        self.budget.spent += spent;
    }

    /// Halves what is left again and again, each time by another search, as long as that finds something.
    fn halve(&mut self, s: &mut Shortening<'_>) {
        for pass in 0.. {
            let before = s.high;
            self.halve_once(s, self.options.seed.wrapping_add(pass));
            if s.high == before || s.proved >= s.high || self.guard.expired() {
                break;
            }
        }
    }

    /// The bound is asked first, then the middle of what is left; everything below is refuted as long as nothing was left
    /// undecided.
    fn halve_once(&mut self, s: &mut Shortening<'_>, seed: u64) {
        let (mut low, mut complete) = (s.proved, true);
        let mut target = low;
        while low < s.high && !self.guard.expired() {
            self.question();
            if self.budget.nodes == 0 {
                break;
            }
            match at_length(s.problem, s.ii, target, seed, &mut self.budget, self.guard) {
                Verdict::Found(time) => (s.high, s.best) = (s.problem.length(&time), time),
                Verdict::Refuted => low = target + 1,
                Verdict::Undecided => {
                    complete = false;
                    low = target + 1;
                }
            }
            if complete {
                s.proved = low;
            }
            target = low + (s.high - low) / 2;
        }
    }
}
