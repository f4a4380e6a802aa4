//! Lower bounds on the II: resources, recurrences, self conflicts (S13-S17).

use crate::bounds::ratio::recurrence_bound;
use crate::bounds::self_fit::next_self_fit;
use crate::model::problem::Problem;
use crate::model::validate::ValidGraph;

/// The bounds of a loop and what attains them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// `max(1, max_r ceil(sum of durations on r / count_r))` (S13).
    pub res_mii: i64,
    /// `max(0, max_C ceil(latency(C) / distance(C)))` over all recurrences (S15).
    pub rec_mii: i64,
    /// The larger of the two, rounded up past IIs at which one operation conflicts with itself (S14, S17).
    pub mii: i64,
    /// Position in `resources` of the one that attains [`res_mii`](Self::res_mii); `None` when nothing is used.
    pub critical_resource: Option<usize>,
    /// The greatest recurrence ratio, latency over distance in lowest terms; `None` when no recurrence has a positive
    /// latency.
    pub rec_ratio: Option<(i64, i64)>,
    /// The operations of a recurrence of that ratio, in order.
    pub critical_recurrence: Vec<usize>,
}

/// Computes the bounds of a loop; see [`Bounds`]. Exact, no search (S15, S16).
pub fn bounds(graph: &ValidGraph<'_>) -> Bounds {
    bounds_of(&graph.problem)
}

pub(crate) fn bounds_of(problem: &Problem) -> Bounds {
    let (res_mii, critical_resource) = resource_bound(problem);
    // Validation has excluded positive recurrences of distance 0, and only caps have negative distances.
    let rec = recurrence_bound(&problem.dependences, true).unwrap_or_default();
    let mii = next_self_fit(problem, res_mii.max(rec.bound));
    Bounds {
        res_mii,
        rec_mii: rec.bound,
        mii,
        critical_resource,
        rec_ratio: rec.ratio,
        critical_recurrence: rec.recurrence.iter().map(|a| a.src as usize).collect(),
    }
}

pub(crate) fn resource_bound(problem: &Problem) -> (i64, Option<usize>) {
    let mut best: (i64, Option<usize>) = (1, None);
    for (r, (&sum, &count)) in problem.held().iter().zip(&problem.count).enumerate() {
        let need = (sum + count - 1) / count.max(1);
        if need > best.0 || (best.1.is_none() && sum > 0) {
            best = (need.max(1), Some(r));
        }
    }
    best
}
