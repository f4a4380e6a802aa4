//! The II: every one from the lower bound on, until one has a schedule (S29).

use crate::bounds::self_fit::next_self_fit;
use crate::driver::session::{Range, Schedule, Session};
use crate::driver::stride::Stride;
use crate::exact::verdict::Verdict;
use crate::heuristic::forward::forward;
use crate::heuristic::sms::Swing;
use crate::heuristic::wrap_around::wrap_around;
use crate::model::answer::Algorithm;
use crate::model::error::ScheduleError;
use crate::model::options::{Objective, ScheduleOptions};
use crate::model::paths::heads;

/// Proofs that may be tried without a placement: loops that no II suits must come to an end.
const MOST_REFUTED: u32 = 25_000;

/// A schedule above the bound by such a part of it is far away.
const FAR: i64 = 20;

/// A schedule above an undecided II by no more than such a part of it, or so many cycles, is near.
const NEAR: i64 = 64;
const NEAR_CYCLES: i64 = 8;

/// So many IIs above one that was left open are looked at one by one, and as many before the steps are twice as long.
const SPARSE: i64 = 32;

/// Attempts at a better fallback.
const INCUMBENTS: usize = 12;

/// The proved lower bound, and the schedule.
pub(crate) type Scanned = (i64, Option<Schedule>);

/// What `exact` may spend on the length before it asks below the II that `auto` found, as so many times the steps of one
/// question.
const EARLY_STEPS: u64 = 20;

/// As `auto` does, length included, and then with all the budget below what that found: time that runs out costs the proof
/// alone, so the schedule is made shorter before.
pub(super) fn scan_twice(session: &mut Session<'_>, range: Range) -> Result<Scanned, ScheduleError> {
    let options = ScheduleOptions { algorithm: Algorithm::Auto, ..session.options.clone() };
    let mut quick = Session::new(session.problem, &options, session.guard);
    let known = quick.given(range);
    let (proved, mut found) = scan(&mut quick, range, known)?;
    // Many brief questions may find what fewer long ones do not: never longer than `auto`.
    if quick.searches() && options.objective != Objective::Interval {
        found = found.map(|(ii, time)| {
            quick.note_schedule(ii, &time);
            (ii, quick.shorten(ii, time).0)
        });
    }
    let (placements, spent) = (quick.placements, quick.budget.spent);
    session.unfolded = quick.unfolded.take();
    let scanned = if found.as_ref().is_some_and(|(ii, _)| *ii <= proved.max(range.first)) {
        (proved, found)
    } else {
        let found = found.map(|found| session.shorten_early(found));
        scan(session, Range { lower: proved, first: range.first.max(proved), ..range }, found)?
    };
    // Only now, as a scan ends by what it has placed itself.
    session.placements += placements;
    session.budget.spent += spent;
    Ok(scanned)
}

impl Session<'_> {
    /// Makes a schedule shorter in a small part of what `exact` may spend; none below its II may be found in time.
    fn shorten_early(&mut self, (ii, time): Schedule) -> Schedule {
        self.note_schedule(ii, &time);
        let most = self.options.steps.saturating_mul(EARLY_STEPS);
        let rest = self.left.saturating_sub(most);
        self.left = self.left.min(most);
        let (time, _) = self.shorten(ii, time);
        self.left = self.left.saturating_add(rest);
        (ii, time)
    }
}

/// Goes through every II from the lower bound on (S29): the heuristic first, then the search, which also
/// proves; at worst the schedule that is known, or the serial one, ends it.
pub(super) fn scan(
    session: &mut Session<'_>,
    range: Range,
    known: Option<Schedule>,
) -> Result<Scanned, ScheduleError> {
    let fallback = match known {
        Some(known) => Some(known),
        None => session.fallback(range.first)?,
    };
    session.unfold(range);
    let both = session.unfolded.iter().chain(&fallback).filter(|(ii, _)| *ii <= range.last);
    let best = both.min_by_key(|(ii, _)| *ii).cloned();
    if session.options.algorithm == Algorithm::Serial {
        return Ok((range.lower, best));
    }
    let swing = match session.options.algorithm {
        Algorithm::Sms => Swing::new(session.problem, range.lower),
        _ => None,
    };
    let apart = session.apart(range.first).unwrap_or(i64::MAX);
    let scan = Scan {
        end: best.as_ref().map_or(range.last.min(apart), |(ii, _)| *ii),
        best,
        searches: session.searches(),
        swing,
        proved: range.lower,
        complete: true,
        ii: range.lower,
        before: range.lower,
        left_open: None,
        back: false,
        extra: 0,
        doubtful: false,
        spared: 0,
        stride: Stride::default(),
        range,
        session,
    };
    scan.run()
}

struct Scan<'s, 'a> {
    session: &'s mut Session<'a>,
    range: Range,
    /// The last II that is still of interest, and the best schedule, which is no better than that.
    end: i64,
    best: Option<Schedule>,
    searches: bool,
    swing: Option<Swing<'a>>,
    /// Every II below is refuted; while `complete`, none below `ii` was left open.
    proved: i64,
    complete: bool,
    ii: i64,
    /// The II that was looked at before.
    before: i64,
    /// The first II that was left open.
    left_open: Option<i64>,
    /// What was left out below the best is looked at.
    back: bool,
    /// Placements that do not count for the end of the scan.
    extra: u64,
    /// After a refutation the next II is likely to be refuted, too, so the search is asked before the heuristic.
    doubtful: bool,
    spared: u32,
    stride: Stride,
}

impl Scan<'_, '_> {
    fn run(mut self) -> Result<Scanned, ScheduleError> {
        let most_placements = self.session.placements_of_all();
        while self.goes_on()? {
            let open = self.searches && (self.ii < self.end || self.best.is_none());
            if open && self.complete && self.stride.wide() && self.strides() {
                continue;
            }
            let asked = if open && self.doubtful { Some(self.ask_first()) } else { None };
            if let Some(time) = self.placed(asked == Some(Verdict::Refuted)) {
                // Below it nothing is left open, or the other heuristic may look there.
                (self.end, self.best) = (self.ii, Some((self.ii, time)));
                if self.turns_back() {
                    continue;
                }
                break;
            }
            if !open {
                self.complete = false;
            } else if self.searched(asked) {
                if self.turns_back() {
                    continue;
                }
                break;
            }
            if self.session.placements > most_placements {
                break;
            }
            self.go_on();
        }
        self.finish(most_placements)
    }

    /// Whether this II is to be looked at.
    fn goes_on(&mut self) -> Result<bool, ScheduleError> {
        let (ii, proved, best) = (self.ii, self.proved, self.best.as_ref().map(|(ii, _)| *ii));
        let guard = &mut *self.session.guard;
        guard.note(|p| (p.ii, p.lower_bound, p.best_ii) = (ii, proved, best));
        if ii > self.end || self.spared > MOST_REFUTED || guard.expired() {
            return Ok(false);
        }
        if heads(self.session.problem, ii).is_none() {
            // Recurrences of negative distance bound II from above (S55): none of the larger ones holds either.
            if self.complete && self.best.is_none() {
                return Err(ScheduleError::Infeasible { up_to: None });
            }
            return Ok(false);
        }
        Ok(true)
    }

    /// To the next II. Far above one that was left open the steps grow, where `auto` looks.
    fn go_on(&mut self) {
        // Below the first II wanted there is nothing but the proof, which a gap ends.
        let above = if self.complete { self.ii + 1 } else { self.range.first.max(self.ii + 1) };
        let sparse = !self.complete && !self.back && self.session.options.algorithm == Algorithm::Auto;
        if !self.complete {
            self.left_open.get_or_insert(self.ii);
        }
        self.before = self.ii;
        let step = self.left_open.filter(|_| sparse).map_or(0, |from| (self.ii - from) / SPARSE);
        let next = next_self_fit(self.session.problem, above + step);
        self.ii = if self.ii < self.end && self.best.is_some() { next.min(self.end) } else { next };
    }

    /// Whether IIs were left out below this one, to which it goes back.
    fn turns_back(&mut self) -> bool {
        let next = next_self_fit(self.session.problem, self.before + 1);
        let skipped = !self.back && !self.complete && next < self.ii && next >= self.range.first;
        if skipped {
            (self.back, self.ii) = (true, next);
        }
        skipped
    }

    /// Tries to refute several IIs at once; true where that settles what is looked at next.
    fn strides(&mut self) -> bool {
        let most = if self.best.is_some() { self.end - 1 } else { self.end };
        let span = self.stride.span(self.ii, most.min(self.range.last));
        let refuted = span.low < span.high && self.session.refutes(span, self.stride.nodes());
        self.stride.adapt(span, refuted);
        self.spared += 1;
        if refuted {
            self.proved = next_self_fit(self.session.problem, span.high + 1);
            self.ii = self.proved;
        }
        refuted || self.stride.wide()
    }

    /// Asks the search before any heuristic.
    fn ask_first(&mut self) -> Verdict {
        let before = self.session.budget.spent;
        let verdict = self.session.ask_at(self.ii, self.complete);
        if verdict == Verdict::Refuted {
            self.spared += 1;
            self.stride.widen(self.session.budget.spent - before);
        }
        verdict
    }

    /// What the heuristics find.
    fn placed(&mut self, refuted: bool) -> Option<Vec<i64>> {
        let (session, ii) = (&mut *self.session, self.ii);
        let problem = session.problem;
        let found = match &self.swing {
            _ if ii < self.range.first || refuted => None,
            Some(swing) => {
                session.placements += problem.n as u64;
                swing.run(ii)
            }
            // One after the other does not fit where nothing may be left over.
            None if session.thrifty() && session.full(ii) => None,
            None => session.heuristic(problem, ii),
        };
        // Large loops: what fails to fit operation by operation is laid out at once.
        let large = !self.searches && session.options.algorithm == Algorithm::Auto && ii >= self.range.first;
        if found.is_some() || !large {
            return found;
        }
        let most = session.placements_of_one();
        wrap_around(problem, ii)
            .or_else(|| if session.thrifty() { session.place(problem, ii, most) } else { None })
    }

    /// What the search says; true when that ends the scan.
    fn searched(&mut self, asked: Option<Verdict>) -> bool {
        // What a proof cannot use any more is asked as long as it may find something.
        if asked.is_none() && !self.complete && self.session.spent_up() {
            return false;
        }
        let verdict = asked.unwrap_or_else(|| self.session.ask_at(self.ii, self.complete));
        self.doubtful = verdict == Verdict::Refuted;
        match verdict {
            Verdict::Found(time) if self.ii >= self.range.first => {
                (self.end, self.best) = (self.ii, Some((self.ii, time)));
                return true;
            }
            Verdict::Refuted if self.complete => {
                self.proved = next_self_fit(self.session.problem, self.ii + 1);
            }
            Verdict::Refuted => {}
            Verdict::Found(_) => self.complete = false,
            Verdict::Undecided => {
                // Its placements are no part of the scan's, which goes as far as that of `ims` does.
                let before = self.session.placements;
                if self.complete
                    && let Some(better) = self.incumbent()
                {
                    self.end = better.0;
                    self.best = Some(better);
                    // Where even that is far above, hardly an II in between is found by a search.
                    let far = self.end - self.ii > (self.ii / NEAR).max(NEAR_CYCLES);
                    if far && self.session.options.algorithm == Algorithm::Auto {
                        self.session.forgo();
                    }
                }
                self.extra += std::mem::replace(&mut self.session.placements, before) - before;
                self.complete = false;
            }
        }
        false
    }

    /// A schedule at an II above one that was left undecided: no answer to how low the II can be (S29), only a
    /// better fallback than the serial schedule. Growing steps upwards, then the middle for a while.
    fn incumbent(&mut self) -> Option<Schedule> {
        if self.session.options.algorithm == Algorithm::Ims {
            return None;
        }
        let above = self.ii.max(self.range.first);
        let problem = self.session.problem;
        let (mut low, mut step) = (above, (above / 64).max(1));
        let mut found: Option<Schedule> = None;
        for _ in 0..INCUMBENTS {
            let high = found.as_ref().map_or(self.end, |(ii, _)| *ii);
            let target = if found.is_some() { low + (high - low) / 2 } else { low.saturating_add(step) };
            let ii = next_self_fit(problem, target);
            if ii >= high || ii <= low {
                break;
            }
            let heuristic = self.session.heuristic(problem, ii);
            let time = heuristic.or_else(|| match self.session.ask_briefly(ii) {
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

    fn finish(self, most_placements: u64) -> Result<Scanned, ScheduleError> {
        let Scan { session, range, end, mut best, proved, .. } = self;
        session.placements += self.extra;
        if proved > range.last {
            return Err(ScheduleError::Infeasible { up_to: Some(range.last) });
        }
        // The other heuristic sometimes gets further than the first.
        if self.searches && session.options.algorithm == Algorithm::Auto && !self.complete {
            let (least, below) = (proved.max(range.first), end.min(range.last.saturating_add(1)));
            if let Some(found) = session.swing_below(least, below, most_placements) {
                return Ok((proved.min(found.0), Some(found)));
            }
        }
        // Large loops that nothing fits near the bound.
        let first = proved.max(range.first);
        if !self.searches && session.options.algorithm == Algorithm::Auto && end - first > first / FAR {
            best = forward(session.problem, first, end).or(best);
        }
        Ok((best.as_ref().map_or(proved, |(ii, _)| proved.min(*ii)), best))
    }
}
