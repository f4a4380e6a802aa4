//! Named barriers (E24, E100).

use super::flow::Flow;
use crate::isa::op::{BarMode, PSrc, Pred, Presence, Reg, Src};
use crate::machine::actor::actor;
use crate::machine::core::Core;
use crate::machine::warp::{Vote, Wait, Warp};
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

/// Number of the barrier and the threads it counts: all live ones of the CTA if the instruction says nothing. Reports
/// B01 and gives nothing if they may not be.
fn operands(core: &mut Core<'_>, w: &Warp, b: &Named, pc: u32, mask: u32) -> Option<(u32, u32)> {
    let a = actor(w, pc, mask);
    let id = w.scalar(core, b.id, mask) as u32;
    let cta = core.ctas.get(w.cta as usize)?;
    let (all, live) = (cta.warps.1 * 32, cta.live_warps * 32);
    let count = b.count.map_or(live, |c| w.scalar(core, c, mask) as u32);
    if id > 15 {
        core.error("B01", &a, format!("named barrier {id}: there are 0 to 15"), "use a lower id (T7)");
        return None;
    }
    if count == 0 || !count.is_multiple_of(32) || count > all {
        let message = format!("barrier {id} counts {count} threads of the CTA's {all}");
        core.error("B01", &a, message, "counts are multiples of 32 up to the CTA's threads (T7)");
        if count == 0 || count > all {
            return None;
        }
    }
    Some((id, count.next_multiple_of(32)))
}

/// `bar.sync`, `bar.arrive`, `bar.red`. A warp counts 32, however many of its lanes are active; without `.aligned` its
/// lanes may come one by one, from different places, and the warp has come when all that live have (sm_70 and above).
pub(crate) fn named(core: &mut Core<'_>, w: &mut Warp, b: Named, pc: u32, mask: u32) -> Flow {
    let Some((id, count)) = operands(core, w, &b, pc, mask) else { return Flow::Next };
    let (yes, all, any) = votes(w, b.pred, mask);
    let carries = if core.race { w.release(mask) } else { Clock::default() };
    let a = actor(w, pc, mask);
    core.stats.barriers |= 1 << id;
    let waits = b.mode != BarMode::Arrive;
    let inst = core.code.insts.get(pc as usize);
    let line = inst.map_or(0, |i| i.line);
    let aligned = inst.is_some_and(|i| i.presence == Presence::Warp);
    let Some(bar) = core.cta(w.cta).and_then(|c| c.named.get_mut(id as usize)) else { return Flow::Next };
    let fresh = bar.arrived == 0 && bar.partial.is_empty();
    let mut wrong = None;
    let reused = fresh && bar.generation > 0 && !carries.covers(&bar.last);
    if fresh {
        bar.count = count;
        bar.line = line;
        bar.whole = b.count.is_none();
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
                "all participants of a generation must count the same",
            ));
        } else if bar.warps.iter().any(|(x, _)| *x == w.id) {
            let message = format!("the warp arrives at barrier {id} twice in one generation");
            wrong = Some(("B03", message, "a warp may arrive once in each generation"));
        }
    }
    bar.votes = (bar.votes.0 + yes, bar.votes.1 && all, bar.votes.2 || any);
    if aligned {
        bar.come(w.id, waits);
    } else {
        bar.come_apart(w.id, mask, waits);
        bar.complete_warp(w.id, w.live);
    }
    if reused {
        let message =
            format!("barrier {id} is used again, but its last generation is not ordered before this use");
        core.error("B04", &a, message, "give it another id, or order the two uses by another barrier");
    }
    if let Some((code, message, remedy)) = wrong {
        core.error(code, &a, message, remedy);
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

fn votes(w: &Warp, pred: PSrc, mask: u32) -> (u32, bool, bool) {
    let v = w.predicate(pred) & mask;
    (v.count_ones(), v == mask, v != 0)
}

/// Completes a barrier that is full: wakes the waiting warps, re-arms at once.
pub(crate) fn settle(core: &mut Core<'_>, cta: u32, id: u32) {
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

/// Lanes are gone: the rest of their warp may have come to a barrier as a whole.
pub(crate) fn lanes_exit(core: &mut Core<'_>, w: &Warp) {
    let Some(cta) = core.cta(w.cta) else { return };
    let mut full = Vec::new();
    for (id, bar) in cta.named.iter_mut().enumerate() {
        if bar.complete_warp(w.id, w.live) {
            full.push(id as u32);
        }
    }
    for id in full {
        settle(core, w.cta, id);
    }
}
