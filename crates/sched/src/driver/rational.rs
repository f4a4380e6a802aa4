//! The best factor to unroll by (S101).

use crate::bounds::crowds::crowd_ratio;
use crate::bounds::joint::joint_bound;
use crate::bounds::least_ii::bounds_of;
use crate::driver::schedule::schedule;
use crate::model::error::ScheduleError;
use crate::model::graph::LoopGraph;
use crate::model::guard::Guard;
use crate::model::int::div_ceil;
use crate::model::options::ScheduleOptions;
use crate::model::rational::{CopyTime, FactorBound, UnrolledAnswer};
use crate::model::unroll::{MOST_FACTOR, refusal, unroll};
use crate::model::validate::{ValidGraph, validate};
use std::time::Instant;

/// Schedules the loop unrolled by every factor up to `most` that may be worth it; the least II for an iteration wins, the
/// smaller factor among equals (S101).
///
/// A factor is not looked at where the bounds alone say that it is no better, and no further than where it would be. The
/// time limit of the options is for all of them; factor 1 is always scheduled.
///
/// # Errors
/// [`ScheduleError::BadOption`] for a limit of 0 or above 64, and those of [`schedule`] for the loop as it is.
pub fn schedule_unrolled(
    graph: &ValidGraph<'_>,
    most: u64,
    options: &ScheduleOptions,
) -> Result<UnrolledAnswer, ScheduleError> {
    if !(1..=MOST_FACTOR).contains(&most) {
        return Err(refusal(format!("{most} is not between 1 and {MOST_FACTOR}")));
    }
    let start = Instant::now();
    let first = schedule(graph, options)?;
    let mut factors =
        vec![FactorBound { factor: 1, lower_bound: first.lower_bound, ii: Some(first.ii), refused: None }];
    let mut best = (1, first);
    let mut candidates = Vec::new();
    for factor in 2..=most {
        match candidate(graph.whole(), factor) {
            Ok(found) => candidates.push((factor, found)),
            Err(refused) => {
                factors.push(FactorBound { factor, lower_bound: 1, ii: None, refused: Some(refused) });
            }
        }
    }
    // The least bound first: what reaches it needs no other.
    candidates.sort_by(|(k, (_, b)), (l, (_, c))| per(*b, *l).cmp(&per(*c, *k)).then(k.cmp(l)));
    let mut crowds = None;
    for (factor, (unrolled, mut bound)) in candidates {
        let mut known = FactorBound { factor, lower_bound: bound, ii: None, refused: None };
        // The greatest II that would be better.
        let below = per(best.1.ii, factor) - 1;
        let most_ii = i64::try_from(below.div_euclid(i128::from(best.0))).unwrap_or(i64::MAX);
        let left = options.time_limit.map(|limit| limit.saturating_sub(start.elapsed()));
        if bound <= most_ii {
            // What it takes to know is worth it only where the bounds of each factor alone do not suffice.
            let ratio = crowds.get_or_insert_with(|| {
                crowd_ratio(&graph.problem, &mut Guard::new(&options.clone().time_limit(left)))
            });
            bound = ratio.map_or(bound, |(cycles, iterations)| {
                bound.max(div_ceil(cycles.saturating_mul(factor as i64), iterations))
            });
            known.lower_bound = bound;
        }
        if bound <= most_ii && left.is_none_or(|left| !left.is_zero()) {
            let last = options.max_ii.map_or(most_ii, |m| m.min(most_ii));
            let options = options.clone().time_limit(left).max_ii(Some(last)).start(None);
            match validate(&unrolled)
                .map_err(ScheduleError::Graph)
                .and_then(|valid| schedule(&valid, &options))
            {
                Ok(answer) => {
                    (known.ii, known.lower_bound) = (Some(answer.ii), answer.lower_bound);
                    best = (factor, answer);
                }
                Err(ScheduleError::Infeasible { up_to }) => {
                    known.lower_bound = up_to.map_or(i64::MAX, |ii| ii.saturating_add(1));
                }
                Err(ScheduleError::GaveUp { lower_bound }) => known.lower_bound = bound.max(lower_bound),
                Err(error @ (ScheduleError::Check(_) | ScheduleError::BadOption { .. })) => {
                    return Err(error);
                }
                Err(error) => known.refused = Some(error.to_string()),
            }
        }
        factors.push(known);
    }
    factors.sort_by_key(|f| f.factor);
    Ok(concluded(graph.whole().nodes.len(), best, factors))
}

/// Cycles times iterations, to compare cycles for an iteration without division.
fn per(cycles: i64, iterations: u64) -> i128 {
    i128::from(cycles) * i128::from(iterations)
}

/// The loop unrolled, and the bound on its II.
fn candidate(graph: &LoopGraph, factor: u64) -> Result<(LoopGraph, i64), String> {
    let unrolled = unroll(graph, factor).map_err(|e| e.to_string())?;
    let bound = validate(&unrolled).map(|valid| {
        let single = bounds_of(&valid.problem).mii;
        single.max(joint_bound(&valid.problem, single))
    });
    let bound = bound.map_err(|e| e.to_string())?;
    Ok((unrolled, bound))
}

fn concluded(
    n: usize,
    (factor, answer): (u64, crate::model::answer::Answer),
    factors: Vec<FactorBound>,
) -> UnrolledAnswer {
    let open = factors.iter().filter(|f| f.refused.is_none());
    let least = open.min_by(|a, b| per(a.lower_bound, b.factor).cmp(&per(b.lower_bound, a.factor)));
    let (bound, of) = least.map_or((1, 1), |f| (f.lower_bound, f.factor));
    // What is known of the others may lie above what was found.
    let optimal = per(bound, factor) >= per(answer.ii, of);
    let lower_bound = if optimal { [answer.ii, factor as i64] } else { [bound, of as i64] };
    let mut copies: Vec<CopyTime> = answer
        .nodes
        .iter()
        .map(|v| CopyTime { node: v.id % n.max(1), copy: (v.id / n.max(1)) as u64, time: v.time })
        .collect();
    copies.sort_by_key(|c| (c.copy, c.node));
    UnrolledAnswer { factor, lower_bound, optimal, copies, factors, answer }
}
