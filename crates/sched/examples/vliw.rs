//! A machine of long instructions: two clusters of two slots each, and one unit that copies between their registers.
//!
//! Which cluster an operation runs in is decided before: the scheduler takes copies as operations. Here each of four chains may
//! run in either cluster, so that all ways are tried, and the best is proved among them; slots are bound by the scheduler.

use warploom_sched::{Answer, LoopGraph, ScheduleOptions, check, loop_core, render, schedule, validate};

/// Four products of elements, summed in cluster 0; bit i of `clusters` is the cluster of chain i.
fn dot_product(clusters: u32) -> LoopGraph {
    let mut g = LoopGraph::new(format!("dot product, {clusters:04b}"));
    ["0.a", "0.b", "1.a", "1.b", "copy", "memory"].iter().for_each(|r| _ = g.add_resource(*r, 1));
    // Either slot of a cluster issues any operation.
    let op = |g: &mut LoopGraph, name: String, latency, cluster: u32| {
        let v = g.add_node(name, latency, &[(&format!("{cluster}.a"), 0, 1)]);
        g.add_alternatives(v, 0, &[&format!("{cluster}.b")]);
        v
    };
    let mut sum: Option<usize> = None;
    for i in 0..4 {
        let cluster = clusters >> i & 1;
        let load = g.add_node(format!("load {i}"), 4, &[("memory", 0, 1)]);
        let product = op(&mut g, format!("product {i}"), 2, cluster);
        let scaled = op(&mut g, format!("scaled {i}"), 1, cluster);
        g.add_edge(load, product, 4, 0).add_edge(product, scaled, 2, 0);
        let mut here = scaled;
        if cluster != 0 {
            here = g.add_node(format!("copy {i}"), 1, &[("copy", 0, 1)]);
            g.add_edge(scaled, here, 1, 0);
        }
        let next = op(&mut g, format!("sum {i}"), 1, 0);
        g.add_edge(here, next, 1, 0);
        sum.into_iter().for_each(|s| _ = g.add_edge(s, next, 1, 0));
        sum = Some(next);
    }
    g
}

/// Prints the best way to give chains to clusters.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut best: Option<(LoopGraph, Answer)> = None;
    for clusters in 0..16 {
        let g = dot_product(clusters);
        let answer = schedule(&validate(&g)?, &ScheduleOptions::default())?;
        check::all(&g, &answer)?;
        assert!(answer.optimal);
        if best.as_ref().is_none_or(|(_, b)| (answer.ii, answer.length) < (b.ii, b.length)) {
            best = Some((g, answer));
        }
    }
    let (g, answer) = best.ok_or("there is a way")?;
    // Four loads through one memory port; all in one cluster would take 6.
    assert_eq!(answer.ii, 4);
    print!("{}", render::gantt(&g, &answer));
    // Why not 3? The loop as it is bound has a core.
    let bound = g.bound(&answer.bindings);
    let valid = validate(&bound)?;
    let (options, fixed) = (ScheduleOptions::default(), schedule(&valid, &ScheduleOptions::default())?);
    if let Some(core) = loop_core(&valid, &fixed, &options)? {
        check::core(&bound, &core)?;
        print!("{}", render::why(&bound, &core));
    }
    Ok(())
}
