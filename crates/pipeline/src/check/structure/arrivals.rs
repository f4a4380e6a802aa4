//! Who arrives, and how many bytes a commit announces (C22, C24, T8).

use std::collections::BTreeSet;

use warploom_chips::Target;
use warploom_ir::Opcode;

use super::memory::columns_meet;
use super::operations::operations;
use crate::check::model::Model;
use crate::check::report::{Report, Rule};
use crate::check::rings::Ring;

/// Arrival counts are who arrives; barriers exist where they are used (C22, C24, T8).
pub(super) fn counts(model: &Model<'_>, index: usize, ring: &Ring, target: &Target, report: &mut Report) {
    let at = format!("@{}", ring.name);
    let mine = |wanted: Opcode| {
        operations(model).filter(move |(_, p, o)| *o == wanted && model.ring(p.op) == Some(index))
    };
    let warps_of = |wanted: Opcode| -> u64 {
        let mut partitions: Vec<usize> = mine(wanted).map(|(partition, ..)| partition).collect();
        partitions.dedup();
        partitions.iter().filter_map(|&a| model.partitions.get(a)).map(|a| a.warps).sum()
    };
    if ring.is_grouped() && (ring.full.is_some() || ring.empty.is_some() != ring.is_operands()) {
        report.add(
            Rule::Form,
            &at,
            "copies by all lanes have groups, not barriers, but where products give back",
        );
    }
    let loads = mine(Opcode::TmaLoad).count();
    if loads > 0 && ring.full.is_none() {
        report.add(Rule::Form, &at, "copies arrive and there is no full barrier");
    }
    let committing = match ring.is_tmem_operands() {
        true => warps_of(Opcode::ProducerCommit),
        false => 1,
    };
    if ring.full.is_some() && ring.arrive_full != committing {
        let who = if ring.is_tmem_operands() {
            format!("{committing} warps commit")
        } else {
            "one lane commits".into()
        };
        report.add(Rule::Arrivals, &at, format!("arrive_full {}: {who}", ring.arrive_full));
    }
    let elected = mine(Opcode::ConsumerRelease).filter(|(_, p, _)| p.elected).count();
    let releasing = match ring.is_operands() || ring.is_tmem_operands() {
        // A commit of products is one arrival.
        true => elected.min(1) as u64,
        // Partitions that read in turn are alike, and one of them gives a slot back.
        false if ring.in_turns => {
            let all = warps_of(Opcode::ConsumerRelease);
            let by: BTreeSet<usize> = mine(Opcode::ConsumerRelease).map(|(at, ..)| at).collect();
            let warps = by.iter().filter_map(|&at| model.partitions.get(at)).map(|p| p.warps);
            let most = warps.clone().max().unwrap_or(0);
            if warps.sum::<u64>() == most * by.len() as u64 { most } else { all }
        }
        false => warps_of(Opcode::ConsumerRelease),
    };
    if ring.empty.is_some() && ring.arrive_empty != releasing {
        report.add(
            Rule::Arrivals,
            &at,
            format!("arrive_empty {}: {releasing} warps release", ring.arrive_empty),
        );
    }
    let acquires = mine(Opcode::ProducerAcquire).count();
    // Readers of a sum may meet instead: the run says whether they do.
    let met = ring.is_accumulators() && acquires > 0 && releasing > 0;
    if ring.empty.is_none() && (acquires > 0 || releasing > 0) && !met {
        report.add(Rule::Form, &at, "acquired or released without an empty barrier");
    }
    if ring.tensor != (ring.is_accumulators() || ring.is_tmem_operands()) {
        report.add(Rule::Form, &at, format!("handshake {} for this space", ring.handshake));
    }
    let fills = if ring.tensor { Opcode::ProducerCommit } else { Opcode::TmaLoad };
    // An operand over an accumulator may say that the accumulator has been read: the run decides.
    let over = |other: &Ring| other.is_tmem_operands() && ring.is_accumulators() && columns_meet(ring, other);
    let guarded = ring.empty.is_none() && model.rings.iter().any(over);
    // So does it where a partition fills slots for itself alone, which its warps may meet for.
    let by = |wanted: Opcode| mine(wanted).map(|(partition, ..)| partition).collect::<BTreeSet<_>>();
    let alone = by(Opcode::ConsumerWait);
    let guarded = guarded || (ring.empty.is_none() && alone.len() == 1 && alone == by(fills) && !ring.tensor);
    if acquires == 0 && !guarded && mine(fills).any(|(_, p, _)| p.looped) {
        report.add(Rule::Overwrite, &at, "slots are rewritten in a loop and never acquired");
    }
    if ring.full.is_none() && mine(Opcode::ConsumerWait).count() + mine(Opcode::ProducerCommit).count() > 0 {
        report.add(Rule::Form, &at, "waited for or committed without a full barrier");
    }
    let tile_bytes: u64 = ring.payloads.iter().map(|p| p.bytes).sum();
    let tile_bytes = if ring.tensor { 0 } else { tile_bytes };
    if ring.full.is_some() && ring.bytes != tile_bytes {
        report.add(Rule::Bytes, &at, format!("bytes {}: its tiles have {tile_bytes}", ring.bytes));
    }
    if ring.bytes > u64::from(target.barriers.mbarrier_tx_bytes) {
        report.add(Rule::Bytes, &at, format!("{} B in one phase, 1048575 at most", ring.bytes));
    }
}

/// Every commit announces just the bytes of the copies behind it, each payload once (C24).
pub(super) fn commits(model: &Model<'_>, report: &mut Report) {
    for (index, ring) in model.rings.iter().enumerate() {
        for (number, partition) in model.partitions.iter().enumerate() {
            let mut open: Option<(String, u64, Vec<u64>)> = None;
            let mut close = |open: Option<(String, u64, Vec<u64>)>| {
                let Some((at, bytes, copied)) = open else { return };
                let copied_bytes: u64 = copied
                    .iter()
                    .filter_map(|&p| ring.payloads.get(usize::try_from(p).ok()?))
                    .map(|p| p.bytes)
                    .sum();
                if bytes != copied_bytes {
                    report.add(Rule::Bytes, at, format!("expects {bytes} B, {copied_bytes} B are copied"));
                }
            };
            for placed in &partition.ops {
                let op = placed.op;
                if model.ring(op) != Some(index) {
                    continue;
                }
                match model.module.ops[op].opcode {
                    Opcode::ProducerCommit => {
                        close(open.take());
                        open = Some((
                            model.place(number, op),
                            model.number(op, "bytes").unwrap_or(0),
                            Vec::new(),
                        ));
                    }
                    Opcode::TmaLoad => match &mut open {
                        Some((_, _, copied)) => copied.extend(model.number(op, "payload")),
                        None => {
                            open = Some((
                                model.place(number, op),
                                0,
                                model.number(op, "payload").into_iter().collect(),
                            ))
                        }
                    },
                    _ => {}
                }
            }
            close(open.take());
        }
    }
}
