//! The end of threads.

use super::barrier::warp_exit;
use super::named::lanes_exit;
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
}
