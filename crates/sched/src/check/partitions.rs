//! S81: who issues what, registers, and the dependences and rings again with the costs of crossing.

use super::exits::waited;
use super::report::{Report, ceil_div, times_by_id};
use super::violation::{ScheduleViolationKind as Kind, ScheduleViolations};
use super::{shape, slices};
use crate::model::answer::Answer;
use crate::model::graph::{LoopGraph, PartitionKind};
use crate::model::partition::PartitionModel;
use std::collections::BTreeMap;

/// Checks the partitions of an answer against S61-S63, and S73, S74 and S79 with issue streams and crossings
/// (S64-S66). The node-wide `reg_bytes` and values in registers are counted as live for their whole lifetime.
///
/// # Errors
/// All violations found.
pub fn partitions(
    graph: &LoopGraph,
    model: &PartitionModel,
    answer: &Answer,
) -> Result<(), ScheduleViolations> {
    let mut report = Report::default();
    let graph = &*waited(graph);
    if shape::check(graph, answer, &mut report) {
        let mut partition_of = vec![usize::MAX; graph.nodes.len()];
        for v in &answer.nodes {
            match v.partition.filter(|a| answer.partitions.iter().any(|b| b.id == *a)) {
                Some(partition) => partition_of[v.id] = partition,
                None => {
                    report.add(Kind::Partition, format!("node {}", v.id), "belongs to no listed partition")
                }
            }
        }
        if report.is_empty() {
            check_kinds(graph, answer, &partition_of, &mut report);
            check_limits(model, answer, &mut report);
            check_streams(graph, answer, &partition_of, &mut report);
            check_crossings(graph, model, answer, &partition_of, &mut report);
            slices::check(graph, &partition_of, &mut report);
            slices::check_cost(graph, model, answer, &partition_of, &mut report);
        }
    }
    report.verdict()
}

fn check_kinds(graph: &LoopGraph, answer: &Answer, partition_of: &[usize], report: &mut Report) {
    for node in &graph.nodes {
        let Some(partition) = answer.partitions.iter().find(|a| a.id == partition_of[node.id]) else {
            continue;
        };
        let at = format!("node {}", node.id);
        if node.partition.is_some_and(|given| given != partition.id) {
            report.add(
                Kind::Partition,
                &at,
                format!("partition {} instead of the given {:?}", partition.id, node.partition),
            );
        }
        let view = node.latency == 0 && node.uses.iter().all(|u| u.duration == 0);
        let fits = if node.kinds.is_empty() {
            view || partition.kind == PartitionKind::Compute
        } else {
            node.kinds.contains(&partition.kind)
        };
        if !fits {
            report.add(
                Kind::Partition,
                &at,
                format!("kinds {:?}, partition {} is {:?}", node.kinds, partition.id, partition.kind),
            );
        }
        if node.min_warps.is_some_and(|least| partition.warps < least) {
            report.add(
                Kind::Partition,
                &at,
                format!("needs {:?} warps, has {}", node.min_warps, partition.warps),
            );
        }
    }
}

fn check_limits(model: &PartitionModel, answer: &Answer, report: &mut Report) {
    let (mut warps, mut registers) = (0u64, 0u64);
    for a in &answer.partitions {
        let at = format!("partition {}", a.id);
        if ![1, 2, 4, 8].contains(&a.warps) {
            report.add(Kind::Partition, &at, format!("{} warps, expected 1, 2, 4 or 8", a.warps));
        }
        if !(24..=256).contains(&a.regs) || a.regs % 8 != 0 {
            report.add(
                Kind::Partition,
                &at,
                format!("{} registers, expected 24..256 in multiples of 8", a.regs),
            );
        }
        warps += u64::from(a.warps);
        registers += u64::from(a.warps.max(4)) * 32 * u64::from(a.regs);
    }
    if warps > u64::from(model.max_warps) {
        report.add(Kind::Partition, "partitions", format!("{warps} warps, at most {}", model.max_warps));
    }
    if registers > model.registers {
        report.add(
            Kind::Partition,
            "partitions",
            format!("{registers} registers, at most {}", model.registers),
        );
    }
}

/// Every partition issues one operation at a time (S65).
fn check_streams(graph: &LoopGraph, answer: &Answer, partition_of: &[usize], report: &mut Report) {
    let (ii, time) = (i128::from(answer.ii), times_by_id(answer));
    for partition in &answer.partitions {
        let mut change: BTreeMap<i128, i128> = BTreeMap::new();
        let mut load = 0;
        for node in graph.nodes.iter().filter(|v| partition_of[v.id] == partition.id) {
            let longest = node.uses.iter().map(|u| u.duration).max().unwrap_or(0);
            let cycles = i128::from(node.issue_latency.unwrap_or(longest));
            load += cycles / ii;
            let (from, rest) = (time[node.id].rem_euclid(ii), cycles % ii);
            if rest > 0 {
                *change.entry(from).or_default() += 1;
                *change.entry((from + rest) % ii).or_default() -= 1;
                if from + rest >= ii {
                    *change.entry(0).or_default() += 1;
                }
            }
        }
        // Whole turns are held at every cycle, also where nothing else changes.
        change.entry(0).or_default();
        for (cycle, step) in change {
            load += step;
            if load > 1 {
                let at = format!("partition {} at cycle {cycle}", partition.id);
                report.add(Kind::Partition, at, format!("issues {load} operations, at most 1"));
            }
        }
    }
}

fn check_crossings(
    graph: &LoopGraph,
    model: &PartitionModel,
    answer: &Answer,
    partition_of: &[usize],
    report: &mut Report,
) {
    let (ii, time) = (i128::from(answer.ii), times_by_id(answer));
    let cost = |src: usize, dst: usize| slices::cost(graph, model, src, dst);
    for (i, e) in graph.edges.iter().enumerate().filter(|(_, e)| partition_of[e.src] != partition_of[e.dst]) {
        let have = time[e.dst] + ii * i128::from(e.distance);
        let need = time[e.src] + i128::from(e.latency) + cost(e.src, e.dst);
        if have < need {
            let message = format!("{} -> {} crosses partitions: {have} is before {need}", e.src, e.dst);
            report.add(Kind::Partition, format!("edge {i}"), message);
        }
    }
    for v in &graph.values {
        let depth = answer.values.iter().find(|d| d.id == v.id).map_or(0, |d| d.depth);
        for u in v.uses.iter().filter(|u| partition_of[u.node] != partition_of[v.def]) {
            let (have, from) =
                (time[u.node] + ii * i128::from(u.distance), time[v.def] + i128::from(v.start));
            if have < from + cost(v.def, u.node) {
                let message = format!("{} reads it in another partition at {have}, too early", u.node);
                report.add(Kind::Partition, format!("value {}", v.id), message);
            }
            let end = time[u.node] + ii * i128::from(u.distance) + i128::from(u.end) + cost(v.def, u.node);
            let need = ceil_div(end - (time[v.def] + i128::from(v.start)), ii);
            if i128::from(depth) < need {
                let message =
                    format!("depth {depth}, its reader {} in another partition needs {need}", u.node);
                report.add(Kind::Partition, format!("value {}", v.id), message);
            }
        }
    }
}
