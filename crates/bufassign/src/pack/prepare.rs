//! From a packing problem to blocks on elementary intervals.

use super::{LiveSpan, PackOptions, PackProblem, TimeSegment};
use bitvec::vec::BitVec;
use petgraph::unionfind::UnionFind;
use std::collections::BTreeMap;

/// A placed or placeable block: one item, or a colocated group of them.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Items of the group, ascending.
    pub items: Vec<usize>,
    pub size: u64,
    pub align: u64,
    pub fixed: Option<u64>,
    /// Elementary intervals in which it is live, ascending, with the bytes in use there.
    pub live: Vec<(u32, u64, u64)>,
    /// Sum of the lengths of these intervals.
    pub duration: u64,
    /// First moment, for the orders of the portfolio.
    pub start: i64,
}

/// The prepared problem.
#[derive(Clone)]
pub(super) struct Prepared {
    pub blocks: Vec<Block>,
    /// Number of elementary intervals.
    pub sections: usize,
    /// Neighbours in the conflict graph.
    pub conflicts: Vec<Vec<u32>>,
    /// Conflicts from separations alone, as pairs of blocks.
    pub separated: Vec<(u32, u32)>,
    pub reserved: Vec<(u64, u64)>,
    /// Some block uses only part of its bytes at times.
    pub windowed: bool,
    /// Fixed blocks or colocations contradict each other.
    pub contradiction: Option<Vec<usize>>,
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Least common multiple; saturates.
pub(super) fn lcm(a: u64, b: u64) -> u64 {
    (a / gcd(a, b).max(1)).saturating_mul(b)
}

/// Least multiple of `align` at or above `x`.
pub(crate) fn align_up(x: u64, align: u64) -> u64 {
    x.div_ceil(align.max(1)).saturating_mul(align.max(1))
}

/// Groups colocated items: lowest index of the group for every item.
pub(super) fn groups(p: &PackProblem) -> Vec<usize> {
    if p.colocations.is_empty() {
        return (0..p.items.len()).collect();
    }
    let mut sets = UnionFind::<usize>::new(p.items.len());
    for g in &p.colocations {
        g.windows(2).for_each(|w| {
            sets.union(w[0], w[1]);
        });
    }
    let mut lowest = vec![usize::MAX; p.items.len()];
    (0..p.items.len())
        .map(|x| {
            let low = &mut lowest[sets.find(x)];
            *low = x.min(*low);
            *low
        })
        .collect()
}

/// Straight pieces of a span: one, or two where it wraps around its circle.
fn pieces(s: &LiveSpan, segment: TimeSegment) -> Vec<(i64, i64)> {
    match segment {
        TimeSegment::Linear => vec![(s.start, s.start + s.len)],
        TimeSegment::Circular(p) if s.len >= p => vec![(0, p)],
        TimeSegment::Circular(p) => {
            let a = s.start.rem_euclid(p);
            if a + s.len <= p { vec![(a, a + s.len)] } else { vec![(a, p), (0, a + s.len - p)] }
        }
    }
}

/// Blocks after which the time is looked at.
const OFTEN: usize = 64;

/// Entries of blocks in intervals, and of pairs that meet, that there is memory for.
const MOST_ENTRIES: usize = 1 << 23;
const MOST_PAIRS: usize = 1 << 25;

/// Cuts time at every start and end and finds who meets whom; `None` where the time is up before, or there are too many.
pub(super) fn prepare(p: &PackProblem, options: &PackOptions<'_>) -> Option<Prepared> {
    let mut cut = cut(p, options)?;
    cut.conflicts = conflicts(&cut.blocks, cut.sections, &cut.separated, options)?;
    Some(cut)
}

/// Cuts time at every start and end; who meets whom is left open.
pub(super) fn cut(p: &PackProblem, options: &PackOptions<'_>) -> Option<Prepared> {
    let mut cuts: Vec<Vec<i64>> = vec![Vec::new(); p.segments.len()];
    for item in p.items.iter().filter(|i| i.size > 0) {
        for s in &item.live {
            for (a, b) in pieces(s, p.segments[s.segment]) {
                cuts[s.segment].extend([a, b]);
            }
        }
    }
    let mut first = Vec::with_capacity(cuts.len());
    let mut lengths: Vec<u64> = Vec::new();
    for c in &mut cuts {
        c.sort_unstable();
        c.dedup();
        first.push(lengths.len());
        lengths.extend(c.windows(2).map(|w| w[1].abs_diff(w[0])));
    }
    let root = groups(p);
    let mut by_root: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (i, item) in p.items.iter().enumerate() {
        if item.size > 0 {
            by_root.entry(root[i]).or_default().push(i);
        }
    }
    let mut entries = 0;
    let mut contradiction = None;
    let mut windowed = false;
    let mut block_of = vec![u32::MAX; p.items.len()];
    let mut blocks = Vec::with_capacity(by_root.len());
    for (_, items) in by_root {
        if blocks.len().is_multiple_of(OFTEN) && options.is_late() {
            return None;
        }
        let mut b = Block {
            items: items.clone(),
            size: 0,
            align: 1,
            fixed: None,
            live: Vec::new(),
            duration: 0,
            start: i64::MAX,
        };
        let mut at: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for &i in &items {
            let item = &p.items[i];
            block_of[i] = blocks.len() as u32;
            b.size = b.size.max(item.size);
            b.align = lcm(b.align, item.align);
            if let Some(f) = item.fixed {
                if b.fixed.is_some_and(|g| g != f) {
                    contradiction = Some(items.clone());
                }
                b.fixed = Some(f);
            }
            for s in &item.live {
                let (lo, hi) = s.window.unwrap_or((0, item.size));
                b.start = b.start.min(s.start);
                if lo == hi {
                    windowed = true;
                    continue;
                }
                windowed |= (lo, hi) != (0, item.size);
                for (x, y) in pieces(s, p.segments[s.segment]) {
                    let c = &cuts[s.segment];
                    let (from, to) = (c.partition_point(|&t| t < x), c.partition_point(|&t| t < y));
                    entries += to - from;
                    if entries > MOST_ENTRIES {
                        return None;
                    }
                    for k in from..to {
                        let e = at.entry((first[s.segment] + k) as u32).or_insert((lo, hi));
                        *e = (e.0.min(lo), e.1.max(hi));
                    }
                }
            }
        }
        // A group takes the size of its largest item throughout (B56).
        if items.len() > 1 {
            at.values_mut().for_each(|w| *w = (0, b.size));
        }
        b.live = at.into_iter().map(|(k, (lo, hi))| (k, lo, hi)).collect();
        b.duration = b.live.iter().map(|&(k, _, _)| lengths[k as usize]).sum();
        blocks.push(b);
    }
    let mut separated: Vec<(u32, u32)> = Vec::new();
    for &(x, y) in &p.separations {
        let (x, y) = (block_of[x], block_of[y]);
        if x == u32::MAX || y == u32::MAX {
            continue;
        }
        if x == y {
            contradiction = Some(blocks[x as usize].items.clone());
        }
        separated.push((x.min(y), x.max(y)));
    }
    separated.sort_unstable();
    separated.dedup();
    let conflicts = Vec::new();
    let mut reserved: Vec<(u64, u64)> =
        p.reserved.iter().filter(|r| r.1 > 0).map(|r| (r.0, r.0 + r.1)).collect();
    reserved.sort_unstable();
    Some(Prepared {
        blocks,
        sections: lengths.len(),
        conflicts,
        separated,
        reserved,
        windowed,
        contradiction,
    })
}

/// Who is live together with whom, by a sweep over the elementary intervals: a pair is noted in
/// the first interval of either that both are in.
fn conflicts(
    blocks: &[Block],
    sections: usize,
    separated: &[(u32, u32)],
    options: &PackOptions<'_>,
) -> Option<Vec<Vec<u32>>> {
    let mut enter: Vec<Vec<u32>> = vec![Vec::new(); sections];
    let mut leave: Vec<Vec<u32>> = vec![Vec::new(); sections + 1];
    for (k, b) in blocks.iter().enumerate() {
        let mut last = None;
        for &(s, _, _) in &b.live {
            if last != Some(s.wrapping_sub(1)) || s == 0 {
                enter[s as usize].push(k as u32);
                if let Some(l) = last {
                    leave[l as usize + 1].push(k as u32);
                }
            }
            last = Some(s);
        }
        if let Some(l) = last {
            leave[l as usize + 1].push(k as u32);
        }
    }
    let mut out: Vec<Vec<u32>> = vec![Vec::new(); blocks.len()];
    let mut live: BitVec = BitVec::repeat(false, blocks.len());
    let (mut now, mut pairs) = (0, 0);
    for s in 0..sections {
        if s.is_multiple_of(OFTEN) && options.is_late() {
            return None;
        }
        now -= leave[s].len();
        for &k in &leave[s] {
            live.set(k as usize, false);
        }
        // Counted before they are noted: a moment of a million starts has more pairs than there is memory.
        for &k in &enter[s] {
            pairs += now;
            if pairs > MOST_PAIRS {
                return None;
            }
            now += 1;
            for other in live.iter_ones() {
                out[k as usize].push(other as u32);
                out[other].push(k);
            }
            live.set(k as usize, true);
        }
    }
    for &(a, b) in separated {
        out[a as usize].push(b);
        out[b as usize].push(a);
    }
    for list in &mut out {
        list.sort_unstable();
        list.dedup();
    }
    Some(out)
}

impl Prepared {
    /// Offsets of blocks as offsets of items; items of size 0 sit at 0.
    pub fn spread(&self, items: usize, offsets: &[u64]) -> Vec<u64> {
        let mut out = vec![0; items];
        for (b, &o) in self.blocks.iter().zip(offsets) {
            for &i in &b.items {
                out[i] = o;
            }
        }
        out
    }

    /// Greatest common divisor of all sizes, alignments and fixed offsets.
    pub fn grid(&self) -> u64 {
        let all = self.blocks.iter().flat_map(|b| [b.size, b.align, b.fixed.unwrap_or(0)]);
        all.fold(0, gcd).max(1)
    }

    /// The same problem with every block in use whole wherever it is live.
    pub fn widened(&self) -> Prepared {
        let mut wide = self.clone();
        wide.windowed = false;
        for b in &mut wide.blocks {
            b.live.iter_mut().for_each(|l| (l.1, l.2) = (0, b.size));
        }
        wide
    }

    /// The same problem, and the same capacity, in whole cells of what divides every alignment; `None` where that is
    /// another problem, or nothing changes. Every offset is a multiple of it, so nobody else can have what a block
    /// leaves of its last cell, and without it stacking is adding up.
    pub fn rounded(&self, capacity: u64) -> Option<(Prepared, u64)> {
        let cell = self.blocks.iter().fold(0, |g, b| gcd(g, b.align)).max(1);
        let rest = capacity % cell;
        // A block that ends in what is left of the capacity's last cell would have none there.
        let ends_there = |b: &Block| (1..=rest).contains(&(b.size % cell));
        if !self.reserved.is_empty()
            || self.windowed
            || self.blocks.iter().all(|b| b.size.is_multiple_of(cell))
            || self.blocks.iter().any(ends_there)
        {
            return None;
        }
        let mut whole = self.clone();
        for b in &mut whole.blocks {
            b.size = align_up(b.size, cell);
            b.live.iter_mut().for_each(|l| (l.1, l.2) = (0, b.size));
        }
        Some((whole, capacity - rest))
    }

    /// End of the highest byte in use.
    pub fn peak(&self, offsets: &[u64]) -> u64 {
        self.blocks.iter().zip(offsets).map(|(b, &o)| o + b.size).max().unwrap_or(0)
    }

    /// Bytes block `a` needs below block `b` where they meet: `offset_b >= offset_a + below(a, b)`
    /// keeps every byte of `a` below every byte of `b`.
    pub fn below(&self, a: usize, b: usize) -> u64 {
        let (x, y) = (&self.blocks[a], &self.blocks[b]);
        if !self.windowed || self.separated.binary_search(&(a.min(b) as u32, a.max(b) as u32)).is_ok() {
            return x.size;
        }
        let (mut i, mut j, mut need) = (0, 0, 0u64);
        while let (Some(&(s, _, hi)), Some(&(t, lo, _))) = (x.live.get(i), y.live.get(j)) {
            if s == t {
                need = need.max(hi.saturating_sub(lo));
            }
            i += usize::from(s <= t);
            j += usize::from(t <= s);
        }
        need
    }
}
