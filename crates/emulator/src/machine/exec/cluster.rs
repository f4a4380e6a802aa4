//! `barrier.cluster` (E28).

use super::flow::Flow;
use super::order;
use crate::machine::actor::actor;
use crate::machine::core::Core;
use crate::machine::warp::{Cond, Wait, Warp};
use crate::race::scope::Scope;

/// `barrier.cluster.arrive`: each lane arrives for itself.
pub(crate) fn arrive(core: &mut Core<'_>, w: &mut Warp, release: bool, pc: u32, mask: u32) -> Flow {
    if w.cluster_arrived & mask != 0 {
        let a = actor(w, pc, w.cluster_arrived & mask);
        core.error("B03", &a, "second barrier.cluster.arrive without a wait", "arrive once per round (E28)");
        return Flow::Next;
    }
    if core.race {
        let c = if release { w.release(mask) } else { order::fenced_for(core, w, Scope::Cluster) };
        core.cluster_barrier.clock.join(&c);
    }
    w.cluster_arrived |= mask;
    core.cluster_barrier.come(w.id, mask, w.live);
    core.progress += 1;
    settle(core);
    Flow::Next
}

/// `barrier.cluster.wait`.
pub(crate) fn wait(core: &mut Core<'_>, w: &mut Warp, acquire: bool, pc: u32, mask: u32) -> Flow {
    let strangers = mask & !w.cluster_arrived;
    if strangers != 0 {
        let a = actor(w, pc, strangers);
        core.error("B03", &a, "barrier.cluster.wait without an arrive", "arrive first (E28)");
        return Flow::Next;
    }
    if core.cluster_barrier.pending(w.id) & mask != 0 {
        let generation = core.cluster_barrier.generation;
        return Flow::Stay(Wait::Retry(Cond::Cluster { generation }));
    }
    w.cluster_arrived &= !mask;
    if acquire && core.race {
        let c = core.cluster_barrier.released.clone();
        w.learn(mask, &c);
    }
    Flow::Next
}

/// Lanes have ended: nobody waits for them.
pub(crate) fn leave(core: &mut Core<'_>, w: &Warp, lanes: u32) {
    core.cluster_barrier.leave(w.id, lanes, w.live);
    settle(core);
}

fn settle(core: &mut Core<'_>) {
    if core.cluster_barrier.arrived == 0 {
        return;
    }
    let live = core.ctas.iter().map(|c| c.live_warps).sum();
    let empty = core.empty_clock();
    core.cluster_barrier.settle(live, empty);
}
