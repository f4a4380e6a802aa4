//! The truth about small loops, by trying all residues.

use warploom_sched::LoopGraph;

/// The length of the shortest schedule at this II, by trying all residues of all operations; `None`: there is none.
/// Values' caps are not looked at. For loops of at most five operations and small IIs.
pub fn least_length(graph: &LoopGraph, ii: i64) -> Option<i64> {
    let n = graph.nodes.len();
    let mut residue = vec![0i64; n];
    let mut best: Option<i64> = None;
    loop {
        if units_suffice(graph, ii, &residue)
            && let Some(length) = earliest_length(graph, ii, &residue)
        {
            best = Some(best.map_or(length, |b| b.min(length)));
        }
        let Some(next) = residue.iter().position(|&r| r + 1 < ii) else { return best };
        residue[..next].fill(0);
        residue[next] += 1;
    }
}

/// Whether these starts keep every dependence, and every unit is held no more often than it is there. Values' caps are not
/// looked at. For small IIs and durations.
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
    graph.resources.iter().all(|r| {
        let mut load = vec![0u64; ii as usize];
        for (node, &at) in graph.nodes.iter().zip(residue) {
            for u in node.uses.iter().filter(|u| u.resource == r.name) {
                for c in 0..u.duration {
                    load[((at as u64 + u.start + c) % ii as u64) as usize] += 1;
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
