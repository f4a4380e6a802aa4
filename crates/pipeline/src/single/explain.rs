//! What was decided for a kernel that one partition runs, and why (C93).

use std::fmt::Write;

use warploom_bufassign::render;
use warploom_ir::{Attr, Module};
use warploom_sched::render::gantt;

use super::{PipelinedLoads, RegisterLayout, Single};
use crate::bound::{interval, with_partitions};
use crate::candidates;
use crate::sharing::sharing;

/// The report: the partition, its rings, the shape of its loops, what bounds II, schedules and the memory map.
pub fn explain(single: &Single) -> String {
    let mut out = String::new();
    let (name, chip) = name_and_chip(&single.program);
    let _ = writeln!(out, "kernel @{name} for {chip}: one partition copies and computes");
    let shape = &single.shape;
    let _ = writeln!(out, "\npartitions: {} warps, {} registers per thread", shape.warps, shape.registers);
    let _ = match shape.layout {
        RegisterLayout::MmaSync { m, n } => {
            writeln!(out, "  @main  mma.sync, {m} warps along the rows and {n} along the columns")
        }
        RegisterLayout::Wgmma => {
            writeln!(out, "  @main  wgmma, {} warpgroups along the rows", shape.warps / 4)
        }
        RegisterLayout::TensorRows | RegisterLayout::TensorHalves => {
            let rows = if shape.layout == RegisterLayout::TensorRows { 128 } else { 64 };
            let groups = shape.warps / 4;
            writeln!(out, "  @main  tcgen05.mma of {rows} rows, {groups} warpgroups along the rows")
        }
        RegisterLayout::Blocked { vector, across } => {
            writeln!(out, "  @main  {vector} neighbours in a lane, {across} lanes along the columns")
        }
    };
    out += &candidates::explain(&single.candidates);
    if single.loops.is_empty() {
        let _ = writeln!(out, "\nno loop is pipelined");
    }
    for (number, loads) in single.loops.iter().enumerate() {
        describe(&mut out, number, loads);
    }
    for (number, group) in single.blocking.iter().enumerate() {
        let tiles: Vec<String> = group.tiles.iter().map(|t| format!("{} {}", t.name, t.tile)).collect();
        let when = if group.again { "in each trip, where it is loaded" } else { "once" };
        let _ = writeln!(out, "\n@s{number}: {} copied to shared memory {when}", tiles.join(" + "));
    }
    for (number, group) in single.stored.iter().enumerate() {
        let tiles: Vec<String> =
            group.tiles.iter().map(|t| format!("{} {} at {}", t.name, t.tile, t.offset)).collect();
        let _ = writeln!(
            out,
            "\n@f{number}: {} stored to shared memory in front of the product that reads it (C67)",
            tiles.join(" + ")
        );
    }
    if let Some((_, assignment)) = &single.buffers {
        let map = render::memory_map(assignment);
        let _ = writeln!(out, "\nmemory");
        indented(&mut out, &map);
        let shared = sharing(assignment);
        if !shared.is_empty() {
            let _ = write!(out, "\nsharing\n{shared}");
        }
    }
    for remark in &single.remarks {
        let _ = writeln!(out, "\n{remark}");
    }
    out
}

/// The names of the kernel and of the chip that a program is for.
fn name_and_chip(program: &Module) -> (&str, &str) {
    let entry = program.functions().find(|&f| program.ops[f].attrs.get("warploom.warps").is_some());
    let chip = program.ops[program.root].attrs.get("warploom.target").and_then(Attr::as_str);
    (entry.and_then(|f| program.symbol_name(f)).unwrap_or_default(), chip.unwrap_or_default())
}

fn iterations(count: u64) -> String {
    format!("{count} iteration{}", if count == 1 { "" } else { "s" })
}

fn describe(out: &mut String, number: usize, loads: &PipelinedLoads) {
    let tiles: Vec<String> =
        loads.tiles.iter().map(|t| format!("{} {} ({} B swizzle)", t.name, t.tile, t.swizzle)).collect();
    let (depth, pending, answer) = (loads.depth, loads.pipelined.pending, &loads.answer);
    let _ = writeln!(out, "\nloop {number}: @p{number}: {depth} x {}", tiles.join(" + "));
    if loads.by_engine() {
        let _ = writeln!(
            out,
            "  TMA in one partition: one lane copies, every warp waits for the slot's barrier and gives it back on another (C24)"
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
    let _ = writeln!(out, "  {}", interval(&loads.pipelined.graph, answer));
    if answer.stages > 1 {
        let _ = writeln!(
            out,
            "  the schedule decides the copies; what computes runs trip by trip as the kernel has it, and the chip overlaps warps"
        );
    }
    indented(out, &gantt(&with_partitions(&loads.pipelined), answer));
}

fn indented(out: &mut String, text: &str) {
    for line in text.lines() {
        let _ = writeln!(out, "  {line}");
    }
}
