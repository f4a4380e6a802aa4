//! The least buffer bytes at an II, by ascending depth vectors (S41, S56).

use crate::bounds::ratio::recurrence_bound;
use crate::driver::session::Session;
use crate::exact::reach::path_lengths;
use crate::exact::verdict::Verdict;
use crate::model::graph::LoopGraph;
use crate::model::int::div_ceil;
use crate::model::problem::Problem;
use crate::post::rings::{Ring, bytes_at, caps_of, rings};
use hashbrown::HashSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// At most so many depth vectors are tried.
const MOST_VECTORS: usize = 400;

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
    let mut seen: HashSet<Vec<u64>> = HashSet::from_iter([first]);
    let (mut proved, mut tried) = (true, 0);
    while let Some(Reverse((bytes, depths))) = heap.pop() {
        if bytes >= have {
            return (time, proved);
        }
        tried += 1;
        if tried > MOST_VECTORS || session.expired() {
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
