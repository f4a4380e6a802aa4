//! A schedule of a loop that is copies of a smaller one: that of the smaller, copy after copy.

use crate::bounds::least_ii::bounds_of;
use crate::driver::scan::scan;
use crate::driver::session::{Range, Schedule, Session};
use crate::heuristic::compact::compact;
use crate::model::answer::Algorithm;
use crate::model::fold::Folded;
use crate::model::guard::Guard;
use crate::model::options::ScheduleOptions;
use crate::model::problem::Problem;

impl Session<'_> {
    /// Schedules the smaller loop, if there is one. Its II, so many times as large, is no bound: copies may be interleaved in
    /// better ways, which the search then looks for.
    pub(super) fn unfold(&mut self, range: Range) {
        if self.folds() && self.unfolded.is_none() {
            self.unfolded = Folded::of(self.problem).and_then(|f| self.unfolded_from(&f, range.first, None));
        }
    }

    /// The same at this II alone, where there may be something around the copies.
    pub(super) fn unfolded_at(&mut self, problem: &Problem, ii: i64) -> Option<Vec<i64>> {
        let folded = Some(problem).filter(|_| self.folds()).and_then(Folded::around)?;
        let copies = folded.copies as i64;
        if ii % copies > 0 {
            return None;
        }
        let (_, time) = self.unfolded_from(&folded, ii, Some(ii / copies))?;
        Some(compact(problem, ii, time))
    }

    fn folds(&self) -> bool {
        matches!(self.options.algorithm, Algorithm::Auto | Algorithm::Exact)
    }

    fn unfolded_from(&mut self, folded: &Folded, first: i64, max_ii: Option<i64>) -> Option<Schedule> {
        let left = self.options.time_limit.map(|limit| limit.saturating_sub(self.guard.elapsed()));
        let options = ScheduleOptions {
            algorithm: Algorithm::Auto,
            time_limit: left,
            // What is known of the smaller loop is nothing to tell of this one.
            observer: None,
            start: None,
            min_ii: first.div_euclid(folded.copies as i64).max(1),
            max_ii,
            ..self.options.clone()
        };
        let mut guard = Guard::new(&options);
        let mut small = Session::new(&folded.problem, &options, &mut guard);
        let range = small.range(&bounds_of(&folded.problem)).ok()?;
        let (ii, time) = scan(&mut small, range, None).ok()?.1?;
        let (time, _) = small.shorten(ii, time);
        let (placements, spent) = (small.placements, small.budget.spent);
        self.placements += placements;
        self.budget.spent += spent;
        folded.unfold(ii, &time)
    }
}
