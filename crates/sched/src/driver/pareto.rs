//! The curve of the II against the bytes of a space: budget after budget, each a byte below what was taken (S100).

use crate::driver::within::schedule_within;
use crate::model::answer::{Answer, ScheduleOutcome};
use crate::model::budget::MemoryBudget;
use crate::model::error::ScheduleError;
use crate::model::options::ScheduleOptions;
use crate::model::pareto::{ParetoCurve, ParetoPoint};
use crate::model::validate::ValidGraph;
use std::collections::BTreeSet;
use std::time::Instant;

/// Points of a curve; more of them are left out in the middle.
const MOST_POINTS: usize = 64;

/// The II against the bytes of every space that values live in, the other spaces as the budget has them, or without limit.
///
/// Each curve ends with the fewest bytes that any schedule takes, at any time limit, 0 included: what the time did not
/// suffice for is left out before that.
///
/// # Errors
/// Those of [`schedule_within`]; where the fewest bytes are already more than the budget has,
/// [`ScheduleError::BudgetInfeasible`].
pub fn pareto(
    graph: &ValidGraph<'_>,
    budget: &MemoryBudget<'_>,
    options: &ScheduleOptions,
) -> Result<Vec<ParetoCurve>, ScheduleError> {
    let begun = Instant::now();
    let spaces: BTreeSet<&str> = graph.whole().values.iter().map(|v| v.space.as_str()).collect();
    let unnamed = spaces.iter().filter(|s| !budget.spaces.contains_key(**s));
    let budget = unnamed.fold(budget.clone(), |budget, s| budget.space(*s, u64::MAX));
    let mut curves = Vec::new();
    for space in spaces {
        curves.push(Curve { graph, budget: &budget, options, begun, space }.points()?);
    }
    Ok(curves)
}

struct Curve<'c, 'a, 'b> {
    graph: &'c ValidGraph<'a>,
    budget: &'c MemoryBudget<'b>,
    options: &'c ScheduleOptions,
    begun: Instant,
    space: &'c str,
}

impl Curve<'_, '_, '_> {
    fn points(&self) -> Result<ParetoCurve, ScheduleError> {
        let have = self.budget.spaces.get(self.space).copied().unwrap_or(u64::MAX);
        let mut curve = ParetoCurve { space: self.space.to_owned(), points: Vec::new(), complete: true };
        let least = self.least()?;
        let mut bound = 1;
        let mut most = Some(have);
        while let Some(bytes) = most.filter(|b| *b >= least || curve.points.is_empty()) {
            let point = match self.within(bytes) {
                Ok(point) => point,
                // A step without an answer costs the rest of the curve, not what is known.
                Err(ScheduleError::GaveUp { .. } | ScheduleError::Infeasible { .. })
                    if !curve.points.is_empty() =>
                {
                    curve.complete = false;
                    break;
                }
                Err(error) => return Err(error),
            };
            let point = self.bounded(point, &mut bound);
            // Of those that are no slower, only the one of fewer bytes is on the curve.
            while curve.points.last().is_some_and(|last| last.answer.ii >= point.answer.ii) {
                curve.points.pop();
            }
            let below = point.bytes.checked_sub(1);
            curve.points.push(point);
            let full = curve.points.len() + 1 >= MOST_POINTS || self.expired();
            curve.complete &= !full || below.is_none_or(|b| b < least);
            most = below.map(|b| if full && b >= least { least } else { b });
        }
        Ok(curve)
    }

    /// The fewest bytes of any schedule: what the least depths take.
    fn least(&self) -> Result<u64, ScheduleError> {
        let brief = self.options.clone().time_limit(Some(std::time::Duration::ZERO));
        let none = self.budget.clone().space(self.space, 0);
        match schedule_within(self.graph, &none, &brief) {
            Err(ScheduleError::BudgetInfeasible { space, need, .. }) if space == self.space => Ok(need),
            Err(error) => Err(error),
            Ok(_) => Ok(0),
        }
    }

    fn within(&self, bytes: u64) -> Result<ParetoPoint, ScheduleError> {
        let left = self.options.time_limit.map(|limit| limit.saturating_sub(self.begun.elapsed()));
        let options = self.options.clone().time_limit(left);
        let answer = schedule_within(self.graph, &self.budget.clone().space(self.space, bytes), &options)?;
        let used = answer.spaces.iter().find(|s| s.space == self.space).map_or(0, |s| s.used);
        Ok(ParetoPoint { bytes: used, answer })
    }

    /// What is refuted with more bytes is with fewer.
    fn bounded(&self, point: ParetoPoint, bound: &mut i64) -> ParetoPoint {
        *bound = point.answer.lower_bound.max(*bound);
        let ii = point.answer.ii;
        let (lower_bound, optimal) = ((*bound).min(ii), *bound >= ii);
        let outcome = if optimal { ScheduleOutcome::ProvenOptimal } else { ScheduleOutcome::Best };
        ParetoPoint { answer: Answer { lower_bound, optimal, outcome, ..point.answer }, ..point }
    }

    fn expired(&self) -> bool {
        self.options.time_limit.is_some_and(|limit| self.begun.elapsed() >= limit)
    }
}
