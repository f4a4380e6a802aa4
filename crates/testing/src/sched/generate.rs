//! A generator that reaches the limits of the format: counts above 1, several uses per operation, wraps, negative
//! latencies, distances above 1, interleaved resources, parallel and self edges, windows, capped and grouped values.

use super::source::Source;
use warploom_sched::{LoopGraph, ResourceUse};

/// How large a loop may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopShape {
    /// Most operations.
    pub ops: u64,
    /// Longest use.
    pub duration: u64,
    /// Longest latency.
    pub latency: u64,
    /// Largest distance.
    pub distance: u64,
    /// Windows, negative latencies, and values with caps.
    pub wild: bool,
}

impl LoopShape {
    /// Small enough to enumerate.
    pub const SMALL: LoopShape = LoopShape { ops: 5, duration: 4, latency: 5, distance: 2, wild: true };
    /// All features, tens of operations.
    pub const WIDE: LoopShape = LoopShape { ops: 24, duration: 40, latency: 50, distance: 8, wild: true };
}

/// A random loop; most, not all, are valid.
pub fn loop_graph(source: &mut Source<'_>, shape: LoopShape) -> LoopGraph {
    let mut g = LoopGraph::new("random");
    let resources = source.below(4);
    for r in 0..resources {
        let count = if source.chance(2) { 1 } else { 1 + source.below(3) };
        g.add_resource(format!("R{r}"), count);
    }
    let n = 1 + source.below(shape.ops);
    for i in 0..n {
        let latency = source.below(shape.latency + 1) as i64;
        let id = g.add_node(format!("op{i}"), latency, &[]);
        let uses = if resources == 0 { 0 } else { [0, 1, 1, 1, 1, 2, 3][source.below(7) as usize] };
        for _ in 0..uses {
            let start = if source.chance(2) { 0 } else { source.below(shape.duration) };
            let duration = if source.chance(3) { 1 } else { source.below(shape.duration + 1) };
            let resource = format!("R{}", source.below(resources));
            g.nodes[id].uses.push(ResourceUse { resource, start, duration, ..ResourceUse::default() });
        }
    }
    edges(&mut g, source, shape, n);
    values(&mut g, source, shape, n);
    // Last, so that seeds of before give the loops of before but for this.
    g.resources.iter_mut().for_each(|r| r.interleaved = source.below(6) == 5);
    g
}

/// A loop like an attention kernel's: 20 to 60 tile operations that hold single units for tens to hundreds of
/// cycles, and recurrences through several units.
pub fn gpu_loop(source: &mut Source<'_>) -> LoopGraph {
    const UNITS: [&str; 5] = ["TMA", "TC", "CUDA", "SFU", "TMEM"];
    const HOLDS: [u64; 8] = [30, 48, 96, 128, 192, 256, 304, 512];
    let mut g = LoopGraph::new("gpu");
    UNITS.iter().for_each(|u| _ = g.add_resource(*u, 1));
    let n = 20 + source.below(41) as usize;
    for i in 0..n {
        let unit = UNITS[[0, 1, 1, 2, 2, 2, 2, 3, 3, 4][source.below(10) as usize]];
        let hold = HOLDS[source.below(8) as usize];
        let latency = hold as i64 + [0, 0, 10, 105, 400][source.below(5) as usize];
        let id = g.add_node(format!("{unit}{i}"), latency, &[(unit, 0, hold)]);
        if source.chance(8) {
            let second = UNITS[source.below(5) as usize].to_owned();
            if second != unit {
                g.nodes[id].uses.push(ResourceUse {
                    resource: second,
                    duration: 30,
                    ..ResourceUse::default()
                });
            }
        }
        for _ in 0..1 + source.below(2).min(i as u64) {
            if i > 0 {
                let src = i - 1 - source.below((i as u64).min(8)) as usize;
                g.add_edge(src, i, g.nodes[src].latency, 0);
            }
        }
    }
    for _ in 0..1 + source.below(5) {
        let src = source.below(n as u64) as usize;
        let dst = src - source.below((src as u64 + 1).min(12)) as usize;
        g.add_edge(src, dst, g.nodes[src].latency, 1 + source.below(2) as i64);
    }
    g
}

fn edges(g: &mut LoopGraph, source: &mut Source<'_>, shape: LoopShape, n: u64) {
    for _ in 0..source.below(2 * n + 1) {
        let (a, b) = (source.below(n) as usize, source.below(n) as usize);
        let own = g.nodes[a].latency;
        let latency = match source.below(8) {
            0 => 0,
            1 if shape.wild => -(source.below(shape.latency + 1) as i64),
            2 => source.below(shape.latency + 1) as i64,
            _ => own,
        };
        // Forward edges within the iteration, others carried.
        let forward = a < b && !source.chance(4);
        let distance = if forward { 0 } else { 1 + source.below(shape.distance) as i64 };
        g.add_edge(a, b, latency, distance);
        if shape.wild && forward && source.chance(6) {
            // A window: b no later than so many cycles after a.
            g.add_edge(b, a, -latency - source.below(shape.latency + 1) as i64, 0);
        }
    }
}

fn values(g: &mut LoopGraph, source: &mut Source<'_>, shape: LoopShape, n: u64) {
    for _ in 0..source.below(3) {
        let def = source.below(n) as usize;
        let mut uses = Vec::new();
        for _ in 0..1 + source.below(2) {
            let node = source.below(n) as usize;
            let distance = if node > def { source.below(2) } else { 1 + source.below(shape.distance) };
            uses.push((node, distance as i64, source.below(shape.latency + 1) as i64));
        }
        let bytes = 1 + source.below(100);
        let v = g.add_value(def, bytes, "smem", &uses);
        if source.chance(3) {
            g.values[v].group = Some(0);
        }
        if shape.wild && source.chance(4) {
            g.values[v].min_depth = Some(1 + source.below(3));
        }
        if shape.wild && source.chance(6) {
            g.values[v].max_depth = Some(1 + source.below(6));
        }
        g.values[v].start = if source.chance(3) { source.below(3) as i64 } else { 0 };
    }
}
