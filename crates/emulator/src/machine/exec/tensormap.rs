//! `tensormap.replace` and `tensormap.cp_fenceproxy` (E34).

use super::copy::each;
use super::flow::Flow;
use super::memory::{checked_addresses, place};
use crate::isa::op::{Addr, MapField, Space, Src};
use crate::machine::actor::actor;
use crate::machine::core::{Core, Spot};
use crate::machine::tensormap::{TENSOR_MAP_BYTES, replace};
use crate::machine::warp::Warp;
use crate::race::access::Act;

/// `tensormap.replace`.
pub(crate) fn map_replace(
    core: &mut Core<'_>,
    w: &mut Warp,
    (addr, space, field, value): (Addr, Space, MapField, Src),
    pc: u32,
    mask: u32,
) -> Flow {
    let (addrs, lanes) = checked_addresses(core, w, addr, pc, mask);
    let values = w.value(core, value);
    for l in each(lanes) {
        let a = actor(w, pc, 1 << l);
        let at = addrs[l as usize];
        if at % 128 != 0 {
            core.error(
                "A02",
                &a,
                format!("tensormap.replace at {at:#x}, not a multiple of 128"),
                "align it (T11)",
            );
            continue;
        }
        let n = TENSOR_MAP_BYTES as u64;
        let Some(spot) = place(core, w, &a, space, at, n) else { continue };
        let mut bytes = [0; TENSOR_MAP_BYTES];
        match spot {
            Spot::Shared(c, s) => {
                let range = s as usize..s as usize + TENSOR_MAP_BYTES;
                if let Some(m) = core.cta(c).and_then(|c| c.shared.get_mut(range)) {
                    bytes.copy_from_slice(m);
                    replace(&mut bytes, field, values[l as usize]);
                    m.copy_from_slice(&bytes);
                }
                core.touch_shared(c, s, n, &a, Act::Write);
            }
            Spot::Global(g) => {
                // Bounds were just checked.
                let _ = core.world.global.read(g, &mut bytes);
                replace(&mut bytes, field, values[l as usize]);
                let _ = core.world.global.write(g, &bytes);
                core.touch_global(g, n, &a, Act::Write);
            }
            _ => core.error("A03", &a, "a tensor map is edited in shared or global memory", "copy it there"),
        }
    }
    Flow::Next
}

/// `tensormap.cp_fenceproxy`: copies the map and releases it; one copy for the warp.
pub(crate) fn map_publish(
    core: &mut Core<'_>,
    w: &mut Warp,
    dst: Addr,
    src: Addr,
    pc: u32,
    mask: u32,
) -> Flow {
    let (to, lanes) = checked_addresses(core, w, dst, pc, mask);
    let (from, _) = checked_addresses(core, w, src, pc, mask);
    if lanes == 0 {
        return Flow::Next;
    }
    if core.race {
        w.sync_lanes(mask);
    }
    let l = lanes.trailing_zeros();
    let a = actor(w, pc, 1 << l);
    let n = TENSOR_MAP_BYTES as u64;
    let (d, s) = (to[l as usize], from[l as usize]);
    let (Some(Spot::Shared(c, s)), Some(Spot::Global(g))) =
        (place(core, w, &a, Space::Shared, s, n), place(core, w, &a, Space::Generic, d, n))
    else {
        return Flow::Next;
    };
    let bytes = core.cta(c).and_then(|c| c.shared.get(s as usize..(s + n) as usize)).map(<[u8]>::to_vec);
    core.touch_shared(c, s, n, &a, Act::Read);
    if let Some(bytes) = bytes {
        // Bounds were just checked.
        let _ = core.world.global.write(g, &bytes);
        core.touch_global(g, n, &a, Act::Write);
    }
    Flow::Next
}
