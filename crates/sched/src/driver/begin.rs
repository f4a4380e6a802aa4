//! Better schedules to begin with, where the length is searched for (S99).

use crate::driver::session::Session;
use crate::driver::shortening::{NEAR, Shortening, Trial};
use crate::exact::shortest::Shortest;
use crate::exact::steps::StepBudget;
use crate::exact::verdict::Verdict;
use crate::heuristic::compact::compact;
use crate::heuristic::insertion::Insertion;
use crate::heuristic::sms::Swing;
use crate::model::answer::Algorithm;
use crate::model::problem::Problem;

/// Larger IIs at which a short schedule is easily found, as parts of a hundred more.
const ROOMIER: [i64; 3] = [15, 30, 50];
/// Conflicts of a question that begins with the order of such a schedule, and the work a search node of it may take.
const CONFLICTS: u64 = 100;
const WORK_PER_NODE: u64 = 3_000;
/// Work of one of them: what is found takes less, the more so in loops that are copies.
const MOST_WORK: u64 = 12_000_000;
const MOST_WORK_OF_COPIES: u64 = 3_000_000;
/// That is asked where more than such a part of the schedule is open.
const FAR: i64 = 2;
/// What is longer than copies of a smaller loop, one after the other, by such a part of them is given up for these.
const HOPELESS: i64 = 2;
/// Moves without success after which it is over: so many times the fourth power of the part of the schedule that is open,
/// as near the bound there is little to find.
const PATIENCE: i128 = 3_000;
const LEAST_PATIENCE: u64 = 15;
/// Where the II took many steps, such a part of them.
const SPENT_PART: u64 = 128;
const EXACT_PATIENCE: u64 = 6_000;
/// Moves from one look at the clock to the next.
const LOOK: u64 = 64;

impl Session<'_> {
    /// Takes the order of a short schedule at a larger II, where most of the schedule is open.
    pub(super) fn begin_with_room(&mut self, search: &mut Shortest<'_>, s: &mut Shortening<'_>) {
        self.take_room(search, s, MOST_WORK, |s| (s.high - s.proved) * FAR > s.high);
    }

    /// Improves the best, and where that does not end near the bound, the schedule of a smaller loop, copy after copy, if that
    /// is shorter; it alone, if it is much shorter.
    pub(super) fn improve_with_copies(&mut self, search: &mut Shortest<'_>, s: &mut Shortening<'_>) {
        let open = |s: &Shortening<'_>| s.high - s.proved > s.proved / NEAR;
        // What is copies and nothing else began with that.
        let copies =
            if open(s) && self.unfolded.is_none() { self.unfolded_at(s.problem, s.ii) } else { None };
        let copies = copies.map(|best| Shortening { high: s.problem.length(&best), best, ..*s });
        if copies.as_ref().is_none_or(|other| (s.high - other.high) * HOPELESS < other.high) {
            self.improve(search, s, Trial::Brief);
        }
        let Some(mut other) = copies.filter(|_| open(s)) else { return };
        self.take_room(search, &mut other, MOST_WORK_OF_COPIES, open);
        if other.high < s.high {
            *s = other;
            self.improve(search, s, Trial::Brief);
        }
        search.prefer(&s.best);
    }

    /// At a larger II there is room, and even a heuristic's schedule is short. Its order, tried first by the search at this
    /// II, mostly needs few changes. It is asked about while there is `enough` to find.
    fn take_room(
        &mut self,
        search: &mut Shortest<'_>,
        s: &mut Shortening<'_>,
        most_work: u64,
        enough: impl Fn(&Shortening<'_>) -> bool,
    ) {
        if !enough(s) {
            return;
        }
        let mut budget = StepBudget::with_work(self.options.steps, WORK_PER_NODE);
        let larger = ROOMIER.map(|percent| s.ii.saturating_add(s.ii.saturating_mul(percent) / 100 + 1));
        let short = larger.into_iter().filter_map(|ii| Some((ii, self.short_at(s.problem, ii)?)));
        let mut short: Vec<(i64, Vec<i64>)> = short.collect();
        short.sort_by_key(|(_, time)| s.problem.length(time));
        for (ii, time) in short {
            let aim = s.problem.length(&time);
            if aim >= s.high || !enough(s) || self.guard.expired() {
                break;
            }
            search.prefer_at(ii, &time);
            let most = (aim + (s.high - aim) / 2).min(s.high - 1);
            let verdict = budget.in_part(most_work, |part| search.ask(most, CONFLICTS, part, self.guard));
            if let Verdict::Found(time) = verdict {
                s.take(time);
                self.guard.note(|p| p.best_length = Some(s.high));
            }
        }
        search.prefer(&s.best);
        self.budget.spent += budget.spent;
    }

    /// The shorter one of the heuristics' schedules at this II.
    fn short_at(&mut self, problem: &Problem, ii: i64) -> Option<Vec<i64>> {
        let swing = Swing::new(problem, ii).and_then(|swing| swing.run(ii));
        let found = swing.into_iter().chain(self.heuristic(problem, ii));
        found.map(|time| compact(problem, ii, time)).min_by_key(|time| problem.length(time))
    }

    /// Puts operations earlier, one at a time.
    pub(super) fn insert(&mut self, s: &mut Shortening<'_>) {
        let exact = self.options.algorithm == Algorithm::Exact;
        let near = if exact { 0 } else { s.proved / NEAR };
        if s.high <= s.proved + near {
            return;
        }
        let Some(mut search) = Insertion::new(s.problem, s.ii, &s.best, self.options.seed) else { return };
        let spent = self.steps();
        let patience = |length: i64| {
            let (open, length) = (i128::from(length - s.proved - near), i128::from(length.max(1)));
            let part = 1_000 * open.max(0) / length;
            let moves = u64::try_from(PATIENCE * part.pow(4) / 1_000i128.pow(4)).unwrap_or(u64::MAX);
            if exact { EXACT_PATIENCE } else { moves.max(LEAST_PATIENCE).max(spent / SPENT_PART) }
        };
        let mut shortest = None;
        let (mut high, mut left) = (s.high, patience(s.high));
        while high > s.proved + near && left > 0 {
            search.step();
            left -= 1;
            self.placements += 1;
            if search.length() < high {
                high = search.length();
                shortest = Some(search.time().to_vec());
                left = patience(high);
                self.guard.note(|p| p.best_length = Some(high));
            }
            if left.is_multiple_of(LOOK) && self.guard.expired() {
                break;
            }
        }
        if let Some(time) = shortest {
            s.take(time);
        }
    }
}
