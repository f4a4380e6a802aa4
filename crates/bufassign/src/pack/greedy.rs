//! The greedy portfolio (B59): six orders times first fit and best fit.

use super::PackOptions;
use super::prepare::{Prepared, align_up};

/// Blocks after which the time is looked at.
const OFTEN: usize = 64;
/// Above this many blocks only a few of the orders are tried.
const MANY: usize = 2000;

/// The best plan of the portfolio: offsets of blocks and the peak. `None` where fixed blocks or
/// reserved ranges leave no place, or there was no time for one.
pub(super) fn best(p: &Prepared, lower_bound: u64, options: &PackOptions<'_>) -> Option<(Vec<u64>, u64)> {
    let mut best: Option<(Vec<u64>, u64)> = None;
    for (n, order) in orders(p).iter().enumerate() {
        if n >= 2 && p.blocks.len() > MANY {
            break;
        }
        for best_fit in [true, false] {
            if options.is_late() {
                return best;
            }
            let Some(offsets) = place(p, order, best_fit, options) else { continue };
            let peak = p.peak(&offsets);
            if best.as_ref().is_none_or(|b| peak < b.1) {
                best = Some((offsets, peak));
            }
            if peak <= lower_bound {
                return best;
            }
        }
    }
    best
}

/// Orders by {size, size x duration, duration, start, degree, id}; ties by size, duration, id.
pub(super) fn orders(p: &Prepared) -> Vec<Vec<u32>> {
    let key = |how: usize, k: u32| -> u128 {
        let b = &p.blocks[k as usize];
        match how {
            0 => u128::from(b.size),
            1 => u128::from(b.size) * u128::from(b.duration),
            2 => u128::from(b.duration),
            3 => u128::MAX / 2 - (i128::from(b.start) + (1 << 62)).unsigned_abs(),
            4 => p.conflicts[k as usize].len() as u128,
            _ => 0,
        }
    };
    (0..6)
        .map(|how| {
            let mut order: Vec<u32> = (0..p.blocks.len() as u32).collect();
            if how < 5 {
                order.sort_by_key(|&k| {
                    let b = &p.blocks[k as usize];
                    (
                        b.fixed.is_none(),
                        std::cmp::Reverse(key(how, k)),
                        std::cmp::Reverse(b.size),
                        std::cmp::Reverse(b.duration),
                        k,
                    )
                });
            } else {
                order.sort_by_key(|&k| (p.blocks[k as usize].fixed.is_none(), k));
            }
            order
        })
        .collect()
}

/// Places blocks in order, each at the lowest place that fits, or in the tightest gap.
fn place(p: &Prepared, order: &[u32], best_fit: bool, options: &PackOptions<'_>) -> Option<Vec<u64>> {
    let mut offsets = vec![u64::MAX; p.blocks.len()];
    let mut busy: Vec<(u64, u64)> = Vec::new();
    for (n, &k) in order.iter().enumerate() {
        if n.is_multiple_of(OFTEN) && options.is_late() {
            return None;
        }
        let k = k as usize;
        let b = &p.blocks[k];
        busy.clear();
        for &other in &p.conflicts[k] {
            let at = offsets[other as usize];
            if at == u64::MAX {
                continue;
            }
            // Places of k that collide with it: from just above at - below(k, other) on.
            let above = at + p.below(other as usize, k);
            let under = at.saturating_sub(p.below(k, other as usize).saturating_sub(b.size));
            busy.push((under, above));
        }
        busy.extend(&p.reserved);
        busy.sort_unstable();
        offsets[k] = match b.fixed {
            Some(f) => {
                if busy.iter().any(|&(from, to)| f < to && f + b.size > from) {
                    return None;
                }
                f
            }
            None => gap(&busy, b.size, b.align, best_fit),
        };
    }
    Some(offsets)
}

/// A free aligned place of `size` bytes among sorted busy ranges.
fn gap(busy: &[(u64, u64)], size: u64, align: u64, best_fit: bool) -> u64 {
    let (mut end, mut best): (u64, Option<(u64, u64)>) = (0, None);
    for &(from, to) in busy {
        let at = align_up(end, align);
        if at + size <= from {
            if !best_fit {
                return at;
            }
            let slack = from - end - size;
            if best.is_none_or(|b| slack < b.0) {
                best = Some((slack, at));
            }
        }
        end = end.max(to);
    }
    best.map_or_else(|| align_up(end, align), |b| b.1)
}
