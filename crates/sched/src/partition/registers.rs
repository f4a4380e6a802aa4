//! Registers per partition (S63).

use crate::model::answer::Answer;
use crate::model::error::ScheduleError;
use crate::model::graph::{LoopGraph, LoopPartition};
use crate::model::partition::PartitionModel;

/// Gives every partition the registers its live tiles need, and the rest to the one that needs most (S63).
pub(super) fn registers(
    graph: &LoopGraph,
    model: &PartitionModel,
    answer: &Answer,
    partition_of: &[usize],
    partitions: &mut [LoopPartition],
) -> Result<u64, ScheduleError> {
    let mut live = vec![0u64; partitions.len()];
    for (partition, bytes) in partitions.iter().zip(&mut live) {
        *bytes = live_bytes(graph, &model.register_space, answer, |v| partition_of[v] == partition.id);
    }
    for (partition, bytes) in partitions.iter_mut().zip(&live) {
        let need = bytes
            .div_ceil(u64::from(partition.warps) * 32 * 4)
            .max(u64::from(partition.regs))
            .next_multiple_of(8);
        if need > 256 {
            let message = format!(
                "partition {} has {bytes} live register bytes in {} warps",
                partition.id, partition.warps
            );
            return Err(ScheduleError::Partitions(message));
        }
        partition.regs = need as u32;
    }
    let total = |partitions: &[LoopPartition]| -> u64 {
        partitions.iter().map(|a| u64::from(a.warps.max(4)) * 32 * u64::from(a.regs)).sum()
    };
    let used = total(partitions);
    if used > model.registers {
        let message = format!("{used} registers, there are {}", model.registers);
        return Err(ScheduleError::Partitions(message));
    }
    let neediest = (0..partitions.len()).max_by_key(|&i| (live[i], std::cmp::Reverse(i)));
    while let Some(i) = neediest.filter(|&i| partitions[i].regs + 8 <= 248) {
        partitions[i].regs += 8;
        if total(partitions) > model.registers {
            partitions[i].regs -= 8;
            break;
        }
    }
    Ok(used)
}

/// The most register bytes live at once among the values that these operations write, folded modulo II.
fn live_bytes(graph: &LoopGraph, space: &str, answer: &Answer, own: impl Fn(usize) -> bool) -> u64 {
    let ii = answer.ii.max(1);
    let (mut always, mut events) = (0u64, Vec::new());
    for (v, d) in graph.values.iter().zip(&answer.values) {
        if v.space != space || !own(v.def) {
            continue;
        }
        let lifetime = d.lifetime.max(0);
        always = always.saturating_add(v.bytes.saturating_mul((lifetime / ii) as u64));
        let (rest, start) = (lifetime % ii, answer.nodes.get(v.def).map_or(0, |n| n.time) + v.start);
        let from = start.rem_euclid(ii);
        if rest > 0 {
            events.push((from, v.bytes as i64));
            events.push(((from + rest) % ii, -(v.bytes as i64)));
            if from + rest >= ii {
                events.push((0, v.bytes as i64));
            }
        }
    }
    for node in graph.nodes.iter().filter(|n| own(n.id)) {
        always = always.saturating_add(node.reg_bytes.unwrap_or(0));
    }
    events.sort_unstable();
    let (mut load, mut most) = (0i64, 0i64);
    for (_, step) in events {
        load += step;
        most = most.max(load);
    }
    always.saturating_add(most.unsigned_abs())
}
