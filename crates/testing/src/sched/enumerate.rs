//! The truth about small loops, by trying all residues.

use std::fmt;
use warploom_sched::LoopGraph;

/// So many elementary steps an enumeration may take: a second or less.
const MOST_STEPS: u128 = 50_000_000;

/// An enumeration would take too long, so there is no truth to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// Steps that trying all residues may take: cycles of tables looked at, and dependences relaxed.
    pub steps: u128,
    /// The most that are taken.
    pub most: u128,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "trying all residues takes {} steps, and {} are allowed", self.steps, self.most)
    }
}

impl std::error::Error for TooLarge {}

/// The length of the shortest schedule at this II, by trying all residues of all operations; `None`: there is none.
/// Values' caps are not looked at. What the numbers of the loop are makes no difference: its size does, and the II.
///
/// # Errors
/// Too many residues to try.
pub fn least_length(graph: &LoopGraph, ii: i64) -> Result<Option<i64>, TooLarge> {
    let mut steps = 0;
    least_length_within(graph, ii, &mut steps)
}

/// The least II up to `most`, and the length of the shortest schedule at it.
///
/// # Errors
/// Too many residues to try, at all these IIs together.
pub(super) fn least_schedule(graph: &LoopGraph, most: i64) -> Result<Option<(i64, i64)>, TooLarge> {
    let mut steps = 0;
    for ii in 1..=most {
        if let Some(length) = least_length_within(graph, ii, &mut steps)? {
            return Ok(Some((ii, length)));
        }
    }
    Ok(None)
}

/// The same as [`least_length`], with the steps of earlier questions counted, too.
pub(super) fn least_length_within(
    graph: &LoopGraph,
    ii: i64,
    steps: &mut u128,
) -> Result<Option<i64>, TooLarge> {
    *steps = steps.saturating_add(steps_of(graph, ii));
    if *steps > MOST_STEPS {
        return Err(TooLarge { steps: *steps, most: MOST_STEPS });
    }
    let mut residue = vec![0i64; graph.nodes.len()];
    let mut best: Option<i64> = None;
    loop {
        if units_suffice(graph, ii, &residue)
            && let Some(length) = earliest_length(graph, ii, &residue)
        {
            best = Some(best.map_or(length, |b| b.min(length)));
        }
        let Some(next) = residue.iter().position(|&r| r + 1 < ii) else { return Ok(best) };
        residue[..next].fill(0);
        residue[next] += 1;
    }
}

/// What trying all residues takes at most, so that it can be refused.
fn steps_of(graph: &LoopGraph, ii: i64) -> u128 {
    let (ii, n) = (ii.max(1).unsigned_abs().into(), graph.nodes.len() as u128);
    let vectors = (0..n).fold(1u128, |all, _| all.saturating_mul(ii));
    let uses = graph.nodes.iter().map(|v| v.uses.len() as u128).sum::<u128>();
    let tables = (graph.resources.len() as u128 + uses).saturating_mul(ii);
    let relaxed = (arcs(graph).len() as u128 + 1).saturating_mul(n + 1);
    vectors.saturating_mul(tables.saturating_add(relaxed))
}

/// Whether these starts keep every dependence, and every unit is held no more often than it is there. Values' caps are not
/// looked at. For small IIs.
pub(super) fn is_schedule(graph: &LoopGraph, ii: i64, time: &[i64]) -> bool {
    let residue: Vec<i64> = time.iter().map(|t| t.rem_euclid(ii)).collect();
    arcs(graph).iter().all(|&(src, dst, latency, distance)| time[dst] + ii * distance >= time[src] + latency)
        && units_suffice(graph, ii, &residue)
}

/// Source, target, latency and distance of every dependence.
fn arcs(graph: &LoopGraph) -> Vec<(usize, usize, i64, i64)> {
    let edges = graph.edges.iter().map(|e| (e.src, e.dst, e.latency, e.distance));
    let implied =
        graph.values.iter().flat_map(|v| v.uses.iter().map(move |u| (v.def, u.node, v.start, u.distance)));
    edges.chain(implied).collect()
}

fn units_suffice(graph: &LoopGraph, ii: i64, residue: &[i64]) -> bool {
    let turn = ii as u64;
    graph.resources.iter().all(|r| {
        if r.interleaved {
            let own = graph.nodes.iter().flat_map(|v| &v.uses).filter(|u| u.resource == r.name);
            return own.map(|u| u128::from(u.duration)).sum::<u128>()
                <= u128::from(turn) * u128::from(r.count);
        }
        let mut load = vec![0u64; ii as usize];
        for (node, &at) in graph.nodes.iter().zip(residue) {
            for u in node.uses.iter().filter(|u| u.resource == r.name) {
                // A use that goes around the table holds every cycle of it for each whole turn.
                load.iter_mut().for_each(|l| *l += u.duration / turn);
                for c in 0..u.duration % turn {
                    load[((at as u64 + u.start + c) % turn) as usize] += 1;
                }
            }
        }
        load.iter().all(|&l| l <= r.count)
    })
}

/// Earliest times from 0 on with these residues, by relaxation; the end of the last result.
fn earliest_length(graph: &LoopGraph, ii: i64, residue: &[i64]) -> Option<i64> {
    let arcs = arcs(graph);
    let mut time = residue.to_vec();
    for _ in 0..=time.len() {
        let mut moved = false;
        for &(src, dst, latency, distance) in &arcs {
            let least = time[src] + latency - ii * distance;
            if time[dst] < least {
                time[dst] = least + (residue[dst] - least).rem_euclid(ii);
                moved = true;
            }
        }
        if !moved {
            return time.iter().zip(&graph.nodes).map(|(t, v)| t + v.latency).max();
        }
    }
    None
}
