//! The lower bound on the peak (B59).

use super::prepare::Prepared;

/// No plan has a lower peak: the aligned load of the fullest elementary interval, with fixed and
/// reserved bytes taken into account; and the blocks live there.
pub(super) fn lower_bound(p: &Prepared) -> (u64, Vec<usize>) {
    let mut live: Vec<Vec<(u32, u64)>> = vec![Vec::new(); p.sections];
    for (k, b) in p.blocks.iter().enumerate() {
        for &(s, lo, hi) in &b.live {
            live[s as usize].push((k as u32, hi - lo));
        }
    }
    let (mut best, mut at) = (0u64, None);
    for (s, here) in live.iter().enumerate() {
        let bound = section(p, here);
        if bound > best {
            (best, at) = (bound, Some(s));
        }
    }
    // Every block on its own, too: a reserved range may push it up.
    let mut core: Vec<usize> = at.map_or(Vec::new(), |s| live[s].iter().map(|x| x.0 as usize).collect());
    for (k, b) in p.blocks.iter().enumerate() {
        let alone = b.fixed.unwrap_or_else(|| lowest_free(&p.reserved, b.size, b.align)) + b.size;
        if alone > best {
            (best, core) = (alone, vec![k]);
        }
    }
    (best, core)
}

/// The load of the fullest elementary interval among some blocks, and where the highest obstacle ends.
pub(super) fn load(p: &Prepared, part: &[u32]) -> u64 {
    let mut live = vec![0u64; p.sections];
    for &b in part {
        let b = &p.blocks[b as usize];
        b.live.iter().for_each(|&(s, _, _)| live[s as usize] += b.size);
    }
    let fixed =
        part.iter().filter_map(|&b| p.blocks[b as usize].fixed.map(|f| f + p.blocks[b as usize].size));
    let obstacles = p.reserved.iter().map(|r| r.1).chain(fixed);
    live.into_iter().chain(obstacles).max().unwrap_or(0)
}

/// Least aligned offset at which `size` bytes avoid the ranges (sorted `[from, to)`).
fn lowest_free(ranges: &[(u64, u64)], size: u64, align: u64) -> u64 {
    let mut at = 0;
    for &(from, to) in ranges {
        if at + size > from && at < to {
            at = super::prepare::align_up(to, align);
        }
    }
    at
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Bound of one interval: `here` lists (block, bytes in use).
fn section(p: &Prepared, here: &[(u32, u64)]) -> u64 {
    let fixed = here.iter().filter_map(|&(k, _)| {
        let b = &p.blocks[k as usize];
        b.fixed.map(|f| (f, f + b.size))
    });
    let mut taken: Vec<(u64, u64)> = fixed.collect();
    let floor = taken.iter().map(|t| t.1).max().unwrap_or(0);
    let free = || here.iter().filter(|&&(k, _)| p.blocks[k as usize].fixed.is_none());
    if taken.is_empty() && p.reserved.is_empty() && !p.windowed {
        // All start at multiples of g, so all but the topmost take a multiple of g.
        let g = free().fold(0, |g, &(k, _)| gcd(g, p.blocks[k as usize].align)).max(1);
        let (mut sum, mut pad) = (0u64, 0u64);
        for &(_, bytes) in free() {
            let whole = bytes.div_ceil(g) * g;
            sum += whole;
            pad = pad.max(whole - bytes);
        }
        return sum - pad;
    }
    // Fill the gaps between taken ranges from below.
    if p.windowed {
        // With windows a fixed block may be only partly there: count bytes alone.
        return floor.max(here.iter().map(|x| x.1).sum());
    }
    taken.extend(&p.reserved);
    taken.sort_unstable();
    let (mut need, mut at) = (free().map(|x| x.1).sum::<u64>(), 0u64);
    for (from, to) in taken {
        let gap = from.saturating_sub(at);
        if need <= gap {
            break;
        }
        need -= gap;
        at = at.max(to);
    }
    if need == 0 { floor } else { floor.max(at + need) }
}
