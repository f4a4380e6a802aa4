//! Fences, register moves, and the end of a warp (E29, E54).

use super::flow::Flow;
use super::maps;
use super::named::settle;
use crate::isa::op::Fence;
use crate::machine::actor::actor;
use crate::machine::core::Core;
use crate::machine::warp::{Cond, Wait, Warp};
use crate::race::clock::Clock;
use crate::race::scope::Scope;
use std::rc::Rc;

/// Fences.
pub(crate) fn fence(core: &mut Core<'_>, w: &mut Warp, f: Fence, pc: u32, mask: u32) -> Flow {
    if !core.race {
        return Flow::Next;
    }
    match f {
        Fence::Thread { scope, acquires, releases, sequential } => {
            let covered = Scope::ALL.iter().take_while(|s| **s <= scope).count();
            if acquires {
                let found: Vec<Clock> =
                    w.read_clock.iter_mut().take(covered).filter_map(Option::take).collect();
                found.iter().for_each(|c| w.learn(mask, c));
            }
            if releases {
                let clock = w.release(mask);
                w.fence_clock.iter_mut().take(covered).for_each(|slot| *slot = Some(clock.clone()));
                if sequential {
                    Rc::make_mut(&mut w.clock).fence_sequential(covered, &clock);
                }
            }
        }
        Fence::ProxyAsync { shared, global } => {
            let (id, now, strict) = (w.id, w.now, core.opts.strict);
            let own = Rc::make_mut(&mut w.clock);
            for (space, _) in [shared, global].iter().enumerate().filter(|(_, named)| **named) {
                if !strict {
                    own.fence(space);
                    own.fence_told(space, mask);
                }
                own.fence_own(space, id, mask, now);
            }
            w.now += 1;
        }
        // It counts for initialisations alone; here for all before it.
        Fence::MbarrierInit => {
            let clock = w.release(mask);
            let covered = [Scope::Cta, Scope::Cluster].len();
            w.fence_clock.iter_mut().take(covered).for_each(|slot| *slot = Some(clock.clone()));
        }
        Fence::AcquireMap(addr) => maps::fence(core, w, addr, pc, mask),
        Fence::ReleaseMap => {}
        Fence::TcgenBefore => {
            core.tmem_fences.entry(w.id).or_default().push(w.now);
            w.now += 1;
        }
        // It counts for what the lanes that execute it were told.
        Fence::TcgenAfter => {
            let mut clock = (*w.clock).clone();
            clock.passed_on_by(mask);
            w.tcgen_after = Some(Rc::new(clock));
        }
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
}
