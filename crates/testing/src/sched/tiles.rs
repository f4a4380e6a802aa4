//! Loops of tile operations in shapes that no kernel of ours has: chains through the units that close on
//! themselves, layers with feedback, streams of work with buffers between them.

use super::source::Source;
use warploom_sched::{LoopGraph, ResourceUse};

const UNITS: [&str; 5] = ["TMA", "TC", "CUDA", "SFU", "TMEM"];

/// A random loop of 30 to 60 operations that hold units for tens to hundreds of cycles, with recurrences through
/// several units, about as tight as the fullest unit.
pub fn tile_loop(source: &mut Source<'_>) -> LoopGraph {
    let mut g = LoopGraph::new("tiles");
    let units = 3 + source.below(3) as usize;
    UNITS[..units].iter().for_each(|u| _ = g.add_resource(*u, 1));
    let n = 30 + source.below(31) as usize;
    match source.below(3) {
        0 => chains(&mut g, source, units, n),
        1 => layers(&mut g, source, units, n),
        _ => streams(&mut g, source, units, n),
    }
    if source.below(3) == 0 {
        issue_streams(&mut g, source);
    }
    g
}

/// Cycles of a tile operation: round numbers in one loop of two, else any.
fn hold(source: &mut Source<'_>) -> u64 {
    match source.below(2) {
        0 => 32 << source.below(5),
        _ => 40 + source.below(400),
    }
}

fn op(g: &mut LoopGraph, source: &mut Source<'_>, unit: &str) -> usize {
    let held = hold(source);
    let latency = held as i64 + [0, 20, 90, 300, 700][source.below(5) as usize];
    g.add_node(format!("{unit}{}", g.nodes.len()), latency, &[(unit, 0, held)])
}

fn follow(g: &mut LoopGraph, src: usize, dst: usize, distance: i64) {
    g.add_edge(src, dst, g.nodes[src].latency, distance);
}

/// Cycles that a unit is held in all.
fn fullest(g: &LoopGraph) -> i64 {
    let held = |name: &str| -> u64 {
        let uses = g.nodes.iter().flat_map(|v| &v.uses).filter(|u| u.resource == name);
        uses.map(|u| u.duration).sum()
    };
    g.resources.iter().map(|r| held(&r.name)).max().unwrap_or(1) as i64
}

/// A distance that makes a recurrence of this latency about as tight as the fullest unit.
fn closing(latency: i64, full: i64) -> i64 {
    (latency / full.max(1)).max(1)
}

/// Parallel chains that walk the units in their own order, each carried from its end to its start, with a few edges
/// across.
fn chains(g: &mut LoopGraph, source: &mut Source<'_>, units: usize, n: usize) {
    let many = 2 + source.below(5) as usize;
    let mut chains = vec![Vec::new(); many];
    for i in 0..n {
        let chain = i % many;
        let step = if source.below(4) == 0 { source.below(units as u64) as usize } else { i / many + chain };
        let v = op(g, source, UNITS[step % units]);
        if let Some(&last) = chains[chain].last() {
            follow(g, last, v, 0);
        }
        chains[chain].push(v);
    }
    for _ in 0..source.below(6) {
        let (a, b) = (source.below(n as u64) as usize, source.below(n as u64) as usize);
        if a != b {
            follow(g, a.min(b), a.max(b), source.below(2) as i64);
        }
    }
    let full = fullest(g);
    for chain in &chains {
        let from = source.below(chain.len() as u64 / 2 + 1) as usize;
        let to = chain.len() - 1 - source.below((chain.len() / 3 + 1) as u64) as usize;
        if from < to {
            let latency = chain[from..=to].iter().map(|&v| g.nodes[v].latency).sum();
            follow(g, chain[to], chain[from], closing(latency, full));
        }
    }
}

/// Layers that read the one or two before; results of late layers are carried to early ones.
fn layers(g: &mut LoopGraph, source: &mut Source<'_>, units: usize, n: usize) {
    let width = 3 + source.below(6) as usize;
    for i in 0..n {
        let unit = UNITS[source.below(units as u64) as usize];
        let v = op(g, source, unit);
        let first = (i / width).saturating_sub(2) * width;
        let before = (i / width) * width;
        for _ in 0..1 + source.below(3) {
            if before > first {
                let src = first + source.below((before - first) as u64) as usize;
                follow(g, src, v, 0);
            }
        }
    }
    let full = fullest(g);
    for _ in 0..1 + source.below(4) {
        let dst = source.below(n as u64 / 2) as usize;
        let src = dst + source.below((n - dst) as u64) as usize;
        let latency = (src / width - dst / width + 1) as i64 * 500;
        follow(g, src, dst, closing(latency, full));
    }
}

/// Streams of work that hand each other tiles through a few buffers: a buffer's next write waits for its last read.
fn streams(g: &mut LoopGraph, source: &mut Source<'_>, units: usize, n: usize) {
    let many = 2 + source.below(3) as usize;
    let mut last: Vec<Option<usize>> = vec![None; many];
    let mut given: Vec<usize> = Vec::new();
    for _ in 0..n {
        let stream = source.below(many as u64) as usize;
        let unit = UNITS[(stream + source.below(2) as usize * (1 + stream)) % units];
        let v = op(g, source, unit);
        if let Some(before) = last[stream] {
            follow(g, before, v, 0);
        }
        if source.below(3) == 0 && !given.is_empty() {
            let tile = given.swap_remove(source.below(given.len() as u64) as usize);
            follow(g, tile, v, 0);
            // The buffer is free for the next write of its tile so many iterations later.
            follow(g, v, tile, 1 + source.below(3) as i64);
        }
        last[stream] = Some(v);
        if source.below(2) == 0 {
            given.push(v);
        }
    }
    let first = source.below(n as u64 / 4) as usize;
    follow(g, first, first, 1);
}

/// Two to four partitions, each of which issues one operation at a time (S65).
fn issue_streams(g: &mut LoopGraph, source: &mut Source<'_>) {
    let partitions = 2 + source.below(3);
    (0..partitions).for_each(|a| _ = g.add_resource(format!("partition {a}"), 1));
    for v in 0..g.nodes.len() {
        let asynchronous = g.nodes[v].uses.iter().all(|u| u.resource == "TMA" || u.resource == "TC");
        let held = g.nodes[v].uses.iter().map(|u| u.duration).max().unwrap_or(1);
        let duration = if asynchronous { 30 } else { held };
        let resource = format!("partition {}", source.below(partitions));
        g.nodes[v].uses.push(ResourceUse { resource, start: 0, duration, ..ResourceUse::default() });
    }
}
