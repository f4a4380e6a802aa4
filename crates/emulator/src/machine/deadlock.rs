//! Reports of clusters in which nobody can move (E68).

use super::actor::actor;
use super::cluster::Machine;
use super::findings::lane_list;
use super::warp::{Cond, Wait, Warp};
use crate::isa::op::Presence;
use std::fmt::Write;

/// Lines of a report.
const LINES: usize = 24;

/// D01: every waiting warp with what it waits for, and who could still supply it. `waiting` clusters have not begun.
pub(crate) fn report(machines: &mut [&mut Machine<'_>], waiting: usize) {
    let mut text = String::from("deadlock: no warp and no asynchronous operation can move");
    let mut lines = Vec::new();
    for m in machines.iter() {
        let cta = m.core.ctas.first().map_or([0; 3], |c| c.ctaid);
        for (names, why) in waits(m) {
            let of = if machines.len() > 1 { format!(" of CTA {cta:?}") } else { String::new() };
            lines.push(format!("{}{of} at {why}", names.join(", ")));
        }
    }
    for line in lines.iter().take(LINES) {
        let _ = write!(text, "\n    {line}");
    }
    if lines.len() > LINES {
        let _ = write!(text, "\n    and {} more", lines.len() - LINES);
    }
    let mut remedy = "supply the missing arrival, or wait for the phase that comes";
    if waiting > 0 {
        let held = machines.len();
        let _ = write!(
            text,
            "\n    {waiting} more clusters cannot begin: the chip holds {held} of these at once"
        );
        remedy = "launch no more CTAs than are resident at once, or wait for earlier ones only";
    } else if machines.iter().any(|m| m.warps.iter().any(|w| w.watch.lanes() != 0)) {
        remedy = "let somebody store what the loops wait for; take locks in one order everywhere";
    }
    machines.iter_mut().for_each(|m| divided(m));
    for m in machines.iter_mut() {
        let Machine { core, warps, .. } = &mut **m;
        for w in warps.iter().filter(|w| w.live != 0) {
            let (lanes, pc) = stands(w);
            core.stuck(w, lanes, pc);
        }
    }
    let Some(m) = machines.iter_mut().find(|m| m.warps.iter().any(|w| w.live != 0)) else { return };
    let Some(w) = m.warps.iter().find(|w| w.live != 0) else { return };
    let (lanes, pc) = stands(w);
    m.core.error("D01", &actor(w, pc, lanes), text, remedy);
}

/// The lanes of a warp that wait first, and the instruction at which they wait.
fn stands(w: &Warp) -> (u32, u32) {
    match (w.blocked.first(), w.watch.circling.first()) {
        (Some((lanes, wait)), _) => {
            let pc = w.pc(lanes.trailing_zeros());
            (*lanes, if matches!(wait, Wait::Retry(_)) { pc } else { pc.saturating_sub(1) })
        }
        (None, Some((lanes, place))) => (*lanes, *place),
        (None, None) => (w.live, w.pc(w.live.trailing_zeros())),
    }
}

/// C02: some lanes of a warp wait at a named barrier, others stand before a warp-wide instruction.
fn divided(m: &mut Machine<'_>) {
    for w in &m.warps {
        let at_barrier = w.blocked.iter().any(|(_, wait)| matches!(wait, Wait::Named { .. }));
        let free = w.live & !w.blocked_lanes();
        if !at_barrier || free == 0 {
            continue;
        }
        let pc = w.pc(free.trailing_zeros());
        if m.core.code.insts.get(pc as usize).is_some_and(|i| i.presence == Presence::Warp) {
            let message =
                "other lanes of the warp wait at a barrier, and do not come to this warp-wide instruction";
            let remedy =
                "bring all lanes to the same instruction first (E7), or use barrier.sync without .aligned";
            m.core.error("C02", &actor(w, pc, free), message, remedy);
        }
    }
}

/// Warps of a cluster with why they wait: those at the same place for the same reason stand together.
fn waits(m: &Machine<'_>) -> Vec<(Vec<String>, String)> {
    let mut waits: Vec<(Vec<String>, String)> = Vec::new();
    for w in m.warps.iter().filter(|w| w.live != 0) {
        let mut reasons: Vec<String> = w
            .blocked
            .iter()
            .map(|(lanes, wait)| {
                let pc = w.pc(lanes.trailing_zeros());
                // Waits park behind their instruction, conditions stand before it.
                let at = if matches!(wait, Wait::Retry(_)) { pc } else { pc.saturating_sub(1) };
                let line = m.core.code.insts.get(at as usize).map_or(0, |i| i.line);
                format!("line {line}: {}", why(m, w, wait))
            })
            .collect();
        for (lanes, place) in &w.watch.circling {
            let line = m.core.code.insts.get(*place as usize).map_or(0, |i| i.line);
            let lanes = lane_list(*lanes);
            reasons.push(format!(
                "line {line}: lanes {lanes} wait in a loop for what they read there to change"
            ));
        }
        if reasons.is_empty() {
            reasons.push("its lanes wait for each other".to_string());
        }
        for r in reasons {
            match waits.iter_mut().find(|(_, why)| *why == r) {
                Some((names, _)) => names.push(m.core.warp_name(w.id)),
                None => waits.push((vec![m.core.warp_name(w.id)], r)),
            }
        }
    }
    waits
}

/// D02: the step budget is used up.
pub(crate) fn no_progress(m: &mut Machine<'_>) {
    let Some(w) = m.warps.iter().filter(|w| w.live != 0).max_by_key(|w| (w.steps, u32::MAX - w.id)) else {
        return;
    };
    let a = actor(w, w.pc(w.live.trailing_zeros()), w.live);
    let message = format!("no end after {} warp instructions of the cluster", m.core.steps);
    m.core.error("D02", &a, message, "mend the loop, or raise the step limit");
}

fn why(m: &Machine<'_>, w: &Warp, wait: &Wait) -> String {
    match wait {
        Wait::Mbar(list) => list.iter().map(|x| mbarrier(m, *x)).collect::<Vec<_>>().join("; "),
        Wait::Lanes(lanes) => format!("bar.warp.sync waits for lanes {}", lane_list(lanes & w.live)),
        Wait::Named { id, .. } => {
            let Some(b) = m.core.ctas.get(w.cta as usize).and_then(|c| c.named.get(*id as usize)) else {
                return format!("named barrier {id}");
            };
            let missing = (b.count.saturating_sub(b.arrived)) / 32;
            format!(
                "named barrier {id}: {} of {} threads have arrived, {missing} warps are missing; {}",
                b.arrived,
                b.count,
                others(m, w)
            )
        }
        Wait::Retry(c) => match c {
            Cond::CpAsync { keep } => format!("cp.async groups beyond the newest {keep}"),
            Cond::Bulk { keep, .. } => format!("bulk groups beyond the newest {keep}"),
            Cond::Wgmma { keep } => format!("wgmma groups beyond the newest {keep}"),
            Cond::WgmmaRegister { .. } => "a wgmma in flight".to_string(),
            Cond::Tmem { .. } | Cond::TmemRegister { .. } => "its tcgen05 loads or stores".to_string(),
            Cond::Registers { need } => {
                let free = m.core.ctas.get(w.cta as usize).map_or(0, |c| c.free_registers);
                format!("setmaxnreg: the pool has {free} registers, {need} are needed; {}", others(m, w))
            }
            Cond::TmemAlloc { columns } => format!("tcgen05.alloc of {columns} columns; {}", others(m, w)),
            Cond::Cluster { .. } => format!(
                "barrier.cluster: {} warps have arrived; {}",
                m.core.cluster_barrier.arrived,
                others(m, w)
            ),
        },
    }
}

fn mbarrier(m: &Machine<'_>, (cta, at, phase, wanted): (u32, u32, u32, u32)) -> String {
    let Some(b) = m.core.ctas.get(cta as usize).and_then(|c| c.mbars.get(&at)) else {
        return format!("the mbarrier at shared {at}, which is gone");
    };
    let mut text = format!(
        "mbarrier at shared {at} (init line {}): wants parity {} while phase {phase} runs, {} of {} arrivals and {} bytes are missing",
        b.line,
        wanted & 1,
        b.pending,
        b.expected,
        b.tx
    );
    if b.in_flight > 0 {
        let _ = write!(text, ", {} signals in flight", b.in_flight);
    }
    let gone = m.warps.iter().filter(|w| w.live == 0).count();
    let alive = m.warps.iter().filter(|w| w.live != 0).count();
    if gone > 0 {
        let _ = write!(text, "; {gone} warps have exited and will not arrive");
    }
    if alive <= 1 {
        text.push_str("; nobody left who could arrive");
    }
    text
}

/// Who else could still do something.
fn others(m: &Machine<'_>, w: &Warp) -> String {
    let alive: Vec<String> =
        m.warps.iter().filter(|o| o.live != 0 && o.id != w.id).map(|o| m.core.warp_name(o.id)).collect();
    if alive.is_empty() { "nobody left".to_string() } else { format!("{} others wait too", alive.len()) }
}
