//! `cp.async`: 4, 8 or 16 bytes for each lane (E30). It works in the generic proxy.

use crate::machine::actor::Actor;
use crate::machine::core::Core;
use crate::machine::operations::{Operation, Work};
use crate::race::access::Act;

/// Reads, then writes.
pub(crate) fn advance(core: &mut Core<'_>, op: &mut Operation) -> bool {
    let actor = op.actor(false);
    let Work::CpAsync(w) = &mut op.work else { return true };
    if op.stage == 0 {
        for c in &w.copies {
            let mut bytes = [0; 16];
            if let Some(out) = bytes.get_mut(..c.valid as usize)
                && c.valid > 0
                && core.global_bounds(c.src, u64::from(c.valid), &actor)
            {
                // Bounds were just checked.
                let _ = core.world.global.read(c.src, out);
                let one = Actor { lanes: 1 << c.lane, ..actor.clone() };
                core.touch_global(c.src, u64::from(c.valid), &one, Act::Read);
            }
            w.data.push(bytes);
        }
        return false;
    }
    let mut list = Vec::new();
    let mut cta = 0;
    for (c, bytes) in w.copies.iter().zip(&w.data) {
        let (n, size) = (c.dst.1 as usize, w.size as usize);
        if !core.shared_bounds(c.dst.0, c.dst.1, u64::from(w.size), &actor) {
            continue;
        }
        cta = c.dst.0;
        if let Some(to) = core.cta(c.dst.0).and_then(|t| t.shared.get_mut(n..n + size))
            && let Some(from) = bytes.get(..size)
        {
            to.copy_from_slice(from);
        }
        list.push((c.lane, c.dst.1));
        core.stats.bytes_copied += u64::from(c.valid);
    }
    // Whoever waits, waits for the copies of its own lane.
    for (lane, at) in list {
        let one = Actor { lanes: 1 << lane, ..actor.clone() };
        core.touch_shared(cta, at, u64::from(w.size), &one, Act::Write);
    }
    true
}
