//! Exact branch and bound (B60): components, the ground, who searches.
//!
//! The search of [`skyline`](super::skyline) is complete, but depth-first search is only as good as
//! its first decisions. So it is restarted, and large components are searched by several lanes in turn
//! ([`portfolio`](super::portfolio)); what is known to fail is kept. One run that ends
//! below its limit has looked at everything and is a proof; small problems also get runs whose limit
//! doubles, since their proofs are short enough.

use super::PackOptions;
use super::portfolio::portfolio;
use super::prepare::{Prepared, lcm};
use super::restarts::{Restarts, SMALL};
use super::skyline::{Among, Choice, Skyline, Where};
use bitvec::vec::BitVec;
use petgraph::unionfind::UnionFind;
use std::collections::BTreeMap;

/// What a search found out.
pub(super) enum Answer {
    /// Offsets of blocks within the capacity.
    Found(Vec<u64>),
    /// There are none; these blocks cannot be placed together.
    None(Vec<usize>),
    /// The budget ran out.
    Unknown,
}

/// Nodes that go to all blocks, then as many to the proof that some have no plan; four times as many each turn.
const ALTERNATE: u64 = 8192;

/// Looks for a few blocks of a component that have no plan, within a capacity and in about so many nodes of a budget.
pub(super) type Refute<'f> = dyn Fn(&[u32], u64, u64, &mut u64) -> Option<Vec<u32>> + 'f;

/// Looks for a plan of some of the blocks; with `refute` also, in turn, for a few that have none.
pub(super) fn among(
    p: &Prepared,
    blocks: &[u32],
    capacity: u64,
    options: &PackOptions<'_>,
    budget: &mut u64,
    refute: Option<&Refute<'_>>,
) -> Answer {
    let mut offsets: Vec<u64> = p.blocks.iter().map(|b| b.fixed.unwrap_or(0)).collect();
    // Pieces still to do, each on a ground of slabs.
    let mut work: Vec<(Vec<u32>, Vec<u32>)> =
        components(p, blocks).into_iter().map(|c| (c, Vec::new())).collect();
    let mut unknown = false;
    while let Some((part, mut slabs)) = work.pop() {
        if options.is_late() {
            return Answer::Unknown;
        }
        let ground: u64 = slabs.iter().map(|&b| p.blocks[b as usize].size).sum();
        let on_ground = |core: &[u32]| Answer::None(core.iter().chain(&slabs).map(|&b| b as usize).collect());
        let none = || on_ground(&part);
        if !fixed_agree(p, &part, capacity) {
            return none();
        }
        if let Some((slab, rest)) = slab(p, &part) {
            offsets[slab as usize] = ground;
            if ground + p.blocks[slab as usize].size > capacity {
                return none();
            }
            slabs.push(slab);
            work.extend(components(p, &rest).into_iter().map(|c| (c, slabs.clone())));
            continue;
        }
        if part.len() > SMALL {
            match portfolio(p, &part, capacity - ground, options, budget) {
                Some(Some(found)) => found.into_iter().for_each(|(b, at)| offsets[b] = ground + at),
                Some(None) => return none(),
                // Another piece may yet prove that there is no plan.
                None => unknown = true,
            }
            continue;
        }
        let choice = Choice { at: Where::Lowest, among: Among::Rank };
        let mut sky = Skyline::new(p, &part, capacity - ground, choice, *options);
        let mut restarts = Restarts::seeded(0);
        let mut answer = None;
        let mut share = if refute.is_some() { ALTERNATE } else { u64::MAX };
        while answer.is_none() && *budget > 0 && !sky.stopped() {
            let mut nodes = share.min(*budget);
            *budget -= nodes;
            answer = restarts.run(&mut sky, &mut nodes);
            *budget += nodes;
            // A proof may be out of reach for all blocks and short for some.
            if answer.is_none()
                && let Some(core) = refute.and_then(|find| find(&part, capacity - ground, share, budget))
            {
                return on_ground(&core);
            }
            share = share.saturating_mul(4);
        }
        match answer {
            Some(true) => sky.offsets().for_each(|(b, at)| offsets[b] = ground + at),
            Some(false) => return none(),
            None => unknown = true,
        }
    }
    if unknown { Answer::Unknown } else { Answer::Found(offsets) }
}

/// A block that meets every other one of its component, and the others: in any plan it can be moved
/// to the ground, everything that was below it up by its size, if that keeps all aligned.
fn slab(p: &Prepared, part: &[u32]) -> Option<(u32, Vec<u32>)> {
    let plain = |&b: &u32| p.blocks[b as usize].fixed.is_none();
    if !p.reserved.is_empty() || !part.iter().all(plain) {
        return None;
    }
    let grid = part.iter().fold(1, |g, &b| lcm(g, p.blocks[b as usize].align));
    let meets_all = |b: u32| {
        let near = &p.conflicts[b as usize];
        near.len() + 1 >= part.len() && part.iter().all(|o| *o == b || near.binary_search(o).is_ok())
    };
    let slab =
        part.iter().copied().find(|&b| p.blocks[b as usize].size.is_multiple_of(grid) && meets_all(b))?;
    Some((slab, part.iter().copied().filter(|&b| b != slab).collect()))
}

/// Connected components of the conflict graph among some blocks, each ascending, in the order of their first blocks.
fn components(p: &Prepared, among: &[u32]) -> Vec<Vec<u32>> {
    let mut here: BitVec = BitVec::repeat(false, p.blocks.len());
    among.iter().for_each(|&b| here.set(b as usize, true));
    let mut sets = UnionFind::<u32>::new(p.blocks.len());
    for &b in among {
        let near = p.conflicts[b as usize].iter().filter(|&&o| o < b && here[o as usize]);
        near.for_each(|&o| {
            sets.union(b, o);
        });
    }
    let mut place = BTreeMap::new();
    let mut out: Vec<Vec<u32>> = Vec::new();
    for &b in among {
        let at = *place.entry(sets.find(b)).or_insert_with(|| {
            out.push(Vec::new());
            out.len() - 1
        });
        out[at].push(b);
    }
    out.iter_mut().for_each(|part| part.sort_unstable());
    out
}

/// Fixed blocks, reserved ranges and the capacity do not contradict each other.
fn fixed_agree(p: &Prepared, part: &[u32], capacity: u64) -> bool {
    part.iter().all(|&b| {
        let x = &p.blocks[b as usize];
        let Some(f) = x.fixed else { return true };
        let hits = |from: u64, to: u64| f < to && from < f + x.size;
        let clash = p.conflicts[b as usize].iter().any(|&o| {
            let y = &p.blocks[o as usize];
            y.fixed.is_some_and(|g| hits(g, g + y.size))
        });
        !clash && f + x.size <= capacity && !p.reserved.iter().any(|r| hits(r.0, r.1))
    })
}
