//! What was decided and why, as text (C93).

use std::fmt::Write;

use warploom_bufassign::render;
use warploom_ir::{Module, OpId, Opcode};
use warploom_sched::render::gantt;

use crate::bound::{interval, with_partitions};
use crate::buffers::depth::{DepthBound, ScheduledLoop};
use crate::candidates;
use crate::compiled::Compiled;
use crate::layout::{ProgramLayout, Ring, RingUse};
use crate::loops::{Part, PartitionRole, Replicas};
use crate::sharing::sharing;
use crate::specialize::{computing, issuing, shape};
use crate::walk::preorder;

/// The report: partitions, pipelines, loop shape, store path, what bounds II and the depth of the ring, the schedule
/// and the memory map.
pub fn explain(compiled: &Compiled) -> String {
    let mut out = String::new();
    let products = compiled.selection.dots.iter().map(|dot| {
        let [m, n, k] = dot.extents;
        format!("{m}x{n}x{k}, {}", dot.element)
    });
    let mut products: Vec<String> = products.collect();
    products.dedup();
    let _ = writeln!(
        out,
        "kernel @{} for {}: products of {}",
        compiled.assignment.name,
        compiled.assignment.target,
        products.join(" and ")
    );
    partitions(&mut out, compiled);
    out += &candidates::explain(&compiled.candidates);
    pipelines(&mut out, &compiled.layout);
    loop_shape(&mut out, compiled);
    stores(&mut out, compiled);
    initiation_intervals(&mut out, compiled);
    depth(&mut out, compiled);
    for ScheduledLoop { pipelined, answer, .. } in &compiled.loops {
        let _ = write!(out, "\nschedule\n{}", indented(&gantt(&with_partitions(pipelined), answer)));
    }
    let _ = write!(out, "\nmemory\n{}", indented(&render::memory_map(&compiled.assignment)));
    let shared = sharing(&compiled.assignment);
    if !shared.is_empty() {
        let _ = write!(out, "\nsharing\n{shared}");
    }
    if let Some(storage) = &compiled.storage {
        let map = indented(&warploom_alias::render(storage));
        let _ = write!(out, "\nstorage as the author laid it out\n{map}");
    }
    for remark in &compiled.remarks {
        let _ = writeln!(out, "\n{remark}");
    }
    out
}

fn partitions(out: &mut String, compiled: &Compiled) {
    let layout = &compiled.layout;
    let _ = writeln!(
        out,
        "\npartitions: {} warps, {} registers per thread at launch",
        layout.warps, layout.max_registers
    );
    for partition in &layout.partitions {
        let last = partition.warp + partition.warps.saturating_sub(1);
        let warps = match partition.warps {
            1 => format!("warp {last}"),
            _ => format!("warps {}-{last}", partition.warp),
        };
        let _ = writeln!(
            out,
            "  @{:<5} {warps:<11}  registers {:>3}  {}",
            partition.role.name(),
            partition.registers,
            match partition.role {
                PartitionRole::Load => "one elected lane copies".to_owned(),
                PartitionRole::Mma => "one elected lane issues products into tensor memory".to_owned(),
                PartitionRole::Math => {
                    let groups = u64::from(partition.warps / 4).max(1);
                    let s = if groups == 1 { "" } else { "s" };
                    let rows = compiled.selection.dots.iter().map(|d| d.extents[0]).max().unwrap_or(0);
                    format!("{groups} warpgroup{s} of {} rows", rows / groups)
                }
            }
        );
    }
    let _ = writeln!(out, "  registers per thread: {} (C31)", layout.split);
}

fn pipelines(out: &mut String, layout: &ProgramLayout) {
    let _ = writeln!(out, "\npipelines");
    for ring in &layout.rings {
        let tiles: Vec<String> = ring
            .payloads
            .iter()
            .map(|p| format!("{} {} ({} B swizzle)", p.name, p.tile, p.swizzle))
            .collect();
        let _ =
            writeln!(out, "  @{}: {} x {}; {}", ring.name, ring.depth, tiles.join(" + "), handshake(ring));
    }
    for barrier in &layout.barriers {
        let _ = writeln!(
            out,
            "  named barrier @{}: id {}, {} threads",
            barrier.name, barrier.id, barrier.threads
        );
    }
}

/// The row of C24 that a pipeline uses, with its counts.
fn handshake(ring: &Ring) -> String {
    match ring.usage {
        RingUse::Ring(_) if ring.empty.is_some() => {
            let (engines, full, bytes, empty) =
                (engines(ring), ring.arrive_full, ring.bytes, ring.arrive_empty);
            let empty = match ring.handshake {
                "tma_to_mma" => format!("{empty} arrival, by the commit of the products that read it"),
                _ => format!("{empty} arrivals, one per computing warp"),
            };
            format!("{engines}: full {full} arrival and {bytes} B, empty {empty}")
        }
        RingUse::Ring(_) => {
            format!("{}: full {} arrival and {} B, written once", engines(ring), ring.arrive_full, ring.bytes)
        }
        RingUse::Staging(_) => "staging, between named barriers".to_owned(),
        RingUse::Operand(_) => format!(
            "written into tensor memory for products: full {} arrivals, empty by a commit",
            ring.arrive_full
        ),
        RingUse::Accumulator(_) => match ring.empty {
            Some(_) => {
                format!("products to tensor memory: full by a commit, empty {} arrivals", ring.arrive_empty)
            }
            None if ring.under.is_some() => {
                "products to tensor memory: full by a commit, given back with the operand over it".to_owned()
            }
            None => "products to tensor memory: full by a commit, written once".to_owned(),
        },
    }
}

/// The row of C24.
fn engines(ring: &Ring) -> &'static str {
    match ring.handshake {
        "tma_to_wgmma" => "TMA to wgmma",
        "tma_to_mma" => "TMA to tcgen05.mma",
        _ => "TMA to generic reads",
    }
}

fn loop_shape(out: &mut String, compiled: &Compiled) {
    let _ = writeln!(out, "\nloop: each partition runs its own, the rings give the overlap (C28)");
    for (number, scheduled) in compiled.loops.iter().enumerate() {
        let which = if compiled.loops.len() > 1 { format!("loop {number}: ") } else { String::new() };
        if compiled.selection.shares_tensor_memory(scheduled.pipelined.scf_for) {
            tensor_loop(out, compiled, scheduled, &which);
            continue;
        }
        if !compiled.selection.accumulators.is_empty() {
            let _ = writeln!(
                out,
                "  {which}@mma issues the products of all trips; @math reads their accumulator in tensor memory behind the loop"
            );
            continue;
        }
        let shape = shape(&compiled.kernel, scheduled, &compiled.selection.dots);
        let waits = shape.steps.iter().any(|s| compiled.kernel.ops[s.op].opcode == Opcode::MmaWait);
        let _ = match (waits, scheduled.pipelined.pending) {
            (true, 0) => writeln!(out, "  {which}each product is waited for before its slot is given back"),
            (true, pending) => writeln!(
                out,
                "  {which}{pending} product stays in flight: a slot is given back one trip after it was read (C30)"
            ),
            (false, _) if shape.stages == 1 => {
                writeln!(
                    out,
                    "  {which}@math runs it as the kernel has it; each product is waited for where it is read"
                )
            }
            (false, _) => {
                let name = |op: OpId| {
                    let node = scheduled.pipelined.node(op, Part::Whole);
                    let node = node.and_then(|n| scheduled.pipelined.graph.nodes.get(n));
                    node.map(|n| n.name.clone()).unwrap_or_default()
                };
                let steps = shape.steps.iter().map(|s| match s.stage {
                    0 => format!("{} (i+1)", name(s.op)),
                    _ => format!("{} (i)", name(s.op)),
                });
                let steps: Vec<String> = steps.collect();
                let first = writeln!(out, "  {which}@math's loop is rotated by one iteration (C28, C29):");
                first.and_then(|()| writeln!(out, "    {}", steps.join(", ")))
            }
        };
    }
}

/// A loop whose computing partition works on tensor memory.
fn tensor_loop(out: &mut String, compiled: &Compiled, scheduled: &ScheduledLoop, which: &str) {
    let name = |op: OpId, part: Part| {
        let node = scheduled.pipelined.node(op, part);
        let node = node.and_then(|n| scheduled.pipelined.graph.nodes.get(n));
        node.map(|n| n.name.clone()).unwrap_or_default()
    };
    let names: Vec<String> = computing(scheduled).steps.iter().map(|s| name(s.op, s.part)).collect();
    let _ = writeln!(out, "  {which}@math runs a trip in the order of the schedule:");
    let _ = writeln!(out, "    {}", names.join(", "));
    let shape = issuing(&compiled.kernel, scheduled, &compiled.selection);
    let steps = shape.steps.iter().map(|s| match (shape.stages, s.stage) {
        (2, 0) => format!("{} (i+1)", name(s.op, s.part)),
        _ => format!("{} (i)", name(s.op, s.part)),
    });
    let steps: Vec<String> = steps.collect();
    let _ = writeln!(out, "  {which}@mma issues in each trip {}", steps.join(", "));
}

fn stores(out: &mut String, compiled: &Compiled) {
    let selection = &compiled.selection;
    let _ = writeln!(out, "\nstores");
    for store in &selection.stores {
        let path = if store.plan.element_bytes == 2 { "stmatrix" } else { "st.shared" };
        let _ = writeln!(
            out,
            "  {}: {path} into staging, proxy fence, named barrier, {} TMA boxes of {:?} (C33)",
            store.name,
            store.plan.copies(),
            store.plan.box_extents
        );
    }
    for &op in &pointer_stores(&compiled.kernel, selection.func) {
        let value = compiled.kernel.ops[op].operands.get(1).map(|&v| compiled.kernel.ty(v).to_string());
        let how = if compiled.kernel.ops[op].opcode == Opcode::Store { "" } else { " by atomic operations" };
        let _ = writeln!(out, "  {} through pointers{how}", value.unwrap_or_default());
    }
    let once = selection.rings.iter().filter(|r| !r.looped).flat_map(|r| r.payloads());
    for load in once.filter_map(|&l| selection.loads.get(l).map(|load| (l, load))) {
        let how = match selection.dots.iter().any(|d| d.reads(load.0)) {
            true => "loaded once, read by products",
            false => "loaded once, read from shared memory",
        };
        let _ = writeln!(out, "  {}: {how}", load.1.name);
    }
}

/// What writes through pointers; counters of one element are no results.
fn pointer_stores(kernel: &Module, func: OpId) -> Vec<OpId> {
    let writes = |&op: &OpId| {
        let tile = kernel.ops[op].operands.get(1).is_some_and(|&v| kernel.ty(v).is_tensor());
        match kernel.ops[op].opcode {
            Opcode::Store => true,
            Opcode::AtomicRmw => tile,
            _ => false,
        }
    };
    preorder(kernel, func).into_iter().filter(writes).collect()
}

fn initiation_intervals(out: &mut String, compiled: &Compiled) {
    let _ = writeln!(out);
    for (number, ScheduledLoop { pipelined, answer, together }) in compiled.loops.iter().enumerate() {
        if compiled.loops.len() > 1 {
            let _ = write!(out, "loop {number}: ");
        }
        let _ = writeln!(out, "{}", interval(&pipelined.graph, answer));
        let Replicas { count, apart, .. } = pipelined.replicas;
        if let Some(together) = together {
            let alone = together.answer.ii;
            let _ = writeln!(
                out,
                "  {count} replicas of @math take turns, {apart} cycles apart; together II {alone} (Q40, Q41)"
            );
        }
    }
}

fn depth(out: &mut String, compiled: &Compiled) {
    let looped =
        compiled.selection.rings.iter().zip(&compiled.depths).enumerate().filter(|(_, (r, _))| r.looped);
    let several = looped.clone().count() > 1;
    for (index, (_, depth)) in looped {
        let which = if several { format!("@p{index}: ") } else { String::new() };
        let _ = write!(out, "{which}ring depth {}: ", depth.slots);
        let _ = match depth.bound {
            DepthBound::Law if depth.slack > 0 => {
                writeln!(out, "the depth law asks for {}, {} added", depth.law, depth.slack)
            }
            DepthBound::Law => writeln!(out, "what the depth law asks for"),
            DepthBound::Capacity => writeln!(
                out,
                "the most that fits; the depth law asks for {} at II {}",
                depth.law, depth.unlimited_ii
            ),
            DepthBound::NumStages => writeln!(out, "tt.num_stages; the depth law asks for {}", depth.law),
            DepthBound::Author => {
                writeln!(out, "the buffers of the author's leaf; the depth law asks for {}", depth.law)
            }
            DepthBound::Asked => writeln!(out, "as asked; the depth law asks for {}", depth.law),
        };
    }
    for round in &compiled.depth.rounds {
        let _ = match round.need {
            Some(need) => writeln!(out, "  {} slots at II {}: {need} B, does not fit", round.depth, round.ii),
            None => writeln!(out, "  {} slots at II {}: fits", round.depth, round.ii),
        };
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
