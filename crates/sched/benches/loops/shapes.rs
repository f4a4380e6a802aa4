//! Generated loops in shapes that the other generators do not have.

use warploom_sched::LoopGraph;
use warploom_testing::sched::Source;

/// Op i depends on 1-3 of the 64 before it; latencies from {1, 2, 4, 8, 30}; 8 resources of 1-4 units, durations
/// 1-4; every 200 ops a carried edge of distance 1-3 back over at most 50 (S91).
pub fn synthetic(n: usize, seed: u64) -> LoopGraph {
    let mut state = 0x1234_5678_9abc_def0u64 ^ n as u64 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut random = move |limit: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % limit
    };
    let mut g = LoopGraph::new(format!("synthetic {n}"));
    for r in 0..8 {
        g.add_resource(format!("R{r}"), 1 + r % 4);
    }
    const LATENCIES: [i64; 5] = [1, 2, 4, 8, 30];
    for i in 0..n {
        let resource = format!("R{}", random(8));
        let latency = LATENCIES[random(5) as usize];
        g.add_node(format!("op{i}"), latency, &[(&resource, 0, 1 + random(4))]);
        for _ in 0..(1 + random(3)).min(i as u64) {
            let src = i - 1 - random((i as u64).min(64)) as usize;
            let latency = g.nodes[src].latency;
            g.add_edge(src, i, latency, 0);
        }
        if i % 200 == 199 {
            let dst = i - random(50) as usize;
            g.add_edge(i, dst, latency, 1 + random(3) as i64);
        }
    }
    g
}

/// A loop of scalar operators as high-level synthesis has them: pipelined multipliers and adders, a divider that is not
/// pipelined, memory ports, expression trees over loads, and sums that are carried. 15 to 90 operations.
pub fn operators(source: &mut Source<'_>) -> LoopGraph {
    let mut g = LoopGraph::new("operators");
    g.add_resource("port", 1 + source.below(2)).add_resource("add", 1 + source.below(3));
    g.add_resource("mul", 1 + source.below(2)).add_resource("div", 1);
    let mut open: Vec<usize> = Vec::new();
    let n = 15 + source.below(76) as usize;
    while g.nodes.len() < n {
        let kind = [0, 0, 0, 1, 1, 1, 1, 2, 2, 3][source.below(10) as usize];
        let (name, unit, latency, held) =
            [("load", "port", 2, 1), ("add", "add", 3, 1), ("mul", "mul", 5, 1), ("div", "div", 18, 9)][kind];
        let v = g.add_node(name, latency, &[(unit, 0, held)]);
        let operands = if kind == 0 { source.below(2) } else { 2 };
        for _ in 0..operands.min(open.len() as u64) {
            let at = source.below(open.len() as u64) as usize;
            // Most results have one reader.
            let src = if source.below(4) > 0 { open.swap_remove(at) } else { open[at] };
            g.add_edge(src, v, g.nodes[src].latency, 0);
        }
        if kind == 1 && source.below(5) == 0 {
            g.add_edge(v, v, latency, 1 + source.below(3) as i64);
        }
        open.push(v);
    }
    let sinks: Vec<usize> = open.into_iter().take(3).collect();
    for v in sinks {
        let store = g.add_node("store", 1, &[("port", 0, 1)]);
        g.add_edge(v, store, g.nodes[v].latency, 0);
        if source.below(3) == 0 {
            // What is stored may be loaded some iterations later.
            g.add_edge(store, 0, 1, 1 + source.below(4) as i64);
        }
    }
    g
}

/// Several lanes that go through one pipeline of shared stations each in its own order (a job shop), with a barrier that all
/// lanes wait for, carried to the next iteration in one loop of two. 24 to 96 operations.
pub fn stations(source: &mut Source<'_>) -> LoopGraph {
    let mut g = LoopGraph::new("stations");
    let units = 3 + source.below(6) as usize;
    (0..units).for_each(|u| _ = g.add_resource(format!("U{u}"), 1));
    let (lanes, length) = (3 + source.below(6), 8 + source.below(5));
    let barrier = source.below(length);
    let meeting = g.add_node("barrier", 4, &[]);
    let mut ends = Vec::new();
    for lane in 0..lanes {
        let mut last: Option<usize> = None;
        for step in 0..length {
            let (unit, held) = (source.below(units as u64), 5 + source.below(95));
            let v = g.add_node(format!("lane {lane}.{step}"), held as i64, &[(&format!("U{unit}"), 0, held)]);
            if let Some(last) = last {
                g.add_edge(last, v, g.nodes[last].latency + source.below(3) as i64 * 10, 0);
            }
            if step == barrier {
                g.add_edge(v, meeting, g.nodes[v].latency, 0);
            }
            if step == barrier + 1 {
                g.add_edge(meeting, v, 4, 0);
            }
            last = Some(v);
        }
        ends.extend(last);
    }
    if source.below(2) == 0 {
        ends.iter().for_each(|&v| _ = g.add_edge(v, meeting, g.nodes[v].latency, 2 + source.below(3) as i64));
    }
    g
}
