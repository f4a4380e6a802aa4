//! Bindings and times together: seeds for a schedule at once, then the search, II after II (S103).

use super::frame::Frame;
use super::seeds::seeds;
use crate::bounds::least_ii::bounds_of;
use crate::bounds::self_fit::next_self_fit;
use crate::driver::fixed::{bound_by_search, schedule_fixed};
use crate::driver::stride::Stride;
use crate::exact::complete::complete;
use crate::exact::joint::{Joint, Placing};
use crate::exact::span::Span;
use crate::exact::steps::StepBudget;
use crate::exact::verdict::Verdict;
use crate::model::answer::{Algorithm, Answer, ScheduleOutcome};
use crate::model::error::ScheduleError;
use crate::model::guard::Guard;
use crate::model::options::ScheduleOptions;
use crate::model::problem::{Problem, own_caps};
use crate::model::start::{StartSchedule, StartTime};
use crate::model::validate::{ValidGraph, validate};

/// Bindings that are scheduled before the search, and the part of the steps each may take.
const SEEDS: usize = 8;
const SEED_PART: u64 = 20;
/// Search nodes per question, as multiples of `steps`; `exact` may spend that much more. Work of each on average.
const NODES_FACTOR: u64 = 4;
const EXACT_FACTOR: u64 = 200;
const WORK_PER_NODE: u64 = 20_000;
/// Questions about IIs: loops that no II suits must come to an end.
const MOST_QUESTIONS: usize = 2_000;
/// Loops of more operations are not searched.
const MOST_OPERATIONS: usize = 300;

/// A binding with a schedule.
struct Candidate {
    taken: Vec<usize>,
    ii: i64,
    time: Vec<i64>,
}

/// Binds every use with alternatives and schedules the result; the answer names the bindings (S103).
///
/// # Errors
/// Those of [`schedule`](crate::schedule()).
pub(crate) fn bind(valid: &ValidGraph<'_>, options: &ScheduleOptions) -> Result<Answer, ScheduleError> {
    let frame = Frame::new(valid.whole());
    let mut guard = Guard::new(options);
    let given = options.start.is_some();
    let options = &options.clone().start(None);
    let bounds = bounds_of(&valid.problem);
    let caps = own_caps(valid.whole());
    let capped = valid.problem.with_caps(valid.whole(), &caps);
    // Merged, resources have at least as many units as any binding leaves; idle ones do no harm.
    let mut lower_bound = next_self_fit(&capped, bounds.mii.max(frame.capacity_bound()));
    let (mut best, mut refusal): (Option<Candidate>, _) = (None, None);
    for taken in seeds(&frame, SEEDS, options.seed) {
        if best.as_ref().is_some_and(|b| b.ii <= lower_bound || guard.expired()) {
            break;
        }
        match seeded(&frame, taken, options, &mut guard) {
            Ok(found) if best.as_ref().is_none_or(|b| found.ii < b.ii) => best = Some(found),
            Ok(_) => {}
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    let searched = matches!(options.algorithm, Algorithm::Auto | Algorithm::Exact)
        && valid.problem.n <= options.contract_limit.min(MOST_OPERATIONS);
    let mut steps = 0;
    if let Some((split, rest)) = frame.split().filter(|_| searched) {
        let problem = Problem::new(&rest, &caps);
        let mut search = Search { frame: &frame, split, problem, options, lower_bound, best, spent: 0 };
        search.run(&mut guard)?;
        (lower_bound, best, steps) = (search.lower_bound, search.best, search.spent);
    }
    let Some(best) = best else { return Err(refusal.unwrap_or(ScheduleError::GaveUp { lower_bound })) };
    let mut answer = finished(valid, &frame, &best, lower_bound, options, &mut guard)?;
    answer.steps = answer.steps.saturating_add(steps);
    answer.stopped_by = guard.stopped_by();
    answer.micros = guard.micros();
    answer.start_refused = given.then(|| "it does not say which resource each use takes".to_owned());
    Ok(answer)
}

/// The schedule of a binding that is not searched for long.
fn seeded(
    frame: &Frame<'_>,
    taken: Vec<usize>,
    options: &ScheduleOptions,
    guard: &mut Guard,
) -> Result<Candidate, ScheduleError> {
    let bound = frame.graph.bound(&frame.bindings(&taken));
    let valid = validate(&bound).map_err(ScheduleError::Graph)?;
    let problem = valid.problem.with_caps(&bound, &own_caps(&bound));
    let algorithm = if options.algorithm == Algorithm::Exact { Algorithm::Auto } else { options.algorithm };
    let brief = options.clone().algorithm(algorithm).steps((options.steps / SEED_PART).max(1));
    match bound_by_search(&problem, &brief, guard)? {
        (_, Some((ii, time))) => Ok(Candidate { taken, ii, time }),
        (lower_bound, None) => Err(ScheduleError::GaveUp { lower_bound }),
    }
}

struct Search<'f, 'a> {
    frame: &'f Frame<'a>,
    split: crate::exact::split::Split,
    /// The loop without uses of the units that are chosen.
    problem: Problem,
    options: &'f ScheduleOptions,
    lower_bound: i64,
    best: Option<Candidate>,
    spent: u64,
}

impl Search<'_, '_> {
    /// II after II from the bound on.
    fn run(&mut self, guard: &mut Guard) -> Result<(), ScheduleError> {
        let last = self.options.max_ii.unwrap_or(i64::MAX);
        let mut stride = Stride::default();
        for _ in 0..MOST_QUESTIONS {
            let (ii, best) = (self.lower_bound.max(self.options.min_ii), self.best.as_ref().map(|b| b.ii));
            guard.note(|p| (p.ii, p.lower_bound, p.best_ii) = (ii, ii, best));
            if self.lower_bound > last {
                return Err(ScheduleError::Infeasible { up_to: Some(last) });
            }
            if best.is_some_and(|best| ii >= best) || ii > last || guard.expired() {
                return Ok(());
            }
            let complete = ii == self.lower_bound;
            if stride.wide() && complete {
                let span = stride.span(ii, best.map_or(last, |b| last.min(b - 1)));
                let refuted = span.low < span.high
                    && matches!(self.ask(span, stride.nodes(), guard), Err(Verdict::Refuted));
                stride.adapt(span, refuted);
                if refuted {
                    self.lower_bound = next_self_fit(&self.problem, span.high + 1);
                }
                if refuted || stride.wide() {
                    continue;
                }
            }
            let exact = if self.options.algorithm == Algorithm::Exact { EXACT_FACTOR } else { 1 };
            let before = self.spent;
            match self.ask(Span::one(ii), self.options.steps.saturating_mul(NODES_FACTOR * exact), guard) {
                Ok(found) => {
                    self.best = Some(found);
                    return Ok(());
                }
                Err(Verdict::Refuted) if complete => {
                    self.lower_bound = next_self_fit(&self.problem, ii + 1);
                    stride.widen(self.spent - before);
                }
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    /// Is there a binding with a schedule at this II? Of several IIs only a refutation says anything.
    fn ask(&mut self, span: Span, nodes: u64, guard: &mut Guard) -> Result<Candidate, Verdict> {
        let mut joint = Joint::new(&self.problem, &self.split, span).ok_or(Verdict::Undecided)?;
        let mut budget = StepBudget::with_work(nodes, WORK_PER_NODE);
        let found = joint.solve(u64::MAX, &mut budget, guard);
        self.spent += budget.spent;
        let Placing { place_of, times } = found?;
        if span.low != span.high {
            return Err(Verdict::Undecided);
        }
        let taken = self.frame.taken(&place_of);
        let bound = self.frame.graph.bound(&self.frame.bindings(&taken));
        let problem = Problem::new(&bound, &own_caps(&bound));
        let time = complete(&problem, span.low, joint.active(), &times).ok_or(Verdict::Undecided)?;
        Ok(Candidate { taken, ii: span.low, time })
    }
}

/// The answer: the candidate's schedule, made short, in terms of the loop itself.
fn finished(
    valid: &ValidGraph<'_>,
    frame: &Frame<'_>,
    best: &Candidate,
    lower_bound: i64,
    options: &ScheduleOptions,
    guard: &mut Guard,
) -> Result<Answer, ScheduleError> {
    let bindings = frame.bindings(&best.taken);
    let bound = frame.graph.bound(&bindings);
    let nodes = best.time.iter().enumerate().map(|(id, &time)| StartTime { id, time }).collect();
    let start = StartSchedule { ii: best.ii, nodes };
    // Below the best there is nothing, or it was looked for already.
    let left = options.time_limit.map(|limit| limit.saturating_sub(guard.elapsed()));
    let options = options.clone().start(Some(start)).min_ii(best.ii).max_ii(Some(best.ii)).time_limit(left);
    let bound_valid = validate(&bound).map_err(ScheduleError::Graph)?;
    let mut answer = schedule_fixed(&bound_valid, &options)?;
    let bounds = bounds_of(&valid.problem);
    (answer.mii, answer.res_mii, answer.rec_mii) = (bounds.mii, bounds.res_mii, bounds.rec_mii);
    answer.lower_bound = lower_bound.clamp(bounds.mii, answer.ii.max(bounds.mii));
    answer.optimal = answer.ii == answer.lower_bound;
    answer.outcome = if answer.optimal { ScheduleOutcome::ProvenOptimal } else { ScheduleOutcome::Best };
    // The length is that of one binding.
    answer.length_optimal = false;
    let merged = valid.whole().merged();
    answer.critical_resource =
        bounds.critical_resource.and_then(|r| Some(merged.resources.get(r)?.name.clone()));
    answer.bindings = bindings;
    Ok(answer)
}
