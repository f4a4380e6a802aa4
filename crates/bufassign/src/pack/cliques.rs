//! Sets of blocks that all meet each other: at one moment, or around a circle.
//!
//! Blocks live at one moment must be stacked. On a line these are all cliques of the conflict graph;
//! arcs of a circle and separations make others, which share no moment and yet must be stacked too.

use super::prepare::Prepared;

/// Blocks that conflict pairwise, by elementary interval.
pub(super) struct Cliques {
    /// Members (local, ascending); time first, in order, then the others.
    pub members: Vec<Vec<u32>>,
    /// How many of them are moments of time or separations; the others follow from these.
    pub moments: usize,
}

/// Cliques are sought among this many blocks at most.
const MOST_BLOCKS: usize = 64;
/// Cliques beyond moments kept, the heaviest.
const MOST_CLIQUES: usize = 96;
/// Steps of the enumeration.
const MOST_STEPS: u32 = 20_000;

const NONE: u32 = u32::MAX;

/// Cliques among the blocks `ids`, where `local` maps blocks to their places in `ids`.
pub(super) fn cliques(p: &Prepared, ids: &[u32], local: &[u32], near: &[Vec<u32>]) -> Cliques {
    let mut members = moments(p, ids);
    let mut pairs: Vec<Vec<u32>> = p
        .separated
        .iter()
        .map(|&(a, b)| [local[a as usize], local[b as usize]])
        .filter(|ab| !ab.contains(&NONE))
        .map(|[a, b]| vec![a.min(b), a.max(b)])
        .collect();
    pairs.dedup();
    members.append(&mut pairs);
    let moments = members.len();
    if ids.len() <= MOST_BLOCKS {
        let masks: Vec<u64> = near.iter().map(|n| mask(n)).collect();
        let known: Vec<u64> = members.iter().map(|m| mask(m)).collect();
        let mut found = Vec::new();
        let all = if ids.len() == MOST_BLOCKS { u64::MAX } else { (1 << ids.len()) - 1 };
        enumerate(&masks, 0, all, 0, &mut found, &mut { MOST_STEPS });
        found.retain(|&c| !known.iter().any(|&k| c & !k == 0));
        let weight = |&c: &u64| bits(c).map(|k| p.blocks[ids[k] as usize].size).sum::<u64>();
        found.sort_by_key(|c| (std::cmp::Reverse(weight(c)), *c));
        found.truncate(MOST_CLIQUES);
        members.extend(found.into_iter().map(|c| bits(c).map(|k| k as u32).collect()));
    }
    Cliques { members, moments }
}

/// The elementary intervals in order, without those whose blocks are all live in the one before or
/// after.
fn moments(p: &Prepared, ids: &[u32]) -> Vec<Vec<u32>> {
    let mut at: Vec<(u32, u32)> = Vec::new();
    for (k, &b) in ids.iter().enumerate() {
        at.extend(p.blocks[b as usize].live.iter().map(|l| (l.0, k as u32)));
    }
    at.sort_unstable();
    let mut out: Vec<Vec<u32>> = Vec::new();
    for here in at.chunk_by(|x, y| x.0 == y.0) {
        let here: Vec<u32> = here.iter().map(|x| x.1).collect();
        while out.last().is_some_and(|last| subset(last, &here)) {
            out.pop();
        }
        if !out.last().is_some_and(|last| subset(&here, last)) {
            out.push(here);
        }
    }
    out
}

/// Whether all of `a` is in `b`, both ascending.
fn subset(a: &[u32], b: &[u32]) -> bool {
    let mut rest = b.iter();
    a.iter().all(|x| rest.any(|y| y == x))
}

fn mask(of: &[u32]) -> u64 {
    of.iter().fold(0, |m, &k| m | 1u64.checked_shl(k).unwrap_or(0))
}

/// Set bits, ascending.
pub(super) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let k = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (k < u64::BITS).then_some(k as usize)
    })
}

/// Maximal cliques (Bron and Kerbosch 1973, with the pivot of Tomita and others 2006).
fn enumerate(near: &[u64], clique: u64, open: u64, done: u64, found: &mut Vec<u64>, steps: &mut u32) {
    if *steps == 0 {
        return;
    }
    *steps -= 1;
    if open == 0 {
        if done == 0 && clique.count_ones() > 1 {
            found.push(clique);
        }
        return;
    }
    let pivot = bits(open | done).max_by_key(|&k| (near[k] & open).count_ones()).unwrap_or(0);
    let (mut open, mut done) = (open, done);
    for k in bits(open & !near[pivot]) {
        enumerate(near, clique | 1 << k, open & near[k], done & near[k], found, steps);
        open &= !(1 << k);
        done |= 1 << k;
    }
}
