//! Warps, registers and named barriers of partitions, and what one lane does alone (C21, C31, C32).

use warploom_chips::Target;
use warploom_ir::Opcode;

use super::operations::operations;
use crate::check::model::Model;
use crate::check::report::{Report, Rule};

/// Partitions have disjoint warps; those that multiply or move registers are whole warpgroups (C21).
pub(super) fn warps(model: &Model<'_>, target: &Target, report: &mut Report) {
    if model.warps == 0 || model.warps > u64::from(target.threads.warps_per_cta()) {
        report.add(Rule::Warps, "warploom.warps", format!("{} warps", model.warps));
    }
    let mut next = 0;
    for (number, partition) in model.partitions.iter().enumerate() {
        let at = format!("@{}", partition.name);
        let end = partition.warp.saturating_add(partition.warps);
        if partition.warps == 0 || partition.warp < next || end > model.warps {
            report.add(Rule::Warps, &at, format!("warps {}..{end} of {}", partition.warp, model.warps));
        }
        next = end;
        let multiplies = partition.layout != "mma_sync"
            && operations(model).any(|(a, _, o)| a == number && o == Opcode::Dot);
        let reads = operations(model).any(|(a, p, o)| {
            let ring = model.ring(p.op).and_then(|r| model.rings.get(r));
            let touches = matches!(o, Opcode::Slot | Opcode::TileStore);
            a == number && touches && !p.elected && ring.is_some_and(|r| r.tensor)
        });
        let multiplies = multiplies || reads;
        let moves = partition.registers != model.max_registers / 8 * 8;
        if (multiplies || moves) && !(partition.warp.is_multiple_of(4) && partition.warps.is_multiple_of(4)) {
            let why = if multiplies { "multiplies" } else { "moves registers" };
            report.add(
                Rule::Warps,
                &at,
                format!("{why} with warps {}..{end}, no whole warpgroups", partition.warp),
            );
        }
    }
}

/// The pool holds what partitions ask for, in legal operands; givers and takers exist together (C31, T16).
pub(super) fn registers(model: &Model<'_>, target: &Target, report: &mut Report) {
    let entry = model.max_registers / 8 * 8;
    let lanes = model.warps.saturating_mul(32);
    if !(24..=256).contains(&model.max_registers)
        || lanes.saturating_mul(model.max_registers) > u64::from(target.registers.per_cta)
    {
        report.add(
            Rule::Registers,
            "warploom.max_registers",
            format!("{} for {lanes} threads", model.max_registers),
        );
    }
    let asked: u64 =
        model.partitions.iter().map(|a| a.warps.saturating_mul(32).saturating_mul(a.registers)).sum();
    let pool = lanes.saturating_mul(entry);
    if asked > pool {
        report.add(Rule::Registers, "partitions", format!("ask for {asked} registers of {pool}"));
    }
    for partition in &model.partitions {
        let legal = (24..=256).contains(&partition.registers) && partition.registers.is_multiple_of(8);
        if partition.registers != entry && !legal {
            report.add(
                Rule::Registers,
                format!("@{}", partition.name),
                format!("setmaxnreg {}", partition.registers),
            );
        }
    }
}

/// Ids 1..15 used once; the count is that of the warps that come (C32, T7).
pub(super) fn named_barriers(model: &Model<'_>, target: &Target, report: &mut Report) {
    for (index, barrier) in model.barriers.iter().enumerate() {
        let at = format!("@{}", barrier.name);
        let free = target.barriers.free_ids();
        if !free.iter().any(|&id| u64::from(id) == barrier.id) {
            report.add(Rule::NamedBarrier, &at, format!("id {}: 1 to 15 are to be given out", barrier.id));
        }
        if model.barriers.iter().take(index).any(|b| b.id == barrier.id && b.threads != barrier.threads) {
            report.add(Rule::NamedBarrier, &at, format!("id {} has another count elsewhere", barrier.id));
        }
        let mut users: Vec<usize> = operations(model)
            .filter(|(_, p, o)| *o == Opcode::BarrierSync && model.barrier(p.op) == Some(index))
            .map(|(partition, ..)| partition)
            .collect();
        // Warps that exchange through scratch meet too.
        let meets = |a: &crate::check::model::Partition| a.meets.as_deref() == Some(barrier.name.as_str());
        users.extend(model.partitions.iter().enumerate().filter(|(_, a)| meets(a)).map(|(n, _)| n));
        users.sort_unstable();
        users.dedup();
        let threads: u64 = users.iter().filter_map(|&a| model.partitions.get(a)).map(|a| a.warps * 32).sum();
        if barrier.threads != threads || !threads.is_multiple_of(32) {
            report.add(Rule::NamedBarrier, &at, format!("{} threads: {threads} come", barrier.threads));
        }
    }
}

/// Copies and their bookkeeping are one lane's work; products and block-wide steps are everybody's (C21).
pub(super) fn elections(model: &Model<'_>, report: &mut Report) {
    use Opcode::*;
    for (partition, placed, opcode) in operations(model) {
        let ring = model.ring(placed.op).and_then(|r| model.rings.get(r));
        let commits =
            opcode == ConsumerRelease && ring.is_some_and(|r| r.is_operands() || r.is_tmem_operands());
        // What all lanes write, all lanes hand over.
        let hands_over = ring.is_some_and(|r| r.is_tmem_operands());
        // So do all lanes that copy acquire what they copy into.
        let copies = ring.is_some_and(|r| r.is_grouped());
        let single = commits
            || (matches!(opcode, ProducerAcquire | ProducerCommit) && !hands_over && !copies)
            || matches!(opcode, TmaLoad | TmaStore | StoreCommit | StoreWait | Mma | MmaBlockScaled);
        let all = !commits
            && (matches!(
                opcode,
                ConsumerRelease
                    | TileStore
                    | ProxyFence
                    | BarrierSync
                    | Dot
                    | MmaWait
                    | AsyncCopy
                    | AsyncCommit
                    | AsyncWait
                    | MakeTensorDescriptor
            ) || (opcode == ProducerCommit && hands_over)
                || (opcode == ProducerAcquire && copies));
        if single && !placed.elected {
            report.add(
                Rule::Election,
                model.place(partition, placed.op),
                "outside an elected region: every lane would do it",
            );
        }
        if all && placed.elected {
            report.add(
                Rule::Election,
                model.place(partition, placed.op),
                "inside an elected region: all lanes must take part",
            );
        }
    }
}
