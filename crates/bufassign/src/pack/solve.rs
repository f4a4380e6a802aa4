//! Bound, portfolio, exact search, verdict (B58..B60).

use super::bound::lower_bound;
use super::canon::{canonical, restore};
use super::decide::search;
use super::exact::Answer;
use super::late::stacked;
use super::prepare::{Prepared, cut, prepare};
use super::sweep::{Swept, sweep};
use super::{PackOptions, PackOutcome, PackProblem, greedy};

/// Packs a problem (B56..B60). Deterministic unless `stop` or `deadline` interferes; then the best plan so far is the
/// answer, at worst everything above everything.
///
/// With a capacity the first plan within it is the answer; without one the peak is minimised.
pub fn pack(problem: &PackProblem, options: &PackOptions<'_>) -> PackOutcome {
    if let Err(e) = problem.validate() {
        return PackOutcome::Invalid(e);
    }
    // With a capacity any plan within it will do; a peak is the same whatever the order.
    let many = problem.capacity.is_none() && problem.items.len() > PackOptions::SORTED;
    // Sorting millions takes seconds, which there may not be.
    let sorted = (options.any_order || many && !options.is_late()).then(|| canonical(problem));
    match sorted.flatten() {
        Some((sorted, order)) => restore(solve(&sorted, options), &order),
        None => solve(problem, options),
    }
}

/// With more items than this there is a plan in linear-log time before anything else is looked into.
const MANY: usize = 2000;
/// With more items than this there is no other.
const MOST: usize = 200_000;

fn solve(problem: &PackProblem, options: &PackOptions<'_>) -> PackOutcome {
    let n = problem.items.len();
    let swept = if n > MANY { sweep(problem, options) } else { None };
    if let Some(s) = &swept
        && (s.peak == s.load || problem.capacity.is_some_and(|c| s.load > c || s.peak <= c))
    {
        return quick(problem, swept);
    }
    let prepared = if n > MOST && swept.is_some() { None } else { prepare(problem, options) };
    let Some(p) = prepared else {
        return quick(problem, swept.or_else(|| late_sweep(problem, options)));
    };
    if let Some(core) = &p.contradiction {
        return PackOutcome::ProvedInfeasible { lower_bound: 0, core: core.clone() };
    }
    let (bound, core) = lower_bound(&p);
    let items_of = |blocks: &[usize]| -> Vec<usize> {
        let mut all: Vec<usize> = blocks.iter().flat_map(|&b| p.blocks[b].items.iter().copied()).collect();
        all.sort_unstable();
        all
    };
    if problem.capacity.is_some_and(|c| bound > c) {
        return PackOutcome::ProvedInfeasible { lower_bound: bound, core: items_of(&core) };
    }
    let fits = |offsets: &[u64], lower: u64, exhausted: bool| {
        let peak = p.peak(offsets);
        let optimal = peak == lower || exhausted;
        PackOutcome::Fits { offsets: p.spread(n, offsets), peak, lower_bound: lower, optimal }
    };
    let of_blocks = |s: &Swept| p.blocks.iter().map(|b| s.offsets[b.items[0]]).collect();
    let mut found = greedy::best(&p, bound, options);
    if let Some(s) = swept.as_ref().filter(|s| found.as_ref().is_none_or(|f| s.peak < f.1)) {
        found = Some((of_blocks(s), s.peak));
    }
    if found.is_none() && options.is_late() {
        let swept = late_sweep(problem, options);
        return quick(problem, swept.map(|s| Swept { load: bound, ..s }));
    }
    if let Some((offsets, peak)) = &found
        && (*peak == bound || problem.capacity.is_some_and(|c| *peak <= c) || p.blocks.is_empty())
    {
        return fits(offsets, bound, false);
    }
    if !options.exact {
        return match (problem.capacity, found) {
            (None, Some((offsets, _))) => fits(&offsets, bound, false),
            (_, best) => gave_up(&p, n, best, bound),
        };
    }
    match problem.capacity {
        Some(capacity) => match search(&p, capacity, options, &mut { options.node_budget }) {
            Answer::Found(offsets) => fits(&offsets, bound, false),
            Answer::None(blocks) => {
                PackOutcome::ProvedInfeasible { lower_bound: bound, core: items_of(&blocks) }
            }
            Answer::Unknown => gave_up(&p, n, found, bound),
        },
        None => match minimise(&p, bound, found, options) {
            (Some(offsets), lower, exhausted) => fits(&offsets, lower, exhausted),
            (None, lower, _) => gave_up(&p, n, None, lower),
        },
    }
}

/// The plan in one pass of a problem whose other plans were not ready in time; of millions of items there is none either.
fn late_sweep(problem: &PackProblem, options: &PackOptions<'_>) -> Option<Swept> {
    if problem.items.len() > MANY { sweep(problem, options) } else { sweep(problem, &PackOptions::default()) }
}

/// The answer of a problem that nobody had the time or the memory to look into.
fn quick(problem: &PackProblem, swept: Option<Swept>) -> PackOutcome {
    let Some(Swept { offsets, peak, load, core }) = swept else { return stacked(problem) };
    match problem.capacity {
        Some(c) if load > c => PackOutcome::ProvedInfeasible { lower_bound: load, core },
        Some(c) if peak > c => PackOutcome::GaveUp { best: Some((offsets, peak)), lower_bound: load },
        _ => PackOutcome::Fits { offsets, peak, lower_bound: load, optimal: peak == load },
    }
}

/// The aligned load of the fullest moment: no plan has a lower peak (B59). 0 for a problem that
/// makes no sense.
pub fn load_bound(problem: &PackProblem) -> u64 {
    if problem.validate().is_err() {
        0
    } else {
        cut(problem, &PackOptions::default()).map_or(0, |p| lower_bound(&p).0)
    }
}

fn gave_up(p: &Prepared, n: usize, best: Option<(Vec<u64>, u64)>, lower_bound: u64) -> PackOutcome {
    let best = best.map(|(o, peak)| (p.spread(n, &o), peak));
    PackOutcome::GaveUp { best, lower_bound }
}

/// One part in so many of the budget goes to each goal that need not be decided.
const QUICK: u64 = 16;

/// Lowers the peak until it meets the bound, is proved least, or the budget is spent. Gives the
/// best plan, a bound that holds, and whether the search proved it.
fn minimise(
    p: &Prepared,
    bound: u64,
    found: Option<(Vec<u64>, u64)>,
    options: &PackOptions<'_>,
) -> (Option<Vec<u64>>, u64, bool) {
    let mut budget = options.node_budget;
    let Some((mut best, mut peak)) = found else {
        // Fixed blocks: greedy may fail where a plan exists.
        let most = p.blocks.iter().map(|b| b.size + b.align).sum::<u64>()
            + p.reserved.iter().map(|r| r.1).max().unwrap_or(0)
            + p.blocks.iter().filter_map(|b| b.fixed).max().unwrap_or(0);
        return match search(p, most, options, &mut budget) {
            Answer::Found(offsets) => (Some(offsets), bound, false),
            _ => (None, bound, false),
        };
    };
    // All offsets can be taken from a grid, so peaks are multiples of it.
    let grid = if p.reserved.is_empty() { p.grid() } else { 1 };
    let mut lower = bound.div_ceil(grid) * grid;
    // The bound is the likeliest optimum; then what is open is halved, each time with a small part of the
    // budget, and the rest goes to the one question that decides: is there anything below the best?
    let (mut goal, mut open) = (lower, lower);
    while lower < peak {
        let last = goal + grid >= peak;
        let mut share = if last { budget } else { (budget / QUICK).max(1) };
        let before = share;
        let answer = search(p, goal, options, &mut share);
        budget = budget.saturating_sub(before - share);
        match answer {
            Answer::Found(offsets) => {
                peak = p.peak(&offsets);
                best = offsets;
            }
            Answer::None(_) => lower = goal + grid,
            Answer::Unknown if last => return (Some(best), lower, false),
            Answer::Unknown => {}
        }
        // Goals up to the last one that failed are no longer worth a try.
        if peak > goal {
            open = goal + grid;
        }
        goal = if open >= peak { peak - grid } else { open + (peak - open) / 2 / grid * grid };
    }
    (Some(best), peak, true)
}
