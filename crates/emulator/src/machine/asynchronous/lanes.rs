//! Lanes of tensor memory that an operation touches.

use crate::machine::actor::Actor;
use crate::machine::core::Core;
use crate::race::access::Act;

/// Lanes of TMEM as four masks of 32.
pub(super) fn lane_set(rows: u32, lane0: u32, lane_of: &dyn Fn(u32) -> u32) -> [u32; 4] {
    let mut set = [0; 4];
    for r in 0..rows {
        let lane = lane0 + lane_of(r);
        if let Some(m) = set.get_mut((lane / 32) as usize) {
            *m |= 1 << (lane % 32);
        }
    }
    set
}

/// Records an access to some lanes of a column.
pub(super) fn touch(core: &mut Core<'_>, actor: &Actor, cta: u32, column: u32, lanes: [u32; 4], act: Act) {
    for (q, mask) in lanes.iter().enumerate() {
        if *mask != 0 {
            core.touch_tmem(cta, column, q as u32, *mask, actor, act);
        }
    }
}
