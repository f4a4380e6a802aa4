//! Which pairs of a ring's members must be ordered so that all are (B50, B51).
//!
//! Around a ring whose arcs are disjoint, the version of `w` that follows one of `u` also follows the version of any `v`
//! that stands between the two. So the orders u -> v and v -> w give u -> w, provided that the run has v's turn, which it
//! has where that turn is not before u's nor behind w's, and that v is read in its own turn, so that its release is there.
//! Nearest first, that leaves about two questions for each member in place of one for each pair.

use super::super::facts::ceil;
use super::super::graph::distances;

/// A member of a ring: its lifetime, its rotation, and whether a use of its own turn frees it.
pub(super) struct Member {
    pub start: i128,
    pub end: i128,
    pub shift: i128,
    pub solid: bool,
}

/// Pairs of members, by index, and the distances at which the first must be ordered before the second. The members'
/// arcs are disjoint on the ring of `depth` slots; `ii` is none in a line.
pub(super) fn asked(members: &[Member], ii: Option<i128>, depth: i128) -> Vec<(usize, usize, Vec<i128>)> {
    let n = members.len();
    let mut around: Vec<usize> = (0..n).collect();
    let Some(ii) = ii else {
        around.sort_by_key(|&k| members[k].start);
        let mut out = Vec::new();
        for (at, &u) in around.iter().enumerate() {
            for &w in &around[at + 1..] {
                out.push((u, w, vec![0]));
                if members[w].solid {
                    break;
                }
            }
        }
        return out;
    };
    around.sort_by_key(|&k| (members[k].start - members[k].shift * ii).rem_euclid(depth * ii));
    let mut seat = vec![0; n];
    around.iter().enumerate().for_each(|(at, &k)| seat[k] = at);
    let mut late: Vec<usize> = (0..n).collect();
    late.sort_by_key(|&k| std::cmp::Reverse(members[k].start));
    let least = |u: usize, w: usize| {
        let (u, w) = (&members[u], &members[w]);
        let turn = u.shift - w.shift;
        turn + ceil(ceil(u.end - w.start, ii) - turn, depth) * depth
    };
    let mut out = Vec::new();
    for (at, &u) in around.iter().enumerate() {
        let mut cover = None;
        for k in 1..n {
            let w = around[(at + k) % n];
            let d = least(u, w);
            out.push((u, w, distances(d, depth)));
            if members[w].solid && d >= 0 {
                cover = Some((k, d));
                break;
            }
        }
        let Some((reached, d)) = cover else { continue };
        // Those that come in an earlier turn than the one that stands between are asked for themselves.
        let place = |w: usize| (seat[w] + n - at) % n;
        let early = |w: &&usize| members[**w].start >= members[u].end - (d - 1) * ii;
        for &w in late.iter().take_while(early).filter(|w| **w != u) {
            let own = least(u, w);
            if own < d && place(w) > reached {
                out.push((u, w, distances(own, depth)));
            }
        }
    }
    out
}
