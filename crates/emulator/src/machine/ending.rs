//! What must be over when a cluster ends (C01, C03, M06, T03).

use super::exec::actor;
use super::sched::Machine;

/// Checks the end of a cluster, then lets what is still in flight happen.
pub(crate) fn check(m: &mut Machine<'_>) {
    let ended = m.warps.iter().all(|w| w.live == 0);
    if ended {
        registers(m);
    }
}

/// C03: all warps of a warpgroup must run the same setmaxnreg instructions.
fn registers(m: &mut Machine<'_>) {
    let n = m.warps.len();
    for i in 0..n {
        let (Some(w), Some(first)) = (m.warps.get(i), m.warps.get(i - i % 4)) else { continue };
        if w.cta == first.cta && w.setmax != first.setmax && w.index / 4 == first.index / 4 {
            let pc = w.setmax.first().or(first.setmax.first()).map_or(0, |(pc, _)| *pc);
            let a = actor(w, pc, w.born);
            let message = "the warps of a warpgroup run different setmaxnreg instructions";
            m.core.error("C03", &a, message, "all four warps run the same one (T15)");
        }
    }
}
