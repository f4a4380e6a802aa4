//! The least buffer bytes at an II, by ascending depth vectors (S41, S56).

use crate::auto::Session;
use crate::bounds::{div_ceil, recurrence_bound};
use crate::depth::{depths_of, total_bytes};
use crate::graph::LoopGraph;
use crate::order::body_order;
use crate::problem::{Cap, Problem};
use crate::search::{Verdict, path_lengths};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};

/// At most so many depth vectors are tried.
const MOST_VECTORS: usize = 400;

/// Values that share one depth: a group of peers (S58), or one value alone.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    /// Positions in the graph's values.
    pub values: Vec<usize>,
    /// Bytes of one slot of all of them.
    pub bytes: u64,
    /// Depth no schedule at this II goes below.
    pub least: u64,
    /// The least `max_depth` of its values.
    pub most: u64,
}

impl Ring {
    fn empty() -> Self {
        Ring { values: Vec::new(), bytes: 0, least: 1, most: u64::MAX }
    }
}

/// The rings of a graph, with the floors that hold at any II (S60).
pub(crate) fn rings(graph: &LoopGraph) -> Vec<Ring> {
    let mut by_group: BTreeMap<(usize, usize), Ring> = BTreeMap::new();
    for (i, v) in graph.values.iter().enumerate() {
        let key = v.group.map_or((1, i), |g| (0, g));
        let ring = by_group.entry(key).or_insert_with(Ring::empty);
        ring.values.push(i);
        ring.bytes = ring.bytes.saturating_add(v.bytes);
        ring.least = ring.least.max(v.min_depth.unwrap_or(1));
        ring.most = ring.most.min(v.max_depth.unwrap_or(u64::MAX));
    }
    by_group.into_values().collect()
}

/// The same with the least depths at this II (S56).
pub(crate) fn rings_at(problem: &Problem, graph: &LoopGraph, ii: i64) -> Vec<Ring> {
    let mut rings = rings(graph);
    for ring in &mut rings {
        for v in ring.values.iter().filter_map(|&i| graph.values.get(i)) {
            let far = path_lengths(problem, ii, v.def as u32);
            for u in &v.uses {
                if let Some(path) = far.get(u.node).copied().flatten() {
                    let slots = div_ceil(path + ii * u.distance + u.end - v.start, ii);
                    ring.least = ring.least.max(u64::try_from(slots).unwrap_or(1));
                }
            }
        }
    }
    rings
}

/// The caps that a depth per ring sets.
pub(crate) fn caps_of(graph: &LoopGraph, rings: &[Ring], depths: &[u64], strict: bool) -> Vec<Option<Cap>> {
    let mut caps = vec![None; graph.values.len()];
    for (ring, &slots) in rings.iter().zip(depths) {
        ring.values.iter().for_each(|&v| caps[v] = Some(Cap { slots, strict }));
    }
    caps
}

/// Bytes of the rings these times need.
pub(crate) fn bytes_at(problem: &Problem, graph: &LoopGraph, ii: i64, time: &[i64]) -> u64 {
    let order = body_order(problem, graph, ii, time);
    total_bytes(graph, &depths_of(graph, ii, time, &order))
}

/// A schedule at this II, and no longer than `length`, with fewer bytes than `time` has; the best there is when
/// the second result is true.
pub(crate) fn fewer_bytes(
    base: &Problem,
    graph: &LoopGraph,
    ii: i64,
    length: Option<i64>,
    time: Vec<i64>,
    session: &mut Session<'_>,
) -> (Vec<i64>, bool) {
    let rings = rings_at(base, graph, ii);
    let have = bytes_at(base, graph, ii, &time);
    let cost =
        |d: &[u64]| d.iter().zip(&rings).map(|(d, r)| d.saturating_mul(r.bytes)).fold(0, u64::saturating_add);
    let first: Vec<u64> = rings.iter().map(|r| r.least).collect();
    let mut heap = BinaryHeap::from([Reverse((cost(&first), first.clone()))]);
    let mut seen = HashSet::from([first]);
    let (mut proved, mut tried) = (true, 0);
    while let Some(Reverse((bytes, depths))) = heap.pop() {
        if bytes >= have {
            return (time, proved);
        }
        tried += 1;
        if tried > MOST_VECTORS {
            return (time, false);
        }
        for strict in [false, true] {
            let problem = base.with_caps(graph, &caps_of(graph, &rings, &depths, strict));
            let verdict = match recurrence_bound(&problem.dependences, false) {
                Some(r) if r.bound <= ii => session.ask(&problem, ii, length),
                _ => Verdict::Refuted,
            };
            match verdict {
                Verdict::Found(found) if bytes_at(base, graph, ii, &found) <= bytes => {
                    return (found, proved);
                }
                // The order within a cycle asks for a slot more (S53): tell the readers to come earlier.
                Verdict::Found(_) => proved = false,
                Verdict::Undecided => {
                    proved = false;
                    break;
                }
                Verdict::Refuted => break,
            }
        }
        for i in 0..depths.len() {
            let mut next = depths.clone();
            next[i] += 1;
            if next[i] <= rings[i].most && seen.insert(next.clone()) {
                heap.push(Reverse((cost(&next), next)));
            }
        }
    }
    (time, proved)
}
