//! Time against size, for the synthetic large loop of the specification (S96).

use crate::{Args, run};
use warploom_sched::LoopGraph;

/// A run is short beside what the machine's other work adds to it: the least time of so many counts.
const RUNS: usize = 3;

/// Time against size for the synthetic large loop of the specification (S96).
pub fn curve(args: &Args) {
    println!("{:>8} {:>8} {:>8} {:>9} {:>10}", "ops", "MII", "II", "length", "seconds");
    for n in [1_000, 3_000, 10_000, 30_000, 100_000] {
        let graph = synthetic(n);
        let runs = (0..RUNS).map(|_| run(&graph, args.only.unwrap_or_default(), args));
        let Some(outcome) = runs.min_by(|a, b| a.micros.total_cmp(&b.micros)) else { continue };
        match outcome.answer {
            Some(a) => println!(
                "{n:>8} {:>8} {:>8} {:>9} {:>10.4}{}",
                a.mii,
                a.ii,
                a.length,
                outcome.micros / 1e6,
                if outcome.violations > 0 { "  CHECK FAILED" } else { "" }
            ),
            None => println!("{n:>8} no answer"),
        }
    }
}

/// Op i depends on 1-3 of the 64 before it; latencies from {1, 2, 4, 8, 30}; 8 resources of 1-4 units, durations
/// 1-4; every 200 ops a carried edge of distance 1-3 back over at most 50.
fn synthetic(n: usize) -> LoopGraph {
    let mut state = 0x1234_5678_9abc_def0u64 ^ n as u64;
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
