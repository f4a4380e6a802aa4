//! The order of operations in the steady-state body (S22).

use crate::model::graph::LoopGraph;
use crate::model::problem::Problem;
use petgraph::algo::has_path_connecting;
use petgraph::graph::{DiGraph, NodeIndex};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Position of every operation in the body: ascending by cycle; in one cycle, writers before readers of the
/// same instance, readers of an older instance before the writer, higher stage first, lower id first.
pub(crate) fn body_order(problem: &Problem, graph: &LoopGraph, ii: i64, time: &[i64]) -> Vec<usize> {
    let n = problem.n;
    let mut before: Vec<(u32, u32)> = problem
        .dependences
        .arcs
        .iter()
        .filter(|a| a.latency == 0 && a.src != a.dst)
        .filter(|a| {
            let wrap = ii.checked_mul(a.distance);
            wrap.is_some_and(|wrap| time[a.dst as usize].checked_add(wrap) == Some(time[a.src as usize]))
        })
        .map(|a| (a.src, a.dst))
        .collect();
    readers_before_rewriters(graph, ii, time, &mut before);
    before.sort_unstable();
    before.dedup();
    if before.is_empty() {
        return positions(
            (0..n).map(|v| (time[v].rem_euclid(ii), Reverse(time[v].div_euclid(ii)), v)).collect(),
        );
    }
    let mut waits = vec![0u32; n];
    for &(_, d) in &before {
        waits[d as usize] += 1;
    }
    let key = |v: usize| Reverse((time[v].rem_euclid(ii), Reverse(time[v].div_euclid(ii)), v));
    let mut ready: BinaryHeap<_> = (0..n).filter(|&v| waits[v] == 0).map(key).collect();
    let mut position = vec![0; n];
    let mut next = 0;
    while let Some(Reverse((_, _, v))) = ready.pop() {
        position[v] = next;
        next += 1;
        for &(_, d) in targets(&before, v as u32) {
            waits[d as usize] -= 1;
            if waits[d as usize] == 0 {
                ready.push(key(d as usize));
            }
        }
    }
    position
}

/// The position of each operation where only these keys order them.
fn positions(mut keys: Vec<(i64, Reverse<i64>, usize)>) -> Vec<usize> {
    keys.sort_unstable();
    let mut position = vec![0; keys.len()];
    for (next, &(_, _, v)) in keys.iter().enumerate() {
        position[v] = next;
    }
    position
}

/// Adds reader -> writer for every reader of an older instance in the writer's cycle, unless that closes a
/// circle; values in ascending order of id.
fn readers_before_rewriters(graph: &LoopGraph, ii: i64, time: &[i64], before: &mut Vec<(u32, u32)>) {
    let mut values: Vec<_> = graph.values.iter().collect();
    values.sort_by_key(|v| v.id);
    // Most loops have no such reader, and need no graph.
    let mut ordered: Option<DiGraph<(), ()>> = None;
    for v in values {
        for u in &v.uses {
            let (def, reader) = (time[v.def], time[u.node]);
            let same_cycle = def.rem_euclid(ii) == reader.rem_euclid(ii);
            let older = u.distance + reader.div_euclid(ii) - def.div_euclid(ii) >= 1;
            if !same_cycle || !older || u.node == v.def {
                continue;
            }
            let ordered = ordered.get_or_insert_with(|| {
                let mut graph = DiGraph::with_capacity(time.len(), before.len());
                (0..time.len()).for_each(|_| _ = graph.add_node(()));
                graph.extend_with_edges(before.iter());
                graph
            });
            let (def, reader) = (NodeIndex::new(v.def), NodeIndex::new(u.node));
            if !has_path_connecting(&*ordered, def, reader, None) {
                ordered.add_edge(reader, def, ());
                before.push((u.node as u32, v.def as u32));
            }
        }
    }
}

fn targets(sorted: &[(u32, u32)], v: u32) -> &[(u32, u32)] {
    let from = sorted.partition_point(|p| p.0 < v);
    let to = sorted.partition_point(|p| p.0 <= v);
    &sorted[from..to]
}
