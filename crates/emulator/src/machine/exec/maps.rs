//! Order between those who write a tensor map in global memory and the copies that read it (E34).
//!
//! Copies read maps through a proxy of their own: a map that the kernel writes is theirs only behind
//! `fence.proxy.tensormap`, and must stay as it is until they are over.

use super::memory::checked_addresses;
use crate::isa::op::{Addr, Space};
use crate::machine::actor::Actor;
use crate::machine::core::{Core, Spot};
use crate::machine::map_fence::MapFence;
use crate::machine::tensormap::TENSOR_MAP_BYTES;
use crate::machine::warp::Warp;
use crate::race::access::{Access, Act};
use crate::race::clock::Clock;
use crate::race::mask;
use crate::race::shadow::granules;
use crate::report::Severity;
use std::rc::Rc;

/// Fences of a warp for one map that are remembered: what an older one saw the newer ones saw too.
const KEPT: usize = 16;

/// `fence.proxy.tensormap::generic.acquire`: it counts for the maps that its lanes name.
pub(crate) fn fence(core: &mut Core<'_>, w: &mut Warp, map: Addr, pc: u32, mask: u32) {
    let (addrs, lanes) = checked_addresses(core, w, map, pc, mask);
    let mut clock = w.release(lanes);
    clock.tick(w.id, lanes, w.now);
    let (clock, time) = (Rc::new(clock), w.now);
    w.now += 1;
    let mut left = lanes;
    while left != 0 {
        let at = addrs[left.trailing_zeros() as usize];
        let same = mask::lanes(left).filter(|l| addrs[*l as usize] == at).fold(0, |m, l| m | 1 << l);
        left &= !same;
        if let Spot::Global(map) = core.spot(Space::Generic, at, w.cta) {
            keep(core, MapFence { map, warp: w.id, lanes: same, time, clock: clock.clone() });
        }
    }
}

fn keep(core: &mut Core<'_>, fence: MapFence) {
    let like = |f: &MapFence| (f.warp, f.map) == (fence.warp, fence.map);
    if core.map_fences.iter().filter(|f| like(f)).count() >= KEPT
        && let Some(oldest) = core.map_fences.iter().position(like)
    {
        core.map_fences.remove(oldest);
    }
    core.map_fences.push(fence);
}

/// Reports R04 if a map at a global address was written here and no fence stands between that and the copy.
pub(crate) fn check(core: &mut Core<'_>, w: &Warp, actor: &Actor, addr: u64) {
    if !core.race {
        return;
    }
    let passed = |f: &MapFence| {
        let known = |f: &MapFence| actor.clock.seen.behind(core.home, f.warp, f.lanes, f.time) != f.lanes;
        f.map == addr && (f.warp == w.id || known(f))
    };
    let fences: Vec<Rc<Clock>> =
        core.map_fences.iter().filter(|f| passed(f)).map(|f| f.clock.clone()).collect();
    let unfenced = |a: &&Access| a.act == Act::Write && !fences.iter().any(|clock| a.known(clock));
    let mut late = None;
    for (g, mask) in granules(addr, TENSOR_MAP_BYTES as u64) {
        let Some(granule) = core.world.shadow.at(g) else { continue };
        late = late.or(granule.seen.list().iter().filter(|a| a.mask & mask != 0).find(unfenced).copied());
    }
    let Some(write) = late else { return };
    let extent = Some(core.global_extent(addr, addr + TENSOR_MAP_BYTES as u64));
    let message = "a copy uses a tensor map that this kernel writes, without a fence for maps between";
    let remedy =
        "fence.proxy.tensormap::generic.acquire of the map before the copy, behind the writer's release";
    core.report("R04", Severity::Error, actor, Some(&write), extent, message, remedy);
}

/// The copy reads its map: whoever changes it before the copy is over races with it.
pub(crate) fn read(core: &mut Core<'_>, operation: &Actor, at: Option<u64>) {
    if let Some(at) = at {
        core.touch_global(at, TENSOR_MAP_BYTES as u64, operation, Act::Read);
    }
}
