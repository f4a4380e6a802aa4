//! Named barriers, the cluster barrier, fences, register moves, and the end of a warp (E24, E28, E29, E54).

use super::{Flow, actor};
use crate::isa::op::{BarMode, Fence, PSrc, Pred, Reg, Src};
use crate::machine::core::Core;
use crate::machine::warp::{Cond, Vote, Wait, Warp};
use crate::race::clock::Clock;
use std::rc::Rc;

/// The operands of `bar` and `barrier`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    pub mode: BarMode,
    pub id: Src,
    pub count: Option<Src>,
    pub pred: PSrc,
    pub d: Option<Reg>,
    pub p: Option<Pred>,
}

/// `bar.sync`, `bar.arrive`, `bar.red`: a warp counts 32, however many of its lanes are active.
pub(crate) fn named(core: &mut Core<'_>, w: &mut Warp, b: Named, pc: u32, mask: u32) -> Flow {
    let a = actor(w, pc, mask);
    let id = w.scalar(core, b.id, mask) as u32;
    let whole = b.count.is_none();
    let Some(cta) = core.ctas.get(w.cta as usize) else { return Flow::Next };
    let (all, live) = (cta.warps.1 * 32, cta.live_warps * 32);
    let count = b.count.map_or(live, |c| w.scalar(core, c, mask) as u32);
    if id > 15 {
        core.error("B01", &a, format!("named barrier {id}: there are 0 to 15"), "use a lower id (T7)");
        return Flow::Next;
    }
    if count == 0 || !count.is_multiple_of(32) || count > all {
        let message = format!("barrier {id} counts {count} threads of the CTA's {all}");
        core.error("B01", &a, message, "counts are multiples of 32 up to the CTA's threads (T7)");
        if count == 0 || count > all {
            return Flow::Next;
        }
    }
    let count = count.next_multiple_of(32);
    let votes = core_votes(w, b.pred, mask);
    drop(a);
    let carries = if core.race { w.release(mask) } else { Clock::default() };
    let a = actor(w, pc, mask);
    core.stats.barriers |= 1 << id;
    let waits = b.mode != BarMode::Arrive;
    let line = core.code.insts.get(pc as usize).map_or(0, |i| i.line);
    let Some(bar) = core.cta(w.cta).and_then(|c| c.named.get_mut(id as usize)) else { return Flow::Next };
    let fresh = bar.arrived == 0;
    let mut wrong = None;
    let reused = fresh && bar.generation > 0 && !knows(&carries, &bar.last);
    if fresh {
        bar.count = count;
        bar.line = line;
        bar.whole = whole;
        bar.votes = (0, true, false);
        bar.clock = carries.clone();
    } else {
        bar.clock.join(&carries);
        if bar.count != count {
            wrong = Some((
                "B02",
                format!(
                    "barrier {id}: this warp counts {count} threads, line {} counted {} in the same generation",
                    bar.line, bar.count
                ),
            ));
        } else if bar.warps.iter().any(|(x, _)| *x == w.id) {
            wrong = Some(("B03", format!("{id} twice in one generation")));
        }
    }
    bar.votes = (bar.votes.0 + votes.0, bar.votes.1 && votes.1, bar.votes.2 || votes.2);
    bar.warps.push((w.id, waits));
    bar.arrived += 32;
    if reused {
        let message =
            format!("barrier {id} is used again, but its last generation is not ordered before this use");
        core.error("B04", &a, message, "give it another id, or order the two uses by another barrier");
    }
    match wrong {
        Some(("B03", m)) => {
            let message = format!("the warp arrives at barrier {m}");
            core.error("B03", &a, message, "a warp may arrive once in each generation");
        }
        Some((code, m)) => core.error(code, &a, m, "all participants of a generation must count the same"),
        None => {}
    }
    core.progress += 1;
    settle(core, w.cta, id);
    if !waits {
        return Flow::Next;
    }
    let result = match b.mode {
        BarMode::Popc => b.d.map(Vote::Popc),
        BarMode::And => b.p.map(Vote::And),
        BarMode::Or => b.p.map(Vote::Or),
        BarMode::Sync | BarMode::Arrive => None,
    };
    Flow::Park(Wait::Named { id, result })
}

fn core_votes(w: &Warp, pred: PSrc, mask: u32) -> (u32, bool, bool) {
    let v = w.predicate(pred) & mask;
    (v.count_ones(), v == mask, v != 0)
}

/// Whether a clock knows all that another one does of threads.
fn knows(c: &Clock, other: &Clock) -> bool {
    other.seen.threads.iter().zip(&c.seen.threads).all(|(o, m)| m >= o)
}

/// Completes a barrier that is full: wakes the waiting warps, re-arms at once.
fn settle(core: &mut Core<'_>, cta: u32, id: u32) {
    let Some(bar) = core.cta(cta).and_then(|c| c.named.get_mut(id as usize)) else { return };
    if bar.arrived == 0 || bar.arrived < bar.count {
        return;
    }
    bar.generation += 1;
    bar.arrived = 0;
    let clock = Rc::new(std::mem::take(&mut bar.clock));
    let warps = std::mem::take(&mut bar.warps);
    let votes = bar.votes;
    // What each participant had known when it came: who uses the id again must know that (B04).
    bar.last = (*clock).clone();
    for (warp, waits) in warps {
        if waits {
            core.wakes.push((warp, id, clock.clone(), votes));
        }
    }
}

/// `barrier.cluster.arrive`.
pub(crate) fn cluster_arrive(core: &mut Core<'_>, w: &mut Warp, release: bool, pc: u32, mask: u32) -> Flow {
    if w.cluster_arrived == Some(core.cluster_barrier.generation) {
        let a = actor(w, pc, mask);
        core.error("B03", &a, "second barrier.cluster.arrive without a wait", "arrive once per round (E28)");
        return Flow::Next;
    }
    if core.race {
        let c = if release { w.release(mask) } else { core.empty_clock() };
        core.cluster_barrier.clock.join(&c);
    }
    w.cluster_arrived = Some(core.cluster_barrier.generation);
    core.cluster_barrier.arrived += 1;
    core.progress += 1;
    settle_cluster(core);
    Flow::Next
}

fn settle_cluster(core: &mut Core<'_>) {
    let live: u32 = core.ctas.iter().map(|c| c.live_warps).sum();
    if core.cluster_barrier.arrived == 0 || core.cluster_barrier.arrived < live {
        return;
    }
    let empty = core.empty_clock();
    let b = &mut core.cluster_barrier;
    b.generation += 1;
    b.arrived = 0;
    b.released = Rc::new(std::mem::replace(&mut b.clock, empty));
}

/// `barrier.cluster.wait`.
pub(crate) fn cluster_wait(core: &mut Core<'_>, w: &mut Warp, acquire: bool, pc: u32, mask: u32) -> Flow {
    let Some(generation) = w.cluster_arrived else {
        let a = actor(w, pc, mask);
        core.error("B03", &a, "barrier.cluster.wait without an arrive", "arrive first (E28)");
        return Flow::Next;
    };
    if core.cluster_barrier.generation == generation {
        return Flow::Stay(Wait::Retry(Cond::Cluster { generation }));
    }
    w.cluster_arrived = None;
    if acquire && core.race {
        let c = core.cluster_barrier.released.clone();
        w.learn(&c);
    }
    Flow::Next
}

/// Fences.
pub(crate) fn fence(core: &mut Core<'_>, w: &mut Warp, f: Fence, mask: u32) -> Flow {
    if !core.race {
        return Flow::Next;
    }
    match f {
        Fence::Thread => {
            if let Some(c) = w.read_clock.take() {
                w.learn(&c);
            }
            w.fence_clock = Some(Rc::new(w.release(mask)));
        }
        Fence::ProxyAsync { .. } => {
            let (id, now, strict) = (w.id, w.now, core.opts.strict);
            let own = Rc::make_mut(&mut w.clock);
            if !strict {
                own.fence();
            }
            own.fence_own(id, mask, now);
            w.now += 1;
        }
        Fence::ProxyTensormap | Fence::MbarrierInit => {}
        Fence::TcgenBefore => {
            core.tmem_fences.entry(w.id).or_default().push(w.now);
            w.now += 1;
        }
        Fence::TcgenAfter => w.tcgen_after = Some(w.clock.clone()),
    }
    Flow::Next
}

/// `setmaxnreg`: registers go to and come from the CTA's pool.
pub(crate) fn set_registers(
    core: &mut Core<'_>,
    w: &mut Warp,
    inc: bool,
    count: u32,
    pc: u32,
    mask: u32,
) -> Flow {
    let held = w.held_registers;
    let a = actor(w, pc, mask);
    if held == 0 {
        let message = "setmaxnreg in a kernel whose register count is not known: ptxas would drop it";
        core.error("C03", &a, message, "emit .reqntid and .maxnreg (T15)");
        return Flow::Next;
    }
    if (inc && count < held) || (!inc && count > held) {
        let message = format!("setmaxnreg.{} to {count} from {held}", if inc { "inc" } else { "dec" });
        core.error("C03", &a, message, ".inc must not lower, .dec must not raise (T15)");
        return Flow::Next;
    }
    let Some(cta) = core.cta(w.cta) else { return Flow::Next };
    if inc {
        let need = (count - held) * 32;
        if cta.free_registers < need {
            return Flow::Stay(Wait::Retry(Cond::Registers { need }));
        }
        cta.free_registers -= need;
    } else {
        cta.free_registers += (held - count) * 32;
    }
    w.held_registers = count;
    w.setmax.push((pc, count));
    core.progress += 1;
    Flow::Next
}

/// A warp is gone: barriers that count all warps may complete. Its registers stay with the CTA: whether another warp
/// could get them is not documented, so no program may rely on it.
pub(crate) fn warp_exit(core: &mut Core<'_>, w: &mut Warp) {
    let Some(cta) = core.cta(w.cta) else { return };
    cta.live_warps = cta.live_warps.saturating_sub(1);
    let live = cta.live_warps * 32;
    let mut full = Vec::new();
    for (id, bar) in cta.named.iter_mut().enumerate() {
        if bar.whole && bar.arrived > 0 {
            bar.count = live;
            full.push(id as u32);
        }
    }
    for id in full {
        settle(core, w.cta, id);
    }
    settle_cluster(core);
}
