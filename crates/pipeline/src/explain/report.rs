//! What was decided and why, as text (C93).

use std::fmt::Write;

use warploom_bufassign::render;
use warploom_ir::Attr;
use warploom_sched::render::gantt;

use super::{depths, loops, rings, stores};
use crate::bound::with_partitions;
use crate::buffers::depth::ScheduledLoop;
use crate::compiled::Compiled;
use crate::engines::RegisterLayout;
use crate::loops::PartitionRole;
use crate::sharing::sharing;
use crate::strategy;

/// The report: partitions, pipelines, loop shape, store path, what bounds II and the depth of the ring, the schedule
/// and the memory map.
pub fn explain(compiled: &Compiled) -> String {
    let mut out = String::new();
    heading(&mut out, compiled);
    partitions(&mut out, compiled);
    out += &strategy::explain(&compiled.candidates);
    rings::pipelines(&mut out, &compiled.layout);
    loops::shapes(&mut out, compiled);
    stores::stores(&mut out, compiled);
    loops::intervals(&mut out, &compiled.loops);
    depths::depths(&mut out, compiled);
    for ScheduledLoop { pipelined, answer, .. } in &compiled.loops {
        let _ = write!(out, "\nschedule\n{}", indented(&gantt(&with_partitions(pipelined), answer)));
    }
    if let Some(assignment) = compiled.assignment() {
        let _ = write!(out, "\nmemory\n{}", indented(&render::memory_map(assignment)));
        let shared = sharing(assignment);
        if !shared.is_empty() {
            let _ = write!(out, "\nsharing\n{shared}");
        }
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

/// The kernel, the chip, and what is multiplied.
fn heading(out: &mut String, compiled: &Compiled) {
    let name = compiled.kernel.symbol_name(compiled.func).unwrap_or("kernel");
    let chip =
        compiled.program.ops[compiled.program.root].attrs.get("warploom.target").and_then(Attr::as_str);
    let products = compiled.selection().map(|s| s.dots.as_slice()).unwrap_or_default().iter().map(|dot| {
        let [m, n, k] = dot.extents;
        format!("{m}x{n}x{k}, {}", dot.element)
    });
    let mut products: Vec<String> = products.collect();
    products.dedup();
    let what = match products.is_empty() {
        true => "one partition copies and computes".to_owned(),
        false => format!("products of {}", products.join(" and ")),
    };
    let _ = writeln!(out, "kernel @{name} for {}: {what}", chip.unwrap_or_default());
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
            partition.name,
            partition.registers,
            match partition.role {
                PartitionRole::Load => "one elected lane copies".to_owned(),
                PartitionRole::Mma => "one elected lane issues products into tensor memory".to_owned(),
                PartitionRole::Math if compiled.expanded().is_some() => {
                    tiles(partition.layout, u64::from(partition.warps))
                }
                PartitionRole::Math => {
                    let groups = u64::from(partition.warps / 4).max(1);
                    let s = if groups == 1 { "" } else { "s" };
                    let rows = compiled
                        .selection()
                        .iter()
                        .flat_map(|s| &s.dots)
                        .map(|d| d.extents[0])
                        .max()
                        .unwrap_or(0);
                    format!("{groups} warpgroup{s} of {} rows", rows / groups)
                }
            }
        );
    }
    let _ = writeln!(out, "  registers per thread: {} (C31)", layout.split);
}

/// How the tiles of the partition that runs all lie.
fn tiles(layout: Option<RegisterLayout>, warps: u64) -> String {
    match layout {
        Some(RegisterLayout::MmaSync { m, n }) => {
            format!("mma.sync, {m} warps along the rows and {n} along the columns")
        }
        Some(RegisterLayout::Wgmma { columns: 1 }) => {
            format!("wgmma, {} warpgroups along the rows", warps / 4)
        }
        Some(RegisterLayout::Wgmma { columns }) => {
            let rows = warps / 4 / columns.max(1);
            format!("wgmma, {rows} warpgroups along the rows and {columns} along the columns")
        }
        Some(RegisterLayout::TensorHalves { columns: 1 }) => {
            format!("tcgen05.mma of 64 rows, {} warpgroups along the rows", warps / 4)
        }
        Some(RegisterLayout::TensorHalves { columns }) => {
            format!("tcgen05.mma of 64 rows, {columns} warpgroups along the columns")
        }
        Some(RegisterLayout::TensorRows | RegisterLayout::TensorPairs) => {
            format!("tcgen05.mma of 128 rows, {} warpgroups along the rows", warps / 4)
        }
        Some(RegisterLayout::Blocked { vector, across }) => {
            format!("{vector} neighbours in a lane, {across} lanes along the columns")
        }
        None => "computes".to_owned(),
    }
}

/// A text two columns in.
fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
