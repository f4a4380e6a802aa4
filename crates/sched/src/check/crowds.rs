//! S102: what many uses between two operations say about the time from one to the other.
//!
//! Uses that begin at least `h` cycles after an operation, and end at least `q` cycles before another one, of whatever
//! iterations, have only the cycles in between. So these are enough for what the uses hold, shared by the units. Sets of
//! uses are tried by the `h` and the `q` that all of them keep.

use std::collections::BTreeMap;

/// Looks at all pairs of operations.
const MOST_ROUNDS: usize = 20;
/// More operations are not looked at.
const MOST_NODES: usize = 300;

/// `t[dst] - t[src] >= least`; node 0 is the origin.
#[derive(Clone, Copy)]
pub(super) struct Difference {
    pub src: usize,
    pub dst: usize,
    pub least: i128,
}

/// A use by a node of the search: from its start on.
pub(super) struct Hold<'g> {
    pub node: usize,
    pub resource: &'g str,
    pub start: i128,
    pub duration: i128,
}

/// Differences that follow from those given and from the uses; `None` where they contradict each other.
pub(super) fn crowds(
    differences: &[Difference],
    holds: &[Hold<'_>],
    units: &BTreeMap<&str, i128>,
    ii: i128,
) -> Option<Vec<Difference>> {
    let mut nodes: Vec<usize> = differences.iter().flat_map(|d| [d.src, d.dst]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let n = nodes.len();
    if n > MOST_NODES {
        return Some(Vec::new());
    }
    let place = |node: usize| nodes.binary_search(&node).ok();
    let mut far: Vec<Vec<Option<i128>>> = vec![vec![None; n]; n];
    for d in differences {
        if let (Some(a), Some(b)) = (place(d.src), place(d.dst)) {
            far[a][b] = far[a][b].max(Some(d.least));
        }
    }
    add_up(&mut far)?;
    let mut rooms: BTreeMap<&str, Vec<(usize, &Hold<'_>)>> = BTreeMap::new();
    for hold in holds.iter().filter(|h| h.duration > 0) {
        if let Some(at) = place(hold.node) {
            rooms.entry(hold.resource).or_default().push((at, hold));
        }
    }
    let mut found: BTreeMap<(usize, usize), i128> = BTreeMap::new();
    for _ in 0..MOST_ROUNDS {
        let before = found.clone();
        for a in 0..n {
            for b in 0..n {
                let Some(known) = far[a][b] else { continue };
                // From `a` to the next `b` from it on, or to itself an II later.
                let later = if a == b { ii } else { known.rem_euclid(ii) - known };
                let needed = rooms.iter().filter_map(|(resource, uses)| {
                    let between = between(uses, &far, (a, b), later, ii);
                    Some(taken(between, units.get(resource).copied().filter(|c| *c > 0)?))
                });
                let needed = needed.max().unwrap_or(0);
                if needed > known + later {
                    far[a][b] = Some(needed - later);
                    found.insert((nodes[a], nodes[b]), needed - later);
                }
            }
        }
        if found == before {
            break;
        }
        add_up(&mut far)?;
    }
    Some(found.into_iter().map(|((src, dst), least)| Difference { src, dst, least }).collect())
}

/// Takes over all sums; `None` where one that comes back is positive.
fn add_up(far: &mut [Vec<Option<i128>>]) -> Option<()> {
    for k in 0..far.len() {
        let onward = far[k].clone();
        for row in far.iter_mut() {
            let Some(to) = row[k] else { continue };
            for (known, onward) in row.iter_mut().zip(&onward) {
                *known = (*known).max(onward.map(|o| to + o));
            }
        }
    }
    let mut back = (0..far.len()).filter_map(|v| far[v][v]);
    let positive = back.any(|least| least > 0);
    for (v, row) in far.iter_mut().enumerate() {
        row[v] = Some(0);
    }
    (!positive).then_some(())
}

/// The uses that lie between two nodes, the second one so much later: cycles before, cycles after, and cycles held.
fn between(
    uses: &[(usize, &Hold<'_>)],
    far: &[Vec<Option<i128>>],
    (a, b): (usize, usize),
    later: i128,
    ii: i128,
) -> Vec<(i128, i128, i128)> {
    let lie = uses.iter().filter_map(|(at, hold)| {
        let start = far[a][*at]? + hold.start;
        let before = start.rem_euclid(ii);
        // The iteration in which it comes after `a`.
        let after = far[*at][b]? - hold.start - hold.duration + later - (before - start);
        (after >= 0).then_some((before, after, hold.duration))
    });
    lie.collect()
}

/// The least time that some of the uses need between the nodes.
fn taken(mut uses: Vec<(i128, i128, i128)>, units: i128) -> i128 {
    uses.sort_unstable();
    let mut ends: Vec<i128> = uses.iter().map(|(_, after, _)| *after).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut most = 0;
    for end in ends {
        let mut held = 0;
        for (before, _, duration) in uses.iter().rev().filter(|(_, after, _)| *after >= end) {
            held += duration;
            most = most.max(before + (held + units - 1) / units + end);
        }
    }
    most
}
