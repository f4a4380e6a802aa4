//! Phase 3, second half: offsets in one space (B46, B55..B57), tensor-memory lanes (B43).

mod plot;
mod spans;
mod stack;

pub(crate) use plot::{Placed, Plot, live_in};
pub(crate) use spans::{Ground, beside, problem_of};

use crate::handshake::Shake;
use crate::lifetime::Lifetimes;
use crate::model::Model;
use crate::orders::{Orders, SlotOrder, least_distance, wraps};
use crate::pack::{self, PackOptions, PackOutcome, PackProblem};
use spans::{everything, problem};
use std::collections::BTreeSet;

/// Items up to which the packer may spend all of its nodes.
const SMALL: u64 = 32;
/// Items up to which the packer searches at all for the least peak.
const EXACT: usize = 400;
/// Rounds of packing in which pairs that cannot be ordered are found one by one.
const ROUNDS: u32 = 16;
/// Pairs on common bytes that are looked at in a round.
const MOST_PAIRS: usize = 4_000_000;

/// Packs the plots of one space, holding overlays inside a region to B51 (B57).
#[allow(clippy::too_many_arguments)]
pub(crate) fn place(
    model: &Model<'_>,
    life: &Lifetimes,
    orders: &mut Orders,
    shakes: &[Shake],
    plots: &[&Plot],
    ground: &Ground<'_>,
    insert: bool,
) -> Placed {
    let upper =
        if ground.lanes { choose_halves(model, life, plots, ground) } else { vec![false; plots.len()] };
    let mut problem = problem(model, life, plots, ground, &upper);
    let load_bound = pack::load_bound(&problem);
    let mut separations: BTreeSet<(usize, usize)> = BTreeSet::new();
    let (mut round, mut apart) = (0, false);
    loop {
        problem.separations = separations.iter().copied().collect();
        let mut placed = match apart && plots.len() > EXACT && ground.reserved.is_empty() {
            true => stack::solve(&problem, |stacks| solve(model, stacks, ground, round)),
            false => solve(model, &problem, ground, round),
        };
        placed.load_bound = load_bound;
        // With nothing overlaid a plan is a plan, but that none is better proves nothing.
        placed.optimal &= !apart || placed.peak == load_bound;
        placed.infeasible &= !apart;
        placed.upper.clone_from(&upper);
        let mut trial = orders.clone();
        let refused = overlays(model, life, &mut trial, shakes, plots, &problem, &mut placed, insert);
        round += 1;
        match refused {
            Some(pairs) if pairs.is_empty() => {
                *orders = trial;
                return placed;
            }
            Some(pairs)
                if round < ROUNDS && !model.is_late() && separations.len() <= most_refused(plots.len()) =>
            {
                separations.extend(pairs);
            }
            _ => {
                // Too many pairs cannot be ordered to find them one by one: in a region nothing is overlaid.
                apart = true;
                separations.clear();
                let per_region = if ground.lanes { 2 } else { 1 };
                for span in problem.items.iter_mut().flat_map(|i| &mut i.live) {
                    (span.start, span.len) = (0, everything(model, life, span.segment / per_region).max(1));
                }
            }
        }
    }
}

/// Refused pairs after which the rest need not be found: no fewer than a kernel has at all.
fn most_refused(plots: usize) -> usize {
    (SMALL as usize).pow(2).div_ceil(2).max(8 * plots)
}

/// Some member of one is live in the own region of a member of the other.
fn same_region(life: &Lifetimes, a: &Plot, b: &Plot) -> bool {
    let meet = |x: usize, y: usize| {
        let (u, v) = (&life.units[x], &life.units[y]);
        live_in(u, v.region) || live_in(v, u.region)
    };
    a.ring.units.iter().any(|&x| b.ring.units.iter().any(|&y| meet(x, y)))
}

/// Least peak; if that is past the capacity, a search for any plan within it.
fn solve(model: &Model<'_>, problem: &PackProblem, ground: &Ground<'_>, round: u32) -> Placed {
    let capacity = ground.capacity;
    let items = problem.items.len();
    // A node costs the more the more items there are, and what an early round finds is mostly thrown away.
    let many = SMALL.max(items as u64);
    let fewer = |n: u64| (n.min(1 << 40) * SMALL / many * SMALL / many) >> round.min(4);
    let budget = fewer(ground.nodes);
    // Minimising is a courtesy, fitting is the duty: most of the budget is kept for the latter.
    let options = PackOptions::default().deadline(model.deadline);
    let quick = options.node_budget(budget.min(fewer(200_000))).exact(items <= EXACT);
    let mut placed = Placed::default();
    if let PackOutcome::Fits { offsets, peak, optimal, .. } = pack::pack(problem, &quick) {
        placed = Placed { offsets, peak, optimal, ..Placed::default() };
    }
    if placed.offsets.len() == problem.items.len() && (placed.peak <= capacity || placed.optimal) {
        placed.infeasible = placed.peak > capacity;
        return placed;
    }
    let bounded = PackProblem { capacity: Some(capacity), ..problem.clone() };
    let thorough = options.node_budget(budget);
    match pack::pack(&bounded, &thorough) {
        PackOutcome::Fits { offsets, peak, optimal, .. } => {
            placed = Placed { offsets, peak, optimal, ..Placed::default() };
        }
        PackOutcome::ProvedInfeasible { .. } => placed.infeasible = true,
        PackOutcome::GaveUp { best: Some((offsets, peak)), .. } if placed.offsets.is_empty() => {
            (placed.offsets, placed.peak) = (offsets, peak);
        }
        PackOutcome::GaveUp { .. } | PackOutcome::Invalid(_) => {}
    }
    if placed.offsets.len() != problem.items.len() {
        placed.offsets = vec![0; problem.items.len()];
        placed.peak = u64::MAX;
    }
    placed
}

/// Pairs that share bytes inside a region without being orderable, unless there are too many; orders
/// of the others are added to the plan.
#[allow(clippy::too_many_arguments)]
fn overlays(
    model: &Model<'_>,
    life: &Lifetimes,
    orders: &mut Orders,
    shakes: &[Shake],
    plots: &[&Plot],
    problem: &PackProblem,
    placed: &mut Placed,
    insert: bool,
) -> Option<Vec<(usize, usize)>> {
    let mut by_offset: Vec<usize> = (0..plots.len()).filter(|&k| problem.items[k].size > 0).collect();
    by_offset.sort_by_key(|&k| placed.offsets[k]);
    let over = |at: usize| {
        let a = by_offset[at];
        let end = placed.offsets[a].saturating_add(problem.items[a].size);
        let others = &by_offset[at + 1..];
        (a, &others[..others.partition_point(|&b| placed.offsets[b] < end)])
    };
    let count: usize = (0..by_offset.len()).map(|at| over(at).1.len()).sum();
    if count > MOST_PAIRS {
        return None;
    }
    let mut pairs = Vec::with_capacity(count);
    for at in 0..by_offset.len() {
        let (a, others) = over(at);
        for &b in others {
            let lanes_meet =
                !(plots[a].half_lanes && plots[b].half_lanes && placed.upper[a] != placed.upper[b]);
            if lanes_meet && same_region(life, plots[a], plots[b]) {
                pairs.push((a.min(b) as u32, a.max(b) as u32));
            }
        }
    }
    pairs.sort_unstable();
    let mut refused = Vec::new();
    for (a, b) in pairs {
        let (a, b) = (a as usize, b as usize);
        if orders.is_spent() || !order_pair(model, life, orders, shakes, plots[a], plots[b], insert, placed) {
            refused.push((a, b));
        }
        if refused.len() > most_refused(plots.len()) {
            return None;
        }
    }
    Some(refused)
}

#[allow(clippy::too_many_arguments)]
fn order_pair(
    model: &Model<'_>,
    life: &Lifetimes,
    orders: &mut Orders,
    shakes: &[Shake],
    a: &Plot,
    b: &Plot,
    insert: bool,
    placed: &mut Placed,
) -> bool {
    let mut all = Vec::new();
    for &x in &a.ring.units {
        for &y in &b.ring.units {
            let (u, v) = (&life.units[x], &life.units[y]);
            if u.region != v.region {
                // A value from an earlier region ends in this line before the other begins.
                for (from, to) in [(x, y), (y, x)] {
                    let t = &life.units[to];
                    if live_in(&life.units[from], t.region) {
                        let mut h = [SlotOrder { from, to, distance: 0, implied: false }];
                        if !orders.settle(model, life, shakes, t.region, (&[], 1), &mut h, insert) {
                            return false;
                        }
                        all.push(h[0]);
                    }
                }
                continue;
            }
            let r = &model.regions[u.region];
            for (from, to) in [(x, y), (y, x)] {
                let (f, t) = (&life.units[from], &life.units[to]);
                if !r.is_loop && f.start >= t.start {
                    continue;
                }
                let least = if r.is_loop { least_distance(f, t, 0, 1, r.ii) } else { 0 };
                for distance in wraps(least, 1) {
                    let mut h = [SlotOrder { from, to, distance, implied: false }];
                    if !orders.settle(model, life, shakes, u.region, (&[], 1), &mut h, insert) {
                        return false;
                    }
                    all.push(h[0]);
                }
            }
        }
    }
    placed.overlays.extend(all);
    true
}

/// Puts 64-row tiles on one lane set or the other so that the columns come out low (B43).
fn choose_halves(model: &Model<'_>, life: &Lifetimes, plots: &[&Plot], ground: &Ground<'_>) -> Vec<bool> {
    let half: Vec<usize> = (0..plots.len()).filter(|&k| plots[k].half_lanes).collect();
    let mut best = vec![false; plots.len()];
    if half.len() < 2 {
        return best;
    }
    let greedy = PackOptions::default().exact(false).deadline(model.deadline);
    let mut least = u64::MAX;
    let mut try_out = |upper: Vec<bool>| {
        let outcome = pack::pack(&problem(model, life, plots, ground, &upper), &greedy);
        if let PackOutcome::Fits { peak, .. } = outcome
            && peak < least
        {
            (least, best) = (peak, upper);
        }
    };
    // The first tile's side is free; a few tiles are tried exhaustively, many in turn by size.
    if half.len() <= 8 {
        for mask in 0u32..1 << (half.len() - 1) {
            let mut upper = vec![false; plots.len()];
            for (bit, &k) in half.iter().skip(1).enumerate() {
                upper[k] = mask >> bit & 1 == 1;
            }
            try_out(upper);
        }
    } else {
        let mut by_size = half.clone();
        by_size.sort_by_key(|&k| (std::cmp::Reverse(plots[k].bytes()), k));
        let mut sums = [0u64; 2];
        let mut upper = vec![false; plots.len()];
        for k in by_size {
            let side = usize::from(sums[1] < sums[0]);
            sums[side] = sums[side].saturating_add(plots[k].bytes());
            upper[k] = side == 1;
        }
        try_out(upper);
    }
    best
}
