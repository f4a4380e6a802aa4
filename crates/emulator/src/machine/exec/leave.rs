//! The end of threads.

use super::barrier::warp_exit;
use super::cluster;
use super::meet;
use super::named::lanes_exit;
use crate::machine::actor::actor;
use crate::machine::core::Core;
use crate::machine::warp::Warp;

/// Lanes leave.
pub(crate) fn exit(core: &mut Core<'_>, w: &mut Warp, lanes: u32) {
    w.live &= !lanes;
    core.progress += 1;
    if w.live == 0 {
        warp_exit(core, w);
    } else {
        lanes_exit(core, w);
    }
    cluster::leave(core, w, lanes);
}

/// C02: lanes that ended behind work of their own were waited for by the rest of their warp.
pub(crate) fn judge(core: &mut Core<'_>, w: &Warp, pc: u32) {
    if w.live == 0 || w.uniform {
        return;
    }
    if let Some((at, lanes)) = meet::missed(core, w, pc) {
        let message =
            "lanes of the warp went another way, and ended without coming to this warp-wide instruction";
        let remedy = "bring all lanes here (E7), or use barrier.sync without .aligned";
        core.error("C02", &actor(w, at, lanes), message, remedy);
    }
}
