//! Which resource is searched by which method (S35).

use super::contract::Active;
use super::span::Span;
use super::wrap::{Meeting, Pair, Pairs, Pool, PoolUse};
use crate::bounds::self_fit::repeats_resource;
use crate::model::problem::{Problem, UnitUse};

/// Up to this II and duration, residues are preferred to wrap counts on single units.
const MODERATE_II: i64 = 2048;
const SHORT_USE: i64 = 4;

/// Uses of several units beyond these are left to residues.
const MOST_POOL_USES: usize = 128;

/// Whether wrap counts alone decide, and are the better way.
pub(crate) fn by_wraps_alone(problem: &Problem, span: Span, active: &Active) -> bool {
    long_uses(problem, span, active) && once_each(problem, active) && wraps_decide(problem, span, active)
}

/// Whether some uses are so long, or the table so large, that residues alone are not the way.
pub(crate) fn long_uses(problem: &Problem, span: Span, active: &Active) -> bool {
    let mut uses = active.nodes.iter().flat_map(|&v| problem.uses(v as usize));
    uses.any(|u| span.high > MODERATE_II || u.duration > SHORT_USE)
}

/// Whether no operation uses a resource of several units more than once: where some do, their pairs tell little of the room
/// that is left.
fn once_each(problem: &Problem, active: &Active) -> bool {
    let apart =
        |u: &UnitUse, v: &UnitUse| u.resource != v.resource || problem.count[u.resource as usize] == 1;
    let once_each = |uses: &[UnitUse]| (1..uses.len()).all(|i| uses[..i].iter().all(|u| apart(u, &uses[i])));
    active.nodes.iter().all(|&v| once_each(problem.uses(v as usize)))
}

/// Whether wrap counts alone can decide.
pub(crate) fn wraps_decide(problem: &Problem, span: Span, active: &Active) -> bool {
    let mut pooled = vec![Vec::new(); problem.count.len()];
    for &v in &active.nodes {
        for u in problem.uses(v as usize) {
            if problem.count[u.resource as usize] > 1 {
                pooled[u.resource as usize].push(u.duration);
            }
        }
    }
    pooled.iter().all(|uses| {
        let mut longest = uses.clone();
        longest.sort_unstable_by(|a, b| b.cmp(a));
        // Where two together exceed an II, they overlap in more than one way at once.
        uses.len() <= MOST_POOL_USES && longest.iter().take(2).sum::<i64>() <= span.low
    })
}

/// Which resources are decided by residues: several units, or short uses at a moderate II (S35).
pub(crate) fn residue_resources(problem: &Problem, ii: i64, active: &Active) -> Vec<bool> {
    let mut longest = vec![0; problem.count.len()];
    for u in active.nodes.iter().flat_map(|&v| problem.uses(v as usize)) {
        let slot = &mut longest[u.resource as usize];
        *slot = u.duration.max(*slot);
    }
    let mut by_residue: Vec<bool> = longest
        .iter()
        .zip(&problem.count)
        .map(|(&longest, &count)| longest > 0 && (count > 1 || (ii <= MODERATE_II && longest <= SHORT_USE)))
        .collect();
    for &v in active.nodes.iter().filter(|&&v| repeats_resource(problem.uses(v as usize))) {
        // Several uses of one unit by one operation keep their distance anyway; of several units they add up.
        problem.uses(v as usize).iter().for_each(|u| {
            by_residue[u.resource as usize] |= problem.count[u.resource as usize] > 1;
        });
    }
    by_residue
}

/// The pairs of operations that use a common unit.
///
/// Uses of another unit at the same offset have the same wrap: `x` lies within an II of `k*II` by either's law, and on
/// neither of its ends. So one pair, held as long as the longest, stands for all of them.
pub(crate) fn pairs(problem: &Problem, active: &Active, by_residue: &[bool]) -> Pairs {
    let m = active.nodes.len() + 1;
    let mut users = vec![Vec::new(); problem.count.len()];
    for (node, &v) in (1u32..).zip(&active.nodes) {
        for u in problem.uses(v as usize).iter().filter(|u| problem.count[u.resource as usize] == 1) {
            users[u.resource as usize].push((node, *u));
        }
    }
    let mut pairs = Pairs::default();
    let mut latest: Vec<Option<u32>> = vec![None; m * m];
    for (unit, list) in (0u32..).zip(&users) {
        for (i, &(b, v)) in list.iter().enumerate() {
            for (j, &(a, u)) in list[..i].iter().enumerate().filter(|(_, (a, _))| *a != b) {
                let (offset, first, second) = (v.start - u.start, u.duration, v.duration);
                let branch = !by_residue[u.resource as usize];
                let slot = &mut latest[a as usize * m + b as usize];
                let same = slot.filter(|&id| pairs.list[id as usize].offset == offset);
                let pair = same.unwrap_or(pairs.list.len() as u32);
                match pairs.list.get_mut(pair as usize) {
                    Some(p) => {
                        (p.first, p.second) = (p.first.max(first), p.second.max(second));
                        p.branch |= branch;
                    }
                    None => pairs.list.push(Pair { a, b, offset, first, second, branch, shared: false }),
                }
                *slot = Some(pair);
                let places = (j as u32, i as u32);
                pairs.meetings.push(Meeting { unit, places, pair });
            }
        }
    }
    pairs
}

/// The pairs of a loop that wraps alone decide.
pub(crate) fn all_pairs(problem: &Problem, active: &Active) -> Pairs {
    let mut pairs = pairs(problem, active, &vec![false; problem.count.len()]);
    for (resource, &count) in (0u32..).zip(&problem.count).filter(|(_, count)| **count > 1) {
        let before = pairs.list.len();
        let mut pool = Pool { units: count as usize, uses: Vec::new(), pairs: Vec::new() };
        for (node, &v) in (1u32..).zip(&active.nodes) {
            for u in problem.uses(v as usize).iter().filter(|u| u.resource == resource) {
                for other in &pool.uses {
                    // Uses of one operation keep their distance anyway.
                    if other.node == node {
                        pool.pairs.push(None);
                        continue;
                    }
                    pool.pairs.push(Some(pairs.list.len() as u32));
                    pairs.list.push(Pair {
                        a: other.node,
                        b: node,
                        offset: u.start - other.start,
                        first: other.duration,
                        second: u.duration,
                        branch: true,
                        shared: true,
                    });
                }
                pool.uses.push(PoolUse { node, start: u.start, duration: u.duration });
            }
        }
        // As many uses as units never ask for more.
        if pool.uses.len() > pool.units {
            pairs.pools.push(pool);
        } else {
            pairs.list.truncate(before);
        }
    }
    pairs
}
