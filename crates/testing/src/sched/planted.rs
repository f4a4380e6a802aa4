//! Loops whose optimum is known because it was planted.

use super::source::Source;
use warploom_sched::LoopGraph;

/// A loop, a schedule of it, and the proof that no smaller II has one.
#[derive(Clone, Debug)]
pub struct Planted {
    /// The loop.
    pub graph: LoopGraph,
    /// The least II there is: a recurrence of the loop has just this ratio, and the schedule has this II.
    pub ii: i64,
    /// The start of every operation in the schedule that was planted.
    pub times: Vec<i64>,
}

/// A random loop of 4 to 40 operations around a schedule: units hold what does not meet, edges ask for what holds, and
/// one recurrence leaves not a cycle of slack.
pub fn planted_loop(source: &mut Source<'_>) -> Planted {
    let mut graph = LoopGraph::new("planted");
    let ii = 4 + source.below(120) as i64;
    let units = 1 + source.below(4) as usize;
    // The first cycle that is still free on each unit: uses are laid end to end, with a little idle time between.
    let mut free = vec![0i64; units];
    (0..units).for_each(|u| _ = graph.add_resource(format!("U{u}"), 1));
    let n = 4 + source.below(37) as usize;
    let mut times = Vec::with_capacity(n);
    for i in 0..n {
        let unit = source.below(units as u64) as usize;
        let held = 1 + source.below((ii as u64 / 4).max(1)) as i64;
        let latency = held + source.below(20) as i64;
        let stage = source.below(4) as i64;
        if free[unit] + held <= ii {
            times.push(stage * ii + free[unit]);
            free[unit] += held + source.below(3) as i64;
            graph.add_node(format!("op{i}"), latency, &[(&format!("U{unit}"), 0, held as u64)]);
        } else {
            times.push(stage * ii + source.below(ii as u64) as i64);
            graph.add_node(format!("op{i}"), latency, &[]);
        }
    }
    for _ in 0..source.below(3 * n as u64) {
        let (a, b) = (source.below(n as u64) as usize, source.below(n as u64) as usize);
        edge_that_holds(&mut graph, source, &times, ii, (a, b));
    }
    tight_recurrence(&mut graph, source, &times, ii);
    Planted { graph, ii, times }
}

/// An edge that the planted schedule keeps, with some slack.
fn edge_that_holds(
    graph: &mut LoopGraph,
    source: &mut Source<'_>,
    times: &[i64],
    ii: i64,
    (a, b): (usize, usize),
) {
    let apart = times[b] - times[a];
    // Enough iterations that the latency is positive: no recurrence within one iteration comes about.
    let distance = (1 - apart).div_euclid(ii).max(0) + 1 + source.below(2) as i64;
    let latency = apart + ii * distance - source.below(30) as i64;
    if latency > 0 {
        graph.add_edge(a, b, latency, distance);
    }
}

/// A recurrence whose latencies sum to the II times its distance.
fn tight_recurrence(graph: &mut LoopGraph, source: &mut Source<'_>, times: &[i64], ii: i64) {
    let n = times.len() as u64;
    let many = 1 + source.below(4);
    let mut nodes: Vec<usize> = (0..many).map(|_| source.below(n) as usize).collect();
    nodes.sort_unstable();
    nodes.dedup();
    for (i, &a) in nodes.iter().enumerate() {
        let b = nodes[(i + 1) % nodes.len()];
        let apart = times[b] - times[a];
        let distance = (1 - apart).div_euclid(ii).max(0) + 1;
        graph.add_edge(a, b, apart + ii * distance, distance);
    }
}
