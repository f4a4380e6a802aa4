//! How partitions run their loops, in words (C28-C30).

use std::fmt::Write;

use warploom_ir::{OpId, Opcode};
use warploom_sched::Answer;

use crate::bound::interval;
use crate::buffers::depth::ScheduledLoop;
use crate::compiled::{Compiled, Parts};
use crate::loops::{Part, Replicas};
use crate::select::Selection;
use crate::specialize::{computing, issuing, shape};
use crate::transports::PipelinedLoads;

/// How the loops are run.
pub(super) fn shapes(out: &mut String, compiled: &Compiled) {
    match &compiled.parts {
        Parts::Specialized(selection) => specialized(out, compiled, selection),
        Parts::Expanded(parts) => {
            if parts.loads.is_empty() {
                let _ = writeln!(out, "\nno loop is pipelined");
            }
            for (number, (loads, scheduled)) in parts.loads.iter().zip(&compiled.loops).enumerate() {
                expanded(out, number, loads, &scheduled.answer);
            }
        }
    }
}

fn iterations(count: u64) -> String {
    format!("{count} iteration{}", if count == 1 { "" } else { "s" })
}

/// A loop of the partition that runs all: its tiles, and how they come.
fn expanded(out: &mut String, number: usize, loads: &PipelinedLoads, answer: &Answer) {
    let tiles: Vec<String> =
        loads.tiles.iter().map(|t| format!("{} {} ({} B swizzle)", t.name, t.tile, t.swizzle)).collect();
    let (depth, pending) = (loads.depth, loads.pending);
    let _ = writeln!(out, "\nloop {number}: @p{number}: {depth} x {}", tiles.join(" + "));
    if loads.by_engine() {
        let _ = writeln!(
            out,
            "  TMA in one partition: one lane copies, who reads a slot waits for its barrier and gives it back on another (C24)"
        );
    }
    match &loads.late {
        None if loads.by_engine() => {
            let _ = writeln!(
                out,
                "  pipelined loads, {} ahead of use: prologue, steady state, none behind the last (C28); the depth law asks for {}",
                iterations(depth.saturating_sub(1)),
                loads.law
            );
        }
        None => {
            let _ = writeln!(
                out,
                "  cp.async in one partition: a group for each iteration, all but {} waited for, then a barrier (C24)",
                depth.saturating_sub(2 + pending)
            );
            if pending > 0 {
                let _ = writeln!(
                    out,
                    "  a trip leaves a product unfinished; its slots are filled a trip later (C30)"
                );
            }
            let _ = writeln!(
                out,
                "  pipelined loads, {} ahead of use: prologue, steady state, drain by masks (C28); the depth law asks for {}",
                iterations(depth.saturating_sub(1 + pending)),
                loads.law
            );
        }
        Some(late) if late.len() == loads.tiles.len() => {
            let _ = writeln!(
                out,
                "  one slot each (C24): copied when their iteration begins, waited for, read; no load is pipelined; the depth law asks for {}",
                loads.law
            );
        }
        Some(late) => {
            let names = |of: bool| {
                let some = loads.tiles.iter().filter(|t| late.contains(&t.op) == of);
                some.map(|t| t.name.as_str()).collect::<Vec<_>>().join(", ")
            };
            let _ = writeln!(
                out,
                "  one slot each, in turns (C24): {} copied while {} is read, and {} of the next iteration while {} is; \
                 the depth law asks for {}",
                names(true),
                names(false),
                names(false),
                names(true),
                loads.law
            );
        }
    }
    if answer.stages > 1 {
        let _ = writeln!(
            out,
            "  the schedule decides the copies; what computes runs trip by trip as the kernel has it, and the chip overlaps warps"
        );
    }
}

/// The order in which partitions run the trips of a loop.
fn specialized(out: &mut String, compiled: &Compiled, selection: &Selection) {
    let _ = writeln!(out, "\nloop: each partition runs its own, the rings give the overlap (C28)");
    if selection.turns.is_some() {
        let _ = writeln!(
            out,
            "  @math0 and @math1 take tiles in turn: the stores of one run beside the products of the next (Q50)"
        );
    }
    for (number, scheduled) in compiled.loops.iter().enumerate() {
        let which = if compiled.loops.len() > 1 { format!("loop {number}: ") } else { String::new() };
        if selection.shares_tensor_memory(scheduled.pipelined.scf_for) {
            tensor_loop(out, (compiled, selection), scheduled, &which);
            continue;
        }
        if !selection.accumulators.is_empty() {
            let _ = writeln!(
                out,
                "  {which}@mma issues the products of all trips; @math reads their accumulator in tensor memory behind the loop"
            );
            continue;
        }
        let shape = shape(&compiled.kernel, scheduled, &selection.dots);
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
fn tensor_loop(
    out: &mut String,
    (compiled, selection): (&Compiled, &Selection),
    scheduled: &ScheduledLoop,
    which: &str,
) {
    let name = |op: OpId, part: Part| {
        let node = scheduled.pipelined.node(op, part);
        let node = node.and_then(|n| scheduled.pipelined.graph.nodes.get(n));
        node.map(|n| n.name.clone()).unwrap_or_default()
    };
    let names: Vec<String> = computing(scheduled).steps.iter().map(|s| name(s.op, s.part)).collect();
    let _ = writeln!(out, "  {which}@math runs a trip in the order of the schedule:");
    let _ = writeln!(out, "    {}", names.join(", "));
    let shape = issuing(&compiled.kernel, scheduled, selection);
    let steps = shape.steps.iter().map(|s| match (shape.stages, s.stage) {
        (2, 0) => format!("{} (i+1)", name(s.op, s.part)),
        _ => format!("{} (i)", name(s.op, s.part)),
    });
    let steps: Vec<String> = steps.collect();
    let _ = writeln!(out, "  {which}@mma issues in each trip {}", steps.join(", "));
}

/// What bounds the interval of each loop.
pub(super) fn intervals(out: &mut String, loops: &[ScheduledLoop]) {
    if loops.is_empty() {
        return;
    }
    let _ = writeln!(out);
    for (number, ScheduledLoop { pipelined, answer, together }) in loops.iter().enumerate() {
        if loops.len() > 1 {
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
