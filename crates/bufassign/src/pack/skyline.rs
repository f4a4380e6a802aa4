//! Complete search over skylines (B60).
//!
//! Among the plans within the capacity take one with the least sum of offsets. In it every block
//! rests: on the ground, on an obstacle, or on a block below it. The search looks for that plan.
//!
//! Every unplaced block has a *floor*, a lower bound on its offset. A decision takes a block c that
//! no unplaced neighbour can get under any more (all their ends at their floors lie above c's
//! floor) and tries
//! 1. c at its floor: every unplaced neighbour is then above it; or
//! 2. c higher: then it rests on a neighbour that is unplaced now, so its floor rises to the least
//!    end of one.
//!
//! A block whose floor came from 2 rests on nothing placed, so it is raised again without a
//! decision until something is put under it. In an elementary interval the lowest floor of its
//! unplaced blocks plus the sum of their sizes, and what alignment wastes between them, must not
//! pass the capacity; holes are thereby paid for at once. The same holds for sets that meet pairwise
//! without a common moment. Where no unplaced block crosses an instant, the two sides are searched
//! on their own. States that failed are remembered: whatever was placed, the same blocks above floors
//! at least as high fail again.

mod choose;
mod search;
mod tighten;

use super::PackOptions;
use super::cliques::cliques;
use super::memo::Memo;
use super::prepare::{Prepared, lcm};
use super::stack::Stacks;

/// Where to decide, and which of the blocks there goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub at: Where,
    pub among: Among,
}

/// The interval to decide in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    /// Where the lowest floor is, the least slack on ties.
    Lowest,
    /// Where the fewest blocks can be at the bottom: first fail (Haralick and Elliott 1980).
    Fewest,
    /// The same, divided by how often there was no room (weighted degree: Boussemart and others 2004).
    Weighted,
}

/// The block to try first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Among {
    /// The first in rank of those at the lowest floor.
    Rank,
    /// The one that wastes least below it, then the one level with its neighbours in time.
    Fit,
}

/// One component of the conflict graph. Indices are local; fixed blocks have become obstacles.
pub(super) struct Skyline<'a> {
    capacity: u64,
    options: PackOptions<'a>,
    ids: Vec<u32>,
    pub size: Vec<u64>,
    align: Vec<u64>,
    /// Elementary intervals of each block; a separation is an interval of its own.
    pub sections: Vec<Vec<u32>>,
    members: Vec<Vec<u32>>,
    /// So many of the intervals are moments or separations; the cliques behind them only prune.
    moments: usize,
    hull: Vec<(u32, u32)>,
    near: Vec<Vec<u32>>,
    /// Ranges a block must avoid, sorted.
    obstacles: Vec<Vec<(u64, u64)>>,
    /// A block like this one with a lower index, to be placed first.
    twin: Vec<u32>,
    /// Which of several candidates to try first.
    pub rank: Vec<u32>,
    /// Where to decide, and on what.
    choice: Choice,
    /// How often an interval had no room left, in all runs.
    failures: Vec<u64>,
    /// How many blocks can be the lowest of an interval, `STALE` where that is to be counted anew.
    counts: Vec<u32>,
    floor: Vec<u64>,
    /// Floors and ends of unplaced blocks, `PLACED` for the others: what the innermost loops ask for.
    open: Vec<u64>,
    open_end: Vec<u64>,
    /// Upper bounds on ends; kept up only where `close`.
    ceiling: Vec<u64>,
    /// The floor that ground, obstacles and placed blocks alone would give.
    base: Vec<u64>,
    /// Bytes of unplaced blocks per interval, and their lowest floor.
    left: Vec<u64>,
    lowest: Vec<u64>,
    /// Unplaced blocks that span the boundary before an interval.
    cross: Vec<u32>,
    /// Pieces searched apart, by depth.
    pieces: Vec<(u32, u32)>,
    trail: Vec<Undo>,
    stack: Vec<u32>,
    dirty: Vec<u32>,
    is_dirty: Vec<bool>,
    nodes: u64,
    limit: u64,
    /// Blocks by first interval, and where the blocks of each interval start in there.
    by_start: Vec<u32>,
    first_at: Vec<u32>,
    memo: Memo,
    stacks: Stacks,
    state: Vec<(u16, u64)>,
    /// The blocks of one interval, while it is looked at.
    jobs: Vec<Job>,
}

/// An unplaced block of a clique.
#[derive(Clone, Copy)]
struct Job {
    block: u32,
    size: u64,
    floor: u64,
    ceiling: u64,
}

/// A change to take back.
enum Undo {
    Floor(u32, u64, u64),
    Lowest(u32, u64),
    Ceiling(u32, u64),
}

const NONE: u32 = u32::MAX;
const STALE: u32 = u32::MAX;
const PLACED: u64 = u64::MAX;

impl<'a> Skyline<'a> {
    pub fn new(
        p: &Prepared,
        part: &[u32],
        capacity: u64,
        choice: Choice,
        options: PackOptions<'a>,
    ) -> Skyline<'a> {
        let ids: Vec<u32> = part.iter().copied().filter(|&b| p.blocks[b as usize].fixed.is_none()).collect();
        let n = ids.len();
        let mut local = vec![NONE; p.blocks.len()];
        for (k, &b) in ids.iter().enumerate() {
            local[b as usize] = k as u32;
        }
        let near = ids.iter().map(|&b| {
            let all = p.conflicts[b as usize].iter().map(|&o| local[o as usize]);
            all.filter(|&o| o != NONE).collect()
        });
        let near: Vec<Vec<u32>> = near.collect();
        let found = cliques(p, &ids, &local, &near);
        let count = found.members.len();
        let mut sections = vec![Vec::new(); n];
        for (s, m) in found.members.iter().enumerate() {
            m.iter().for_each(|&k| sections[k as usize].push(s as u32));
        }
        let obstacles: Vec<Vec<(u64, u64)>> = ids
            .iter()
            .map(|&b| {
                let fixed = p.conflicts[b as usize].iter().filter_map(|&o| {
                    let other = &p.blocks[o as usize];
                    other.fixed.map(|f| (f, f + other.size))
                });
                let mut list: Vec<(u64, u64)> = p.reserved.iter().copied().chain(fixed).collect();
                list.sort_unstable();
                list
            })
            .collect();
        let size: Vec<u64> = ids.iter().map(|&b| p.blocks[b as usize].size).collect();
        let align: Vec<u64> = ids.iter().map(|&b| p.blocks[b as usize].align).collect();
        let like = |j: usize, k: usize| {
            (size[j], align[j]) == (size[k], align[k])
                && sections[j] == sections[k]
                && obstacles[j] == obstacles[k]
        };
        let twin = (0..n).map(|k| (0..k).rev().find(|&j| like(j, k)).map_or(NONE, |j| j as u32)).collect();
        // Cliques beyond moments keep nothing together that moments do not.
        let moment = |s: &&u32| (**s as usize) < found.moments;
        let ends =
            |s: &Vec<u32>| (s.first().copied().unwrap_or(0), s.iter().rfind(moment).copied().unwrap_or(0));
        let hull: Vec<(u32, u32)> = sections.iter().map(ends).collect();
        let mut by_start: Vec<u32> = (0..n as u32).collect();
        by_start.sort_by_key(|&k| (hull[k as usize].0, k));
        let first_at =
            (0..=count as u32).map(|s| by_start.partition_point(|&k| hull[k as usize].0 < s) as u32);
        let first_at = first_at.collect();
        let mut ceiling = vec![capacity; n];
        if obstacles.iter().all(Vec::is_empty)
            && let Some((k, to)) = lower_half(&size, &align, &sections, capacity)
        {
            ceiling[k] = to;
        }
        Skyline {
            by_start,
            first_at,
            memo: Memo::new(n),
            stacks: Stacks::new(&size, &align),
            state: Vec::new(),
            jobs: Vec::new(),
            capacity,
            options,
            ids,
            size,
            align,
            sections,
            moments: found.moments,
            members: found.members,
            hull,
            near,
            obstacles,
            twin,
            rank: vec![0; n],
            choice,
            failures: vec![0; count],
            counts: vec![STALE; count],
            floor: vec![0; n],
            open: vec![0; n],
            open_end: vec![0; n],
            ceiling,
            base: vec![0; n],
            left: vec![0; count],
            lowest: vec![0; count],
            cross: vec![0; count + 1],
            pieces: Vec::new(),
            trail: Vec::new(),
            stack: Vec::new(),
            dirty: Vec::new(),
            is_dirty: vec![false; count],
            nodes: 0,
            limit: 0,
        }
    }

    /// Block index and offset of every block, after a plan was found.
    pub fn offsets(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.ids.iter().zip(&self.floor).map(|(&b, &at)| (b as usize, at))
    }

    /// Asked to end.
    pub fn stopped(&self) -> bool {
        self.options.is_late()
    }

    /// Takes everything back; what is known to fail stays.
    pub fn reset(&mut self) {
        self.pieces.clear();
        self.trail.clear();
        self.stack.clear();
        self.dirty.clear();
        self.is_dirty.fill(false);
        self.left.fill(0);
        self.cross.fill(0);
        self.lowest.fill(u64::MAX);
        self.counts.fill(STALE);
        for k in 0..self.ids.len() {
            self.set_floor(k, self.rest(k, 0));
            self.base[k] = self.floor[k];
            for &s in &self.sections[k] {
                self.left[s as usize] += self.size[k];
                self.lowest[s as usize] = self.lowest[s as usize].min(self.floor[k]);
            }
            for x in self.hull[k].0 + 1..=self.hull[k].1 {
                self.cross[x as usize] += 1;
            }
        }
    }
}

/// A plan upside down is a plan if everything is a multiple of every alignment. So one block may be asked to
/// lie in the lower half: the heaviest, and its highest end. (Of twins it is the one to be placed first, and
/// so the lowest.)
fn lower_half(size: &[u64], align: &[u64], sections: &[Vec<u32>], capacity: u64) -> Option<(usize, u64)> {
    let grid = align.iter().fold(1, |g, &a| lcm(g, a));
    if !size.iter().all(|s| s.is_multiple_of(grid)) {
        return None;
    }
    let weight = |k: usize| size[k].saturating_mul(sections[k].len() as u64);
    let k = (0..size.len()).max_by_key(|&k| (weight(k), std::cmp::Reverse(k)))?;
    Some((k, (capacity - capacity % grid).saturating_add(size[k]) / 2))
}
