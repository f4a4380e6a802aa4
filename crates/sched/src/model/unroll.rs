//! Several iterations of a loop as one (S101).

use crate::model::error::ScheduleError;
use crate::model::graph::{LoopEdge, LoopGraph, LoopNode, LoopReplica, LoopValue, ValueUse};

/// The largest factor.
pub(crate) const MOST_FACTOR: u64 = 64;

/// `factor` iterations as one: copy c of operation v is operation `c * n + v`. Iteration i of the loop is copy `i mod factor`
/// of iteration `i div factor`. Each copy of a value has a ring of its own.
///
/// # Errors
/// [`ScheduleError::BadOption`] for a factor of 0 or above 64, and where a ring with a greatest number of slots cannot be
/// shared evenly by the copies.
pub fn unroll(graph: &LoopGraph, factor: u64) -> Result<LoopGraph, ScheduleError> {
    if !(1..=MOST_FACTOR).contains(&factor) {
        return Err(refusal(format!("{factor} is not between 1 and {MOST_FACTOR}")));
    }
    let graph = &*graph.with_exit_edges();
    let (n, k) = (graph.nodes.len(), factor as usize);
    let to = |node: usize, copy: usize, distance: i64| {
        let ahead = copy as i64 + distance;
        (ahead.rem_euclid(factor as i64) as usize * n + node, ahead.div_euclid(factor as i64))
    };
    let mut out = LoopGraph {
        name: format!("{} by {factor}", graph.name),
        trip_count: graph.trip_count.map(|trips| trips.div_ceil(factor)),
        nodes: Vec::with_capacity(n * k),
        edges: Vec::with_capacity(graph.edges.len() * k),
        values: Vec::with_capacity(graph.values.len() * k),
        ..graph.clone()
    };
    for copy in 0..k {
        out.nodes.extend(graph.nodes.iter().map(|v| node(v, n, copy, k)));
        out.edges.extend(graph.edges.iter().map(|e| {
            let (dst, distance) = to(e.dst, copy, e.distance);
            LoopEdge { src: copy * n + e.src, dst, latency: e.latency, distance }
        }));
        for v in &graph.values {
            let uses = v.uses.iter().map(|u| {
                let (node, distance) = to(u.node, copy, u.distance);
                ValueUse { node, distance, end: u.end }
            });
            out.values.push(LoopValue {
                id: v.id.saturating_mul(k).saturating_add(copy),
                name: named(&v.name, copy),
                def: copy * n + v.def,
                uses: uses.collect(),
                group: v.group.map(|g| g.saturating_mul(k).saturating_add(copy)),
                min_depth: v.min_depth.map(|d| d.div_ceil(factor)),
                max_depth: v.max_depth.map(|d| slots(v, d, factor)).transpose()?,
                ..v.clone()
            });
        }
    }
    Ok(out)
}

fn node(v: &LoopNode, n: usize, copy: usize, copies: usize) -> LoopNode {
    LoopNode {
        id: copy * n + v.id,
        name: named(&v.name, copy),
        replica: v
            .replica
            .map(|r| LoopReplica { operation: r.operation.saturating_mul(copies).saturating_add(copy), ..r }),
        ..v.clone()
    }
}

fn named(name: &str, copy: usize) -> String {
    if name.is_empty() { String::new() } else { format!("{name}.{copy}") }
}

pub(crate) fn refusal(message: String) -> ScheduleError {
    ScheduleError::BadOption { option: "unroll", message }
}

/// The slots of each copy: together as many as the ring has, each used by every `factor`-th iteration, as in the loop.
fn slots(v: &LoopValue, most: u64, factor: u64) -> Result<u64, ScheduleError> {
    if most.is_multiple_of(factor) && most > 0 {
        return Ok(most / factor);
    }
    Err(refusal(format!(
        "value {} has at most {most} slots, which {factor} copies cannot share evenly",
        v.id
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_become_copies() {
        let mut g = LoopGraph::new("g");
        let v = g.add_node("v", 3, &[]);
        let w = g.add_node("w", 1, &[]);
        g.add_edge(v, w, 3, 0).add_edge(w, v, 1, 3);
        g.add_value(v, 8, "s", &[(w, 1, 1)]);
        g.values[0].max_depth = Some(4);
        let out = unroll(&g, 2).unwrap_or_default();
        let edges: Vec<(usize, usize, i64)> = out.edges.iter().map(|e| (e.src, e.dst, e.distance)).collect();
        assert_eq!(edges, [(0, 1, 0), (1, 2, 1), (2, 3, 0), (3, 0, 2)]);
        let uses: Vec<(usize, usize, i64)> =
            out.values.iter().map(|v| (v.def, v.uses[0].node, v.uses[0].distance)).collect();
        assert_eq!(uses, [(0, 3, 0), (2, 1, 1)]);
        assert_eq!(out.values[1].max_depth, Some(2));
        assert!(unroll(&g, 3).is_err());
    }
}
