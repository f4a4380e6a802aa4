//! A plan when there is no time for any: everything above everything.

use super::prepare::{align_up, groups, lcm};
use super::{PackOutcome, PackProblem};

/// The outcome of a problem that nobody had the time to look into: items on top of each other, in their order.
pub(super) fn stacked(p: &PackProblem) -> PackOutcome {
    let root = groups(p);
    let mut order: Vec<usize> = (0..p.items.len()).filter(|&k| p.items[k].size > 0).collect();
    order.sort_by_key(|&k| root[k]);
    let mut reserved: Vec<(u64, u64)> =
        p.reserved.iter().filter(|r| r.1 > 0).map(|r| (r.0, r.0 + r.1)).collect();
    reserved.sort_unstable();
    let (mut offsets, mut top, mut lower_bound) = (vec![0; p.items.len()], 0u64, 0u64);
    for part in order.chunk_by(|&a, &b| root[a] == root[b]) {
        let items = || part.iter().map(|&k| &p.items[k]);
        let size = items().map(|i| i.size).max().unwrap_or(0);
        let align = items().fold(1, |a, i| lcm(a, i.align));
        lower_bound = lower_bound.max(size);
        if items().any(|i| i.fixed.is_some()) {
            return PackOutcome::GaveUp { best: None, lower_bound };
        }
        let mut at = align_up(top, align);
        for &(from, to) in &reserved {
            if at < to && from < at.saturating_add(size) {
                at = align_up(to, align);
            }
        }
        let Some(end) = at.checked_add(size) else { return PackOutcome::GaveUp { best: None, lower_bound } };
        part.iter().for_each(|&k| offsets[k] = at);
        top = end;
    }
    if p.capacity.is_some_and(|capacity| top > capacity) {
        return PackOutcome::GaveUp { best: Some((offsets, top)), lower_bound };
    }
    PackOutcome::Fits { offsets, peak: top, lower_bound, optimal: top == lower_bound }
}
