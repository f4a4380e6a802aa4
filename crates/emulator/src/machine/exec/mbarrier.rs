//! mbarrier instructions (E25-E27).

use super::flow::Flow;
use super::memory::checked_addresses;
use super::order;
use crate::isa::op::{Addr, MbarOp, Space};
use crate::machine::actor::{Actor, actor};
use crate::machine::asynchronous::issue;
use crate::machine::asynchronous::signal::{arrive, use_mbarrier};
use crate::machine::core::{Core, Spot};
use crate::machine::mbarrier::{MAX_COUNT, Mbarrier};
use crate::machine::operations::{SignalWork, Work};
use crate::machine::warp::{Wait, Warp};
use crate::race::access::Act;
use crate::race::channel::{Kind, channel};
use crate::race::clock::join_scopes;
use crate::race::scope::Scope;
use crate::report::Severity;
use smallvec::SmallVec;

/// One mbarrier instruction for some lanes, lane after lane.
pub(crate) fn run(
    core: &mut Core<'_>,
    w: &mut Warp,
    addr: Addr,
    space: Space,
    op: &MbarOp,
    pc: u32,
    mask: u32,
) -> Flow {
    let (addrs, lanes) = checked_addresses(core, w, addr, pc, mask);
    let mut places: Vec<(u32, u32, u64)> = Vec::new();
    for lane in (0..32).filter(|l| lanes >> l & 1 == 1) {
        match core.spot(space, addrs[lane as usize], w.cta) {
            Spot::Shared(c, at) => places.push((lane, c, at)),
            _ => {
                let a = actor(w, pc, 1 << lane);
                core.error("A03", &a, "an mbarrier must be in shared memory", "pass a shared address");
            }
        }
    }
    match op {
        MbarOp::Init { .. } | MbarOp::Inval => set_up(core, w, op, &places, pc),
        MbarOp::Wait { .. } => return wait(core, w, op, &places, pc, mask),
        MbarOp::CopiesArrive { noinc } => copies_arrive(core, w, *noinc, &places, pc),
        _ => arrivals(core, w, op, &places, pc, mask),
    }
    Flow::Next
}

fn set_up(core: &mut Core<'_>, w: &mut Warp, op: &MbarOp, places: &[(u32, u32, u64)], pc: u32) {
    let line = core.code.insts.get(pc as usize).map_or(0, |i| i.line);
    for &(lane, cta, at) in places {
        let a = actor(w, pc, 1 << lane);
        if !core.shared_bounds(cta, at, 8, &a) {
            continue;
        }
        let extent = Some(core.shared_extent(at, at + 8));
        if at % 8 != 0 {
            let message = format!("mbarrier at shared {at}, which is not a multiple of 8");
            core.report("A02", Severity::Error, &a, None, extent, message, "align mbarriers to 8 bytes");
            continue;
        }
        let old = core.cta(cta).and_then(|c| c.mbars.remove(&(at as u32)));
        match op {
            MbarOp::Init { count } => {
                let n = w.value(core, *count)[lane as usize] as u32;
                if let Some(old) = old {
                    let message = format!("mbarrier.init of a live mbarrier (line {})", old.line);
                    core.report(
                        "M02",
                        Severity::Error,
                        &a,
                        None,
                        extent.clone(),
                        message,
                        "mbarrier.inval first",
                    );
                }
                if n == 0 || n > MAX_COUNT {
                    let message = format!("mbarrier.init with count {n}");
                    core.report(
                        "M05",
                        Severity::Error,
                        &a,
                        None,
                        extent,
                        message,
                        "counts are 1 to 2^20-1 (T8)",
                    );
                }
                core.touch_shared(cta, at, 8, &a, Act::Write);
                let empty = core.empty_clock();
                core.stats.mbarriers += 1;
                if let Some(c) = core.cta(cta) {
                    c.mbars.insert(at as u32, Mbarrier::new(n.clamp(1, MAX_COUNT), line, empty));
                }
            }
            _ => match old {
                None => {
                    let message = "mbarrier.inval where no mbarrier is";
                    core.report(
                        "M01",
                        Severity::Error,
                        &a,
                        None,
                        extent,
                        message,
                        "inval each once, after its init",
                    );
                }
                Some(old) => {
                    let half = old.pending != old.expected || old.tx != 0;
                    if half || old.in_flight > 0 {
                        let message = format!(
                            "mbarrier.inval with {} of {} arrivals pending, {} bytes awaited, {} signals in flight",
                            old.pending, old.expected, old.tx, old.in_flight
                        );
                        let remedy = "wait for the phase, then invalidate";
                        core.report("M06", Severity::Error, &a, None, extent, message, remedy);
                    }
                    core.touch_shared(cta, at, 8, &a, Act::Write);
                }
            },
        }
        core.progress += 1;
    }
}

fn arrivals(core: &mut Core<'_>, w: &mut Warp, op: &MbarOp, places: &[(u32, u32, u64)], pc: u32, mask: u32) {
    let mut states = [0; 32];
    for &(lane, cta, at) in places {
        let a = actor(w, pc, 1 << lane);
        let (count, expect, drop, releases) = match op {
            MbarOp::Arrive { count, tx, drop, release, .. } => {
                let n = w.value(core, *count)[lane as usize] as u32;
                let t = tx.map_or(0, |t| i64::from(w.value(core, t)[lane as usize] as u32));
                (n, t, *drop, *release)
            }
            MbarOp::ExpectTx { tx } => (0, i64::from(w.value(core, *tx)[lane as usize] as u32), false, false),
            MbarOp::CompleteTx { tx } => {
                (0, -i64::from(w.value(core, *tx)[lane as usize] as u32), false, false)
            }
            _ => continue,
        };
        if matches!(op, MbarOp::Arrive { .. }) && (count == 0 || count > MAX_COUNT) {
            core.error("M05", &a, format!("arrival with count {count}"), "counts are 1 to 2^20-1 (T8)");
            continue;
        }
        if matches!(op, MbarOp::Arrive { no_complete: true, .. })
            && core
                .ctas
                .get(cta as usize)
                .and_then(|c| c.mbars.get(&(at as u32)))
                .is_some_and(|b| b.pending <= count)
        {
            let message = "the last arrival of a phase has .noComplete";
            core.error(
                "M04",
                &a,
                message,
                "let another arrival complete the phase, or leave the modifier out",
            );
        }
        let carries = match op {
            _ if !core.race => core.empty_clock(),
            _ if releases => w.release(1 << lane),
            MbarOp::Arrive { .. } => {
                order::fenced_for(core, w, if cta == w.cta { Scope::Cta } else { Scope::Cluster })
            }
            _ => core.empty_clock(),
        };
        if let Some(s) = arrive(core, &a, cta, at, count, expect, drop, &carries) {
            states[lane as usize] = s;
        }
    }
    if let MbarOp::Arrive { d: Some(d), .. } = op {
        w.put(*d, &states, (0, false), mask);
    }
}

/// `cp.async.mbarrier.arrive`: without `.noinc` the pending count goes up now, and down by the arrival (E25).
fn copies_arrive(core: &mut Core<'_>, w: &mut Warp, noinc: bool, places: &[(u32, u32, u64)], pc: u32) {
    let next = core.numbers.get(channel(w.id, Kind::CpAsync) as usize).copied().unwrap_or(0);
    let mut targets: Vec<(u32, u64, u32)> = Vec::new();
    let mut lanes = 0;
    for &(lane, cta, at) in places {
        let a = actor(w, pc, 1 << lane);
        if !use_mbarrier(core, &a, cta, at) {
            continue;
        }
        if let Some(b) = core.cta(cta).and_then(|c| c.mbars.get_mut(&(at as u32))) {
            b.pending += u32::from(!noinc);
        }
        lanes |= 1 << lane;
        match targets.iter_mut().find(|t| (t.0, t.1) == (cta, at)) {
            Some(t) => t.2 += 1,
            None => targets.push((cta, at, 1)),
        }
    }
    for (cta, at, _) in &targets {
        if let Some(b) = core.cta(*cta).and_then(|c| c.mbars.get_mut(&(*at as u32))) {
            b.in_flight += 1;
        }
    }
    if !targets.is_empty() {
        let work = SignalWork { after: vec![(Kind::CpAsync, next)], targets };
        issue(core, w, Kind::Signal, lanes, pc, Work::Signal(work));
    }
}

/// `test_wait`, `try_wait`. A failed wait blocks its lanes until the barrier changes (E11).
fn wait(
    core: &mut Core<'_>,
    w: &mut Warp,
    op: &MbarOp,
    places: &[(u32, u32, u64)],
    pc: u32,
    mask: u32,
) -> Flow {
    let MbarOp::Wait { p, parity, value, acquire } = op else { return Flow::Next };
    let values = w.value(core, *value);
    let mut passed = 0_u32;
    let mut failed: SmallVec<[(u32, u32, u32, u32); 1]> = SmallVec::new();
    let mut learnt: Vec<(u32, u32)> = Vec::new();
    for &(lane, cta, at) in places {
        let a = actor(w, pc, 1 << lane);
        if cta != w.cta {
            core.error("A03", &a, "a wait on an mbarrier of another CTA", "wait in the own CTA (T8)");
            continue;
        }
        // The same barrier in every lane is recorded once.
        let known =
            learnt.contains(&(cta, at as u32)) || failed.iter().any(|f| (f.0, f.1) == (cta, at as u32));
        if !known && !use_mbarrier(core, &Actor { lanes: mask, ..a }, cta, at) {
            passed |= 1 << lane;
            continue;
        }
        let v = values[lane as usize];
        let Some(b) = core.ctas.get(cta as usize).and_then(|c| c.mbars.get(&(at as u32))) else { continue };
        let ok = if *parity { b.passed_parity(v as u32) } else { b.phase > (v >> 32) as u32 };
        let phase = b.phase;
        if ok {
            passed |= 1 << lane;
            learnt.push((cta, at as u32));
        } else {
            failed.push((cta, at as u32, phase, v as u32));
        }
    }
    // A wait that would succeed may still fail a few times (E10).
    if failed.is_empty() && passed != 0 && core.any_lane && w.refused < 2 && core.rng.below(8) == 0 {
        w.refused += 1;
        if let Some(p) = p {
            w.set_pred(*p, 0, 0, mask);
        }
        return Flow::Next;
    }
    w.refused = 0;
    if let Some(p) = p {
        w.set_pred(*p, passed, 0, mask);
    }
    learnt.dedup();
    // A fresh barrier lets parity 1 pass: nothing was waited for.
    let mut completed = false;
    for (cta, at) in learnt {
        let mut stale = None;
        if let Some(b) = core.cta(cta).and_then(|c| c.mbars.get_mut(&at)) {
            b.seen_phase = b.seen_phase.max(b.phase);
            let phase = b.phase;
            completed |= phase > 0;
            if b.pass(w.id, passed) {
                stale = Some((b.line, phase));
            }
            let done = core.ctas.get(cta as usize).and_then(|c| c.mbars.get(&at)).map(|b| b.done.clone());
            if let Some(done) = done.filter(|_| core.race) {
                if *acquire {
                    w.learn(passed, &done);
                } else {
                    // A fence behind a relaxed wait learns it.
                    join_scopes(&mut w.read_clock, &[Some((*done).clone()), None, None]);
                }
            }
        }
        if let Some((line, phase)) = stale {
            let a = actor(w, pc, mask);
            let extent = Some(core.shared_extent(u64::from(at), u64::from(at) + 8));
            let message = format!(
                "the warp passes on phase {phase} of the mbarrier of line {line} for the second time"
            );
            let remedy = "flip the parity when the ring wraps: a stale phase orders nothing new";
            core.report("M08", Severity::Note, &a, None, extent, message, remedy);
        }
    }
    if completed || !failed.is_empty() {
        core.coverage.mattered(pc);
    }
    if failed.is_empty() {
        return Flow::Next;
    }
    failed.dedup();
    Flow::Park(Wait::Mbar(failed))
}
