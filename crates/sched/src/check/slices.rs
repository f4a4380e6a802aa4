//! What must stay together, and what must not: slices and replicas (S97, S98), and what the crossings come to.

use super::report::{Report, ceil_div};
use super::violation::ScheduleViolationKind as Kind;
use crate::model::answer::Answer;
use crate::model::graph::{LoopGraph, LoopNode};
use crate::model::partition::PartitionModel;
use std::collections::BTreeSet;

/// Slices are whole, and replicas apart and alike.
pub(super) fn check(graph: &LoopGraph, partition_of: &[usize], report: &mut Report) {
    for (b, second) in graph.nodes.iter().enumerate() {
        for (a, first) in graph.nodes[..b].iter().enumerate() {
            let together = partition_of[a] == partition_of[b];
            if first.slice.is_some() && first.slice == second.slice && !together {
                let message = format!("{a} of the same slice is in another partition");
                report.add(Kind::Partition, format!("node {b}"), message);
            }
            let (Some(one), Some(other)) = (first.replica, second.replica) else { continue };
            if one.number != other.number {
                if together {
                    let message = format!("{a} of another replica is in the same partition");
                    report.add(Kind::Partition, format!("node {b}"), message);
                }
                continue;
            }
            let twin = |operation: usize, number: usize| {
                let is = |r: crate::model::graph::LoopReplica| r.operation == operation && r.number == number;
                graph.nodes.iter().position(|v| v.replica.is_some_and(is))
            };
            let numbers: BTreeSet<usize> =
                graph.nodes.iter().filter_map(|v| v.replica).map(|r| r.number).collect();
            for number in numbers {
                if let (Some(x), Some(y)) = (twin(one.operation, number), twin(other.operation, number))
                    && (partition_of[x] == partition_of[y]) != together
                {
                    let message = format!("with {a} as {y} is not with {x}, its twins in replica {number}");
                    report.add(Kind::Partition, format!("node {b}"), message);
                }
            }
        }
    }
    // A slice of which one operation is a copy is one as a whole.
    let copies: BTreeSet<usize> =
        graph.nodes.iter().filter(|v| v.replica.is_some()).filter_map(|v| v.slice).collect();
    let is_copy = |v: &LoopNode| v.replica.is_some() || v.slice.is_some_and(|s| copies.contains(&s));
    let is_view =
        |v: &LoopNode| v.latency == 0 && v.kinds.is_empty() && v.uses.iter().all(|u| u.duration == 0);
    // A view is of the replica that reads it, whatever it says.
    let copied = |v: usize| {
        let mut copies = graph.nodes.iter().filter(|w| w.replica.is_some() && !is_view(w));
        copies.any(|w| partition_of[w.id] == partition_of[v])
    };
    for v in graph.nodes.iter().filter(|v| !is_copy(v) && !is_view(v)) {
        if copied(v.id) {
            report.add(
                Kind::Partition,
                format!("node {}", v.id),
                "there is once, its partition is replicated",
            );
        }
    }
}

/// The cycles of crossing costs that an iteration pays are those that the answer tells.
pub(super) fn check_cost(
    graph: &LoopGraph,
    model: &PartitionModel,
    answer: &Answer,
    partition_of: &[usize],
    report: &mut Report,
) {
    let Some(split) = &answer.split else { return };
    let mut waits: BTreeSet<(usize, usize)> = graph.edges.iter().map(|e| (e.src, e.dst)).collect();
    graph.values.iter().for_each(|v| waits.extend(v.uses.iter().map(|u| (v.def, u.node))));
    let mut sum = 0i128;
    for (src, dst) in waits.into_iter().filter(|(src, dst)| partition_of[*src] != partition_of[*dst]) {
        sum += cost(graph, model, src, dst);
    }
    if sum != i128::from(split.crossings) {
        report.add(Kind::Counts, "split", format!("crossings {}, expected {sum}", split.crossings));
    }
}

/// The cycles that a crossing from one operation to another costs (S64).
pub(super) fn cost(graph: &LoopGraph, model: &PartitionModel, src: usize, dst: usize) -> i128 {
    let mut bytes = 0i128;
    for v in graph.values.iter().filter(|v| v.def == src && v.space == model.register_space) {
        if v.uses.iter().any(|u| u.node == dst) {
            bytes += i128::from(v.bytes);
        }
    }
    let payload = i128::from(model.payload) + ceil_div(i128::from(model.payload_per_10240) * bytes, 10_240);
    i128::from(model.barrier) + if bytes > 0 { payload } else { 0 }
}
