//! What was decided and why, as text (C93).

use std::fmt::Write;

use warploom_bufassign::render;
use warploom_sched::render::gantt;

use crate::compile::Compiled;
use crate::depth::Bound;
use crate::layout::{Layout, Ring, RingUse};
use crate::select::Selection;

/// The report: agents, pipelines, loop shape, store path, what bounds II and the depth of the ring, the schedule
/// and the memory map.
pub fn explain(compiled: &Compiled) -> String {
    let mut out = String::new();
    let dot = &compiled.selection.dot;
    let [m, n, k] = dot.extents;
    let _ = writeln!(
        out,
        "kernel @{} for {}: products of {m}x{n}x{k}, {}",
        compiled.pipelined.graph.name, compiled.assignment.target, dot.element
    );
    agents(&mut out, compiled);
    pipelines(&mut out, &compiled.layout);
    loop_shape(&mut out, compiled);
    stores(&mut out, &compiled.selection);
    initiation_interval(&mut out, compiled);
    depth(&mut out, compiled);
    let _ = write!(out, "\nschedule\n{}", indented(&gantt(&compiled.pipelined.graph, &compiled.answer)));
    let _ = write!(out, "\nmemory\n{}", indented(&render::memory_map(&compiled.assignment)));
    for remark in &compiled.remarks {
        let _ = writeln!(out, "\n{remark}");
    }
    out
}

fn agents(out: &mut String, compiled: &Compiled) {
    let layout = &compiled.layout;
    let _ = writeln!(
        out,
        "\nagents: {} warps, {} registers per thread at launch",
        layout.warps, layout.max_registers
    );
    for agent in &layout.agents {
        let _ = writeln!(
            out,
            "  @{:<5} warps {:>2}..{:<2}  registers {:>3}  {}",
            agent.role.name(),
            agent.warp,
            agent.warp + agent.warps,
            agent.registers,
            match agent.role {
                crate::graph::Role::Load => "one elected lane copies".to_owned(),
                crate::graph::Role::Math => format!("{} warpgroups of 64 rows", agent.warps / 4),
            }
        );
    }
}

fn pipelines(out: &mut String, layout: &Layout) {
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
        RingUse::Operands => format!(
            "TMA to wgmma: full {} arrival and {} B, empty {} arrivals, one per computing warp",
            ring.arrive_full, ring.bytes, ring.arrive_empty
        ),
        RingUse::Tile(_) => format!(
            "TMA to generic reads: full {} arrival and {} B, written once",
            ring.arrive_full, ring.bytes
        ),
        RingUse::Staging(_) => "staging, between named barriers".to_owned(),
    }
}

fn loop_shape(out: &mut String, compiled: &Compiled) {
    let _ = writeln!(out, "\nloop: each agent runs its own, the rings give the overlap (C28)");
    let _ = match compiled.pipelined.pending {
        0 => writeln!(out, "  each product is waited for before its slot is given back"),
        pending => writeln!(
            out,
            "  {pending} product stays in flight: a slot is given back one trip after it was read (C30)"
        ),
    };
}

fn stores(out: &mut String, selection: &Selection) {
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
    for tile in &selection.tiles {
        let _ = writeln!(out, "  {}: loaded behind the loop's copies, read from shared memory", tile.name);
    }
}

fn initiation_interval(out: &mut String, compiled: &Compiled) {
    let answer = &compiled.answer;
    let _ = write!(out, "\nII {} cycles", answer.ii);
    let graph = &compiled.pipelined.graph;
    if answer.ii == answer.res_mii {
        let unit = answer.critical_resource.as_deref().unwrap_or("a unit");
        let _ = write!(out, ", bound by {unit}");
    } else if answer.ii == answer.rec_mii || answer.ii == answer.lower_bound {
        let names =
            answer.critical_circuit.iter().filter_map(|&n| graph.nodes.get(n)).map(|n| n.name.as_str());
        let circuit = names.collect::<Vec<_>>().join(" > ");
        let _ = match circuit.is_empty() {
            true => write!(out, ", bound by the depth of the ring"),
            false => write!(out, ", bound by the circuit {circuit}"),
        };
    }
    let proof = if answer.optimal { "; no smaller one exists" } else { "" };
    let _ = writeln!(out, " (resources {}, circuits {}){proof}", answer.res_mii, answer.rec_mii);
}

fn depth(out: &mut String, compiled: &Compiled) {
    let depth = &compiled.depth;
    let _ = write!(out, "ring depth {}: ", depth.slots);
    let _ = match depth.bound {
        Bound::Law if depth.slack > 0 => {
            writeln!(out, "the depth law asks for {}, {} added", depth.law, depth.slack)
        }
        Bound::Law => writeln!(out, "what the depth law asks for"),
        Bound::Capacity => writeln!(
            out,
            "the most that fits; the depth law asks for {} at II {}",
            depth.law, depth.unlimited_ii
        ),
        Bound::NumStages => writeln!(out, "tt.num_stages; the depth law asks for {}", depth.law),
        Bound::Asked => writeln!(out, "as asked; the depth law asks for {}", depth.law),
    };
    for round in &depth.rounds {
        let _ = match round.need {
            Some(need) => writeln!(out, "  {} slots at II {}: {need} B, does not fit", round.depth, round.ii),
            None => writeln!(out, "  {} slots at II {}: fits", round.depth, round.ii),
        };
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
