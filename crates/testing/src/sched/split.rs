//! Small loops whose operations have yet to be given to partitions, and the truth about them by enumeration.

use super::enumerate::{TooLarge, least_length_within};
use super::generate::{LoopShape, loop_graph};
use super::source::Source;
use std::collections::BTreeSet;
use warploom_sched::{LoopGraph, LoopReplica, PartitionKind, PartitionModel, ResourceUse, validate};

/// So many operations are parted in all ways.
const MOST_PARTED: usize = 6;

/// A random loop of up to four operations: kinds, issue times, sizes, slices, replicas, values in registers.
pub fn split_loop(source: &mut Source<'_>) -> LoopGraph {
    use PartitionKind::{Compute, Mma, Producer};
    let shape = LoopShape { ops: 4, duration: 3, latency: 4, distance: 2, wild: source.below(3) == 0 };
    let mut g = loop_graph(source, shape);
    if source.below(4) > 0 {
        g.resources.iter_mut().for_each(|r| r.count = 1);
    }
    for node in &mut g.nodes {
        node.issue_latency = [None, Some(0), Some(1), Some(2), Some(3)][source.below(5) as usize];
        node.kinds = match source.below(6) {
            0 => vec![Producer],
            1 => vec![Producer, Compute],
            2 => vec![Mma],
            _ => Vec::new(),
        };
        node.min_warps = if source.below(8) == 0 { Some(8) } else { None };
        node.slice = if source.below(6) == 0 { Some(7) } else { None };
    }
    if source.below(4) == 0 && g.nodes.len() >= 2 {
        // Two replicas of the first operations, what is left over there is once.
        let copies = g.nodes.len() / 2;
        for (i, node) in g.nodes.iter_mut().enumerate().take(2 * copies) {
            node.slice = None;
            node.replica = Some(LoopReplica { operation: i % copies, number: i / copies });
        }
    }
    for value in &mut g.values {
        if source.below(2) == 0 {
            // So few that registers suffice wherever a value is carried: the truth below does not look at them.
            (value.space, value.bytes) = ("reg".to_owned(), 1 + value.bytes % 8);
        }
    }
    g
}

/// A machine of up to three partitions whose crossings cost little, as the loops of [`split_loop`] are small.
pub fn small_machine() -> PartitionModel {
    PartitionModel::default().barrier(2).payload(1, 10_240).max_partitions(3)
}

/// The least II over all assignments, up to `most`, and the least cost of crossings at it; by trying all of them, and all
/// residues; `None`: there is none. Registers and caps on depths are not looked at.
///
/// # Errors
/// Too many assignments and residues to try.
pub fn least_split(
    graph: &LoopGraph,
    model: &PartitionModel,
    most: i64,
) -> Result<Option<(i64, i64)>, TooLarge> {
    if graph.nodes.len() > MOST_PARTED {
        let (steps, most) = (graph.nodes.len() as u128, MOST_PARTED as u128);
        return Err(TooLarge { steps, most });
    }
    let mut legal: Vec<(i64, Vec<usize>)> = Vec::new();
    assignments(graph.nodes.len(), model.max_partitions, &mut Vec::new(), &mut |of| {
        if is_legal(graph, model, of) {
            legal.push((crossings(graph, model, of), of.to_vec()));
        }
    });
    legal.sort();
    // Longer dependences may let operations of one iteration wait for each other, which no II helps (S12).
    let placed = legal.iter().map(|(cost, of)| (*cost, placed(graph, model, of)));
    let placed: Vec<(i64, LoopGraph)> = placed.filter(|(_, g)| validate(g).is_ok()).collect();
    let mut steps = 0;
    for ii in 1..=most {
        for (cost, g) in &placed {
            if least_length_within(g, ii, &mut steps)?.is_some() {
                return Ok(Some((ii, *cost)));
            }
        }
    }
    Ok(None)
}

/// Every way to part so many operations, each once.
fn assignments(n: usize, most: usize, of: &mut Vec<usize>, each: &mut dyn FnMut(&[usize])) {
    if of.len() == n {
        return each(of);
    }
    let next = of.iter().max().map_or(0, |m| m + 1);
    for partition in 0..=next.min(most.saturating_sub(1)) {
        of.push(partition);
        assignments(n, most, of, each);
        of.pop();
    }
}

pub(super) fn is_legal(graph: &LoopGraph, model: &PartitionModel, of: &[usize]) -> bool {
    let nodes = || graph.nodes.iter().enumerate();
    let is_view = |v: usize| {
        let node = &graph.nodes[v];
        node.latency == 0 && node.kinds.is_empty() && node.uses.iter().all(|u| u.duration == 0)
    };
    let follows = |v: usize| {
        let reader = graph.edges.iter().filter(|e| e.src == v && e.dst != v).map(|e| e.dst).min();
        !is_view(v) || reader.is_none_or(|r| of[r] == of[v])
    };
    let twin = |operation: usize, number: usize| {
        nodes().find(|(_, v)| v.replica == Some(LoopReplica { operation, number })).map(|(i, _)| i)
    };
    // A view is of the replica it is read by.
    let mut replica: Vec<Option<usize>> = graph.nodes.iter().map(|v| v.replica.map(|r| r.number)).collect();
    let mut sets: Vec<usize> = (0..of.len()).collect();
    for _ in 0..of.len() {
        for v in 0..of.len() {
            let reader = graph.edges.iter().filter(|e| e.src == v && e.dst != v).map(|e| e.dst).min();
            let slice =
                |w: usize| graph.nodes[v].slice.is_some() && graph.nodes[v].slice == graph.nodes[w].slice;
            let joined = |w: usize| (is_view(v) && reader == Some(w)) || slice(w);
            for w in (0..of.len()).filter(|&w| joined(w)) {
                let (low, high) = (sets[v].min(sets[w]), sets[v].max(sets[w]));
                sets.iter_mut().filter(|s| **s == high).for_each(|s| *s = low);
            }
        }
    }
    for v in 0..of.len() {
        let known = (0..of.len()).find_map(|w| replica[w].filter(|_| sets[w] == sets[v]));
        replica[v] = replica[v].or(known);
    }
    for a in 0..of.len() {
        for b in 0..a {
            let (one, other) = (&graph.nodes[a], &graph.nodes[b]);
            let together = of[a] == of[b];
            if sets[a] == sets[b] && (!together || replica[a] != replica[b]) {
                return false;
            }
            if together && replica[a] != replica[b] {
                return false;
            }
            if let (Some(r), Some(s)) = (one.replica, other.replica)
                && r.number == s.number
                && let (Some(x), Some(y)) = (twin(r.operation, 1 - r.number), twin(s.operation, 1 - s.number))
                && (of[x] == of[y]) != together
            {
                return false;
            }
        }
    }
    let used: BTreeSet<usize> = of.iter().copied().collect();
    let warps = |p: usize| -> Option<u32> {
        let own = || nodes().filter(|(i, _)| of[*i] == p).map(|(_, v)| v);
        let least = own().filter_map(|v| v.min_warps).max().unwrap_or(1);
        [PartitionKind::Producer, PartitionKind::Mma, PartitionKind::Compute].into_iter().find_map(|kind| {
            let may = |v: &warploom_sched::LoopNode| {
                v.kinds.contains(&kind)
                    || v.kinds.is_empty() && (kind == PartitionKind::Compute || is_view(v.id))
            };
            let size = if kind == PartitionKind::Compute { least.max(4) } else { least };
            own().all(may).then_some(size)
        })
    };
    let sizes: Option<Vec<u32>> = used.iter().map(|&p| warps(p)).collect();
    (0..of.len()).all(follows) && sizes.is_some_and(|s| s.iter().sum::<u32>() <= model.max_warps)
}

fn cost(graph: &LoopGraph, model: &PartitionModel, src: usize, dst: usize) -> i64 {
    let moved = graph
        .values
        .iter()
        .filter(|v| v.def == src && v.space == model.register_space && v.uses.iter().any(|u| u.node == dst));
    let bytes: u64 = moved.map(|v| v.bytes).sum();
    let payload = model.payload + (model.payload_per_10240 * bytes as i64 + 10_239) / 10_240;
    model.barrier + if bytes > 0 { payload } else { 0 }
}

fn crossings(graph: &LoopGraph, model: &PartitionModel, of: &[usize]) -> i64 {
    let mut pairs: BTreeSet<(usize, usize)> = graph.edges.iter().map(|e| (e.src, e.dst)).collect();
    graph.values.iter().for_each(|v| pairs.extend(v.uses.iter().map(|u| (v.def, u.node))));
    pairs.into_iter().filter(|(s, d)| of[*s] != of[*d]).map(|(s, d)| cost(graph, model, s, d)).sum()
}

pub(super) fn placed(graph: &LoopGraph, model: &PartitionModel, of: &[usize]) -> LoopGraph {
    let mut g = graph.clone();
    for p in 0..=of.iter().copied().max().unwrap_or(0) {
        g.add_resource(format!("stream {p}"), 1);
    }
    for node in &mut g.nodes {
        let longest = node.uses.iter().map(|u| u.duration).max().unwrap_or(0);
        let duration = node.issue_latency.unwrap_or(longest);
        node.uses.push(ResourceUse {
            resource: format!("stream {}", of[node.id]),
            start: 0,
            duration,
            ..ResourceUse::default()
        });
    }
    for e in g.edges.iter_mut().filter(|e| of[e.src] != of[e.dst]) {
        e.latency += cost(graph, model, e.src, e.dst);
    }
    for v in &graph.values {
        for u in v.uses.iter().filter(|u| of[u.node] != of[v.def]) {
            g.add_edge(v.def, u.node, v.start + cost(graph, model, v.def, u.node), u.distance);
        }
    }
    g
}
