//! Items in an order of their own, so that the order of the input decides nothing (B1, B85).

use super::{PackItem, PackOutcome, PackProblem};
use std::cmp::Reverse;

/// The items sorted by what they are, and where each of them stood; `None` where they are sorted already.
///
/// Items that are alike in everything but whom they are separated from or colocated with keep their order.
pub(super) fn canonical(p: &PackProblem) -> Option<(PackProblem, Vec<usize>)> {
    let mut ties = vec![(0u32, 0u32); p.items.len()];
    for &(a, b) in &p.separations {
        ties[a].0 += 1;
        ties[b].0 += 1;
    }
    p.colocations.iter().for_each(|g| g.iter().for_each(|&k| ties[k].1 += g.len() as u32));
    // As brackets nest: by start, the longest first.
    let first = |i: &PackItem| {
        let span = i.live.first();
        span.map(|s| (s.segment, s.start, Reverse(s.len), s.window))
    };
    let rest = |i: &PackItem| -> Vec<_> {
        i.live.iter().skip(1).map(|s| (s.segment, s.start, s.len, s.window)).collect()
    };
    let key = |i: &PackItem| (first(i), Reverse(i.size), i.align, i.fixed);
    let compare = |&a: &usize, &b: &usize| {
        let (x, y) = (&p.items[a], &p.items[b]);
        let plain = key(x).cmp(&key(y)).then_with(|| ties[a].cmp(&ties[b]));
        plain.then_with(|| rest(x).cmp(&rest(y)))
    };
    let mut order: Vec<usize> = (0..p.items.len()).collect();
    if order.is_sorted_by(|a, b| compare(a, b).is_le()) {
        return None;
    }
    order.sort_by(compare);
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
    let problem = PackProblem {
        items: order.iter().map(|&k| p.items[k].clone()).collect(),
        segments: p.segments.clone(),
        reserved: p.reserved.clone(),
        separations: p.separations.iter().map(|&(a, b)| (place[a], place[b])).collect(),
        colocations: p.colocations.iter().map(|g| g.iter().map(|&k| place[k]).collect()).collect(),
        capacity: p.capacity,
    };
    Some((problem, order))
}

/// An answer about sorted items as one about the items as they stood.
pub(super) fn restore(outcome: PackOutcome, order: &[usize]) -> PackOutcome {
    let back = |offsets: Vec<u64>| {
        let mut out = vec![0; offsets.len()];
        order.iter().zip(offsets).for_each(|(&old, at)| out[old] = at);
        out
    };
    match outcome {
        PackOutcome::Fits { offsets, peak, lower_bound, optimal } => {
            PackOutcome::Fits { offsets: back(offsets), peak, lower_bound, optimal }
        }
        PackOutcome::ProvedInfeasible { lower_bound, core } => {
            let mut core: Vec<usize> = core.into_iter().map(|k| order[k]).collect();
            core.sort_unstable();
            PackOutcome::ProvedInfeasible { lower_bound, core }
        }
        PackOutcome::GaveUp { best, lower_bound } => {
            PackOutcome::GaveUp { best: best.map(|(offsets, peak)| (back(offsets), peak)), lower_bound }
        }
        PackOutcome::Invalid(e) => PackOutcome::Invalid(e),
    }
}
