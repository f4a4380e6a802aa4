//! A schedule of a loop that is copies of a smaller one: that of the smaller, copy after copy.

use crate::bounds::least_ii::bounds_of;
use crate::driver::scan::scan;
use crate::driver::session::{Range, Session};
use crate::model::answer::Algorithm;
use crate::model::fold::Folded;
use crate::model::guard::Guard;
use crate::model::options::ScheduleOptions;

impl Session<'_> {
    /// Schedules the smaller loop, if there is one. Its II, so many times as large, is no bound: copies may be interleaved in
    /// better ways, which the search then looks for.
    pub(super) fn unfold(&mut self, range: Range) {
        if !matches!(self.options.algorithm, Algorithm::Auto | Algorithm::Exact) || self.unfolded.is_some() {
            return;
        }
        let Some(folded) = Folded::of(self.problem) else { return };
        // With something around the copies, only the least II is worth a look: at a larger one there is mostly a better way.
        let copies = folded.copies as i64;
        let largest = if folded.whole() { None } else { Some(range.first.div_euclid(copies)) };
        if largest.is_some_and(|ii| ii * copies < range.first) {
            return;
        }
        let left = self.options.time_limit.map(|limit| limit.saturating_sub(self.guard.elapsed()));
        let least = range.first.div_euclid(copies).max(1);
        let options = ScheduleOptions {
            algorithm: Algorithm::Auto,
            time_limit: left,
            // What is known of the smaller loop is nothing to tell of this one.
            observer: None,
            start: None,
            min_ii: least,
            max_ii: largest,
            ..self.options.clone()
        };
        let mut guard = Guard::new(&options);
        let mut small = Session::new(&folded.problem, &options, &mut guard);
        let bounds = bounds_of(&folded.problem);
        let Ok(range) = small.range(&bounds) else { return };
        let Ok((_, Some((ii, time)))) = scan(&mut small, range, None) else { return };
        let (time, _) = small.shorten(ii, time);
        let (placements, spent) = (small.placements, small.budget.spent);
        self.unfolded = folded.unfold(ii, &time);
        self.placements += placements;
        self.budget.spent += spent;
    }
}
