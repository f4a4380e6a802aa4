//! What a program declares: memory, counts, bytes, warps, registers, named barriers (C15, C20-C24, C31, C32).

use warploom_ir::{Opcode, Type};
use warploom_target::Target;

use super::model::{Model, Placed, Ring};
use super::{Report, Rule};

/// Checks the declarations against each other and against the chip.
pub(super) fn check(model: &Model<'_>, target: &Target, report: &mut Report) {
    memory(model, target, report);
    columns(model, target, report);
    overlaps(model, report);
    for (index, ring) in model.rings.iter().enumerate() {
        counts(model, index, ring, target, report);
    }
    commits(model, report);
    warps(model, target, report);
    registers(model, target, report);
    named_barriers(model, target, report);
    elections(model, report);
}

fn operations<'a>(model: &'a Model<'_>) -> impl Iterator<Item = (usize, Placed, Opcode)> + 'a {
    let all = model.agents.iter().enumerate();
    all.flat_map(move |(agent, a)| a.ops.iter().map(move |&p| (agent, p, model.module.ops[p.op].opcode)))
}

/// Slots and barriers lie inside shared memory and are aligned (C15, C20, T8).
fn memory(model: &Model<'_>, target: &Target, report: &mut Report) {
    if model.shared > target.smem.per_cta {
        let text = format!("{} B of the {} B a CTA can have", model.shared, target.smem.per_cta);
        report.add(Rule::Shared, "warploom.shared", text);
    }
    for agent in &model.agents {
        let Some((start, bytes)) = agent.scratch else { continue };
        if start.saturating_add(bytes) > model.shared || start % 16 != 0 {
            let text = format!("scratch of {bytes} B at {start}, shared memory ends at {}", model.shared);
            report.add(Rule::Shared, format!("@{}", agent.name), text);
        }
    }
    for ring in &model.rings {
        let at = format!("@{}", ring.name);
        for (index, payload) in ring.payloads.iter().enumerate().filter(|_| !ring.tensor) {
            let at = format!("{at} payload {index}");
            let (_, end) = payload.span(ring.depth - 1);
            if end > model.shared {
                report.add(Rule::Shared, &at, format!("ends at {end}, shared memory at {}", model.shared));
            }
            if ring.depth > 1 && payload.stride < payload.bytes {
                report.add(
                    Rule::Overlap,
                    &at,
                    format!("slots of {} B, {} B apart", payload.bytes, payload.stride),
                );
            }
            let align = match payload.swizzle {
                128 => 1024,
                64 => 512,
                32 => 256,
                0 => 128,
                other => {
                    report.add(Rule::Alignment, &at, format!("there is no swizzle of {other} B"));
                    continue;
                }
            };
            if payload.offset % align != 0 || (ring.depth > 1 && payload.stride % align != 0) {
                let text =
                    format!("slots at {} + k*{} need multiples of {align}", payload.offset, payload.stride);
                report.add(Rule::Alignment, &at, text);
            }
        }
        for (name, first) in [("full", ring.full), ("empty", ring.empty)] {
            let Some(first) = first else { continue };
            let end = first.saturating_add(8 * ring.depth);
            if end > model.shared {
                report.add(
                    Rule::Shared,
                    &at,
                    format!("{name} barriers end at {end}, shared memory at {}", model.shared),
                );
            }
            if first % 8 != 0 {
                report.add(Rule::Alignment, &at, format!("{name} barriers at {first}, no multiple of 8"));
            }
        }
    }
}

/// Slots in tensor memory lie inside its allocation, which is a power of two, and its address in shared memory
/// (C20, C27, T14).
fn columns(model: &Model<'_>, target: &Target, report: &mut Report) {
    let tensor = model.rings.iter().filter(|r| r.tensor);
    let Some((allocated, slot)) = model.tmem else {
        tensor.for_each(|ring| report.add(Rule::Columns, format!("@{}", ring.name), "nothing is allocated"));
        return;
    };
    let limits = target.tmem.as_ref().map(|t| (u64::from(t.min_alloc), u64::from(t.columns)));
    let legal = limits.is_some_and(|(least, most)| (least..=most).contains(&allocated));
    if !legal || !allocated.is_power_of_two() {
        report.add(Rule::Columns, "warploom.tmem", format!("an allocation of {allocated} columns"));
    }
    if slot % 4 != 0 || slot.saturating_add(4) > model.shared {
        report.add(Rule::Shared, "warploom.tmem_slot", format!("{slot} of {} B", model.shared));
    }
    for ring in tensor {
        for (index, payload) in ring.payloads.iter().enumerate() {
            let (_, end) = payload.span(ring.depth - 1);
            let at = format!("@{} payload {index}", ring.name);
            if end > allocated {
                report.add(Rule::Columns, &at, format!("ends at column {end} of {allocated}"));
            }
            if ring.depth > 1 && payload.stride < payload.bytes {
                let text = format!("slots of {} columns, {} apart", payload.bytes, payload.stride);
                report.add(Rule::Columns, &at, text);
            }
        }
    }
}

/// A range of shared memory: what it is, whether it holds barriers, whether named barriers alone order it.
struct Range {
    what: String,
    ring: usize,
    barrier: bool,
    staging: bool,
    factors: bool,
    tensor: bool,
    /// Blocks of 128 rows, side by side.
    blocks: u64,
    span: (u64, u64),
}

impl Range {
    /// The columns of a block.
    fn block(&self, block: u64) -> (u64, u64) {
        let (start, end) = self.span;
        let wide = end.saturating_sub(start) / self.blocks.max(1);
        let from = start.saturating_add(wide.saturating_mul(block));
        (from, from.saturating_add(wide))
    }

    /// Whether rows of different blocks, and so of different warps, have a lane and a column in common.
    fn crosses(&self, other: &Range) -> bool {
        let meet = |a: (u64, u64), b: (u64, u64)| a.0 < b.1 && b.0 < a.1;
        let pairs = (0..self.blocks).flat_map(|i| (0..other.blocks).map(move |k| (i, k)));
        pairs.into_iter().any(|(i, k)| i != k && meet(self.block(i), other.block(k)))
    }
}

/// Blocks of 128 rows that a tile takes in tensor memory.
fn blocks(tile: &Type) -> u64 {
    let shape = tile.shape();
    let rows = shape.len().checked_sub(2).and_then(|at| shape.get(at));
    rows.map_or(1, |rows| rows.div_ceil(128).max(1))
}

/// No two ranges share bytes, but for a staging buffer over tiles (the run decides whether they are ordered).
fn overlaps(model: &Model<'_>, report: &mut Report) {
    let mut ranges = Vec::new();
    for (index, ring) in model.rings.iter().enumerate() {
        let staging = matches!(ring.handshake.as_str(), "none" | "cp_async");
        let factors = ring.is_factors();
        for (number, payload) in ring.payloads.iter().enumerate() {
            for slot in 0..ring.depth {
                let what = format!("@{} payload {number} slot {slot}", ring.name);
                let (span, tensor) = (payload.span(slot), ring.tensor);
                let blocks = if ring.tensor { blocks(&payload.tile) } else { 1 };
                ranges.push(Range {
                    what,
                    ring: index,
                    barrier: false,
                    staging,
                    factors,
                    tensor,
                    blocks,
                    span,
                });
            }
        }
        for (name, first) in [("full", ring.full), ("empty", ring.empty)] {
            for slot in 0..first.map_or(0, |_| ring.depth) {
                let start = first.unwrap_or(0).saturating_add(8 * slot);
                let what = format!("@{} {name} barrier {slot}", ring.name);
                let span = (start, start.saturating_add(8));
                ranges.push(Range {
                    what,
                    ring: index,
                    barrier: true,
                    staging: false,
                    factors: false,
                    tensor: false,
                    blocks: 1,
                    span,
                });
            }
        }
    }
    // Bytes of no ring: nobody else may have them.
    let own = |what: String, start: u64, bytes: u64| Range {
        what,
        ring: usize::MAX,
        barrier: true,
        staging: false,
        factors: false,
        tensor: false,
        blocks: 1,
        span: (start, start.saturating_add(bytes)),
    };
    for agent in &model.agents {
        let Some((start, bytes)) = agent.scratch else { continue };
        ranges.push(own(format!("the scratch of @{}", agent.name), start, bytes));
    }
    if let Some((_, slot)) = model.tmem {
        ranges.push(own("the address of tensor memory".to_owned(), slot, 4));
    }
    // Columns and bytes are apart.
    ranges.sort_by_key(|r| (r.tensor, r.span));
    for (at, a) in ranges.iter().enumerate() {
        let near = |b: &&Range| b.tensor == a.tensor && b.span.0 < a.span.1;
        for b in ranges.iter().skip(at + 1).take_while(near) {
            // Staging over tiles, and factors over the products that they are made from: the run decides.
            let aside = a.staging || b.staging || a.factors != b.factors;
            let ordered =
                a.ring != b.ring && aside && !a.barrier && !b.barrier && !(a.tensor && a.crosses(b));
            if !ordered && a.span.0 < b.span.1 {
                let (unit, rule) =
                    if a.tensor { ("columns", Rule::Columns) } else { ("bytes", Rule::Overlap) };
                let text =
                    format!("{unit} {}..{} also belong to {}", b.span.0, a.span.1.min(b.span.1), b.what);
                report.add(rule, &a.what, text);
            }
        }
    }
}

/// Whether slots of two rings share columns.
fn columns_meet(a: &Ring, b: &Ring) -> bool {
    let spans = |r: &Ring| -> Vec<(u64, u64)> {
        r.payloads.iter().flat_map(|p| (0..r.depth).map(move |slot| p.span(slot))).collect()
    };
    let others = spans(b);
    spans(a).iter().any(|x| others.iter().any(|y| x.0 < y.1 && y.0 < x.1))
}

/// Arrival counts are who arrives; barriers exist where they are used (C22, C24, T8).
fn counts(model: &Model<'_>, index: usize, ring: &Ring, target: &Target, report: &mut Report) {
    let at = format!("@{}", ring.name);
    let mine = |wanted: Opcode| {
        operations(model).filter(move |(_, p, o)| *o == wanted && model.ring(p.op) == Some(index))
    };
    let warps_of = |wanted: Opcode| -> u64 {
        let mut agents: Vec<usize> = mine(wanted).map(|(agent, ..)| agent).collect();
        agents.dedup();
        agents.iter().filter_map(|&a| model.agents.get(a)).map(|a| a.warps).sum()
    };
    if ring.handshake == "cp_async" && (ring.full.is_some() || ring.empty.is_some()) {
        report.add(Rule::Form, &at, "copies by all lanes have groups, not barriers");
    }
    let loads = mine(Opcode::TmaLoad).count();
    if loads > 0 && ring.full.is_none() {
        report.add(Rule::Form, &at, "copies arrive and there is no full barrier");
    }
    let committing = match ring.is_factors() {
        true => warps_of(Opcode::ProducerCommit),
        false => 1,
    };
    if ring.full.is_some() && ring.arrive_full != committing {
        let who =
            if ring.is_factors() { format!("{committing} warps commit") } else { "one lane commits".into() };
        report.add(Rule::Arrivals, &at, format!("arrive_full {}: {who}", ring.arrive_full));
    }
    let elected = mine(Opcode::ConsumerRelease).filter(|(_, p, _)| p.elected).count();
    let releasing = match ring.is_operands() || ring.is_factors() {
        // A commit of products is one arrival.
        true => elected.min(1) as u64,
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
    if ring.empty.is_none() && (acquires > 0 || releasing > 0) {
        report.add(Rule::Form, &at, "acquired or released without an empty barrier");
    }
    if ring.tensor != (ring.is_sums() || ring.is_factors()) {
        report.add(Rule::Form, &at, format!("handshake {} for this space", ring.handshake));
    }
    let fills = if ring.tensor { Opcode::ProducerCommit } else { Opcode::TmaLoad };
    // A factor over a sum may say that the sum has been read: the run decides.
    let over = |other: &Ring| other.is_factors() && ring.is_sums() && columns_meet(ring, other);
    let guarded = ring.empty.is_none() && model.rings.iter().any(over);
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
fn commits(model: &Model<'_>, report: &mut Report) {
    for (index, ring) in model.rings.iter().enumerate() {
        for (number, agent) in model.agents.iter().enumerate() {
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
            for placed in &agent.ops {
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

/// Agents have disjoint warps; those that multiply or move registers are whole warpgroups (C21).
fn warps(model: &Model<'_>, target: &Target, report: &mut Report) {
    if model.warps == 0 || model.warps > u64::from(target.threads.warps_per_cta()) {
        report.add(Rule::Warps, "warploom.warps", format!("{} warps", model.warps));
    }
    let mut next = 0;
    for (number, agent) in model.agents.iter().enumerate() {
        let at = format!("@{}", agent.name);
        let end = agent.warp.saturating_add(agent.warps);
        if agent.warps == 0 || agent.warp < next || end > model.warps {
            report.add(Rule::Warps, &at, format!("warps {}..{end} of {}", agent.warp, model.warps));
        }
        next = end;
        let multiplies =
            agent.layout != "mma_sync" && operations(model).any(|(a, _, o)| a == number && o == Opcode::Dot);
        let reads = operations(model).any(|(a, p, o)| {
            let ring = model.ring(p.op).and_then(|r| model.rings.get(r));
            let touches = matches!(o, Opcode::Slot | Opcode::TileStore);
            a == number && touches && !p.elected && ring.is_some_and(|r| r.tensor)
        });
        let multiplies = multiplies || reads;
        let moves = agent.registers != model.max_registers / 8 * 8;
        if (multiplies || moves) && !(agent.warp.is_multiple_of(4) && agent.warps.is_multiple_of(4)) {
            let why = if multiplies { "multiplies" } else { "moves registers" };
            report.add(
                Rule::Warps,
                &at,
                format!("{why} with warps {}..{end}, no whole warpgroups", agent.warp),
            );
        }
    }
}

/// The pool holds what agents ask for, in legal operands; givers and takers exist together (C31, T16).
fn registers(model: &Model<'_>, target: &Target, report: &mut Report) {
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
        model.agents.iter().map(|a| a.warps.saturating_mul(32).saturating_mul(a.registers)).sum();
    let pool = lanes.saturating_mul(entry);
    if asked > pool {
        report.add(Rule::Registers, "agents", format!("ask for {asked} registers of {pool}"));
    }
    for agent in &model.agents {
        let legal = (24..=256).contains(&agent.registers) && agent.registers.is_multiple_of(8);
        if agent.registers != entry && !legal {
            report.add(
                Rule::Registers,
                format!("@{}", agent.name),
                format!("setmaxnreg {}", agent.registers),
            );
        }
    }
}

/// Ids 1..15 used once; the count is that of the warps that come (C32, T7).
fn named_barriers(model: &Model<'_>, target: &Target, report: &mut Report) {
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
            .map(|(agent, ..)| agent)
            .collect();
        // Warps that exchange through scratch meet too.
        let meets = |a: &super::model::Agent| a.meets.as_deref() == Some(barrier.name.as_str());
        users.extend(model.agents.iter().enumerate().filter(|(_, a)| meets(a)).map(|(n, _)| n));
        users.sort_unstable();
        users.dedup();
        let threads: u64 = users.iter().filter_map(|&a| model.agents.get(a)).map(|a| a.warps * 32).sum();
        if barrier.threads != threads || !threads.is_multiple_of(32) {
            report.add(Rule::NamedBarrier, &at, format!("{} threads: {threads} come", barrier.threads));
        }
    }
}

/// Copies and their bookkeeping are one lane's work; products and block-wide steps are everybody's (C21).
fn elections(model: &Model<'_>, report: &mut Report) {
    use Opcode::*;
    for (agent, placed, opcode) in operations(model) {
        let ring = model.ring(placed.op).and_then(|r| model.rings.get(r));
        let commits = opcode == ConsumerRelease && ring.is_some_and(|r| r.is_operands() || r.is_factors());
        // What all lanes write, all lanes hand over.
        let hands_over = ring.is_some_and(|r| r.is_factors());
        let single = commits
            || (matches!(opcode, ProducerAcquire | ProducerCommit) && !hands_over)
            || matches!(opcode, TmaLoad | TmaStore | StoreCommit | StoreWait | Mma);
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
            ) || (opcode == ProducerCommit && hands_over));
        if single && !placed.elected {
            report.add(
                Rule::Election,
                model.place(agent, placed.op),
                "outside an elected region: every lane would do it",
            );
        }
        if all && placed.elected {
            report.add(
                Rule::Election,
                model.place(agent, placed.op),
                "inside an elected region: all lanes must take part",
            );
        }
    }
}
