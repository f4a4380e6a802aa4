//! The least II by recurrences, and the greatest ratio of latency to distance (S15, S16).

use crate::model::digraph::{Arc, Digraph};
use crate::model::int::{div_ceil, gcd};
use crate::model::recurrence::RecurrenceFinder;

/// The bound by recurrences.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recurrence {
    pub bound: i64,
    pub ratio: Option<(i64, i64)>,
    pub recurrence: Vec<Arc>,
}

/// The least II at which no recurrence is positive (S15). Starts from the best value so far and raises it to the
/// ratio of each recurrence found, so every step is a proof. `None`: recurrences exclude every II, which only caps on
/// depths can do (S55). `exact_ratio` asks for the greatest ratio as a fraction too.
pub(crate) fn recurrence_bound(g: &Digraph, exact_ratio: bool) -> Option<Recurrence> {
    let mut best = Recurrence::default();
    let cyclic: Vec<&[u32]> = g.components_in_order().filter(|m| g.is_cyclic(m)).collect();
    if cyclic.is_empty() {
        return Some(best);
    }
    let mut finder = RecurrenceFinder::<i64>::new(g.n);
    let mut tight: Vec<&[u32]> = Vec::new();
    for &members in &cyclic {
        let mut raised = false;
        while let Some(recurrence) = finder.find(g, members, |a| a.weight(best.bound)) {
            let (latency, distance) = sums(&recurrence);
            if distance <= 0 {
                return None;
            }
            best.bound = div_ceil(latency, distance);
            best.ratio = Some((latency, distance));
            best.recurrence = recurrence;
            raised = true;
        }
        if raised {
            tight.clear();
        }
        tight.push(members);
    }
    if exact_ratio && best.ratio.is_some_and(|(_, d)| d > 0) {
        // A component whose ratio lies between bound - 1 and bound may still beat the recurrence found.
        let mut finder = RecurrenceFinder::<i128>::new(g.n);
        for members in cyclic {
            while let Some((p, q)) = best.ratio
                && let Some(recurrence) = finder.find(g, members, |a| {
                    i128::from(a.latency) * i128::from(q) - i128::from(p) * i128::from(a.distance)
                })
            {
                let (latency, distance) = sums(&recurrence);
                if distance <= 0 {
                    break;
                }
                best.ratio = Some((latency, distance));
                best.recurrence = recurrence;
            }
        }
        best.ratio = best.ratio.map(|(p, q)| {
            let common = gcd(p, q);
            (p / common, q / common)
        });
    }
    Some(best)
}

/// The same for one component alone; `i64::MAX` where recurrences exclude every II.
pub(crate) fn component_bound(g: &Digraph, members: &[u32], finder: &mut RecurrenceFinder<i64>) -> i64 {
    let mut bound = 0;
    while let Some(recurrence) = finder.find(g, members, |a| a.weight(bound)) {
        let (latency, distance) = sums(&recurrence);
        if distance <= 0 {
            return i64::MAX;
        }
        bound = div_ceil(latency, distance);
    }
    bound
}

fn sums(recurrence: &[Arc]) -> (i64, i64) {
    recurrence.iter().fold((0, 0), |(l, d), a| (l + a.latency, d + a.distance))
}
