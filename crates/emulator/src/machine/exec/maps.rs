//! Order between those who write a tensor map in global memory and the copies that read it (E34).
//!
//! Copies read maps through a proxy of their own: a map that the kernel writes is theirs only behind
//! `fence.proxy.tensormap`, and must stay as it is until they are over.

use crate::machine::actor::Actor;
use crate::machine::core::Core;
use crate::machine::map_fence::MapFence;
use crate::machine::tensormap::TENSOR_MAP_BYTES;
use crate::machine::warp::Warp;
use crate::race::access::{Access, Act};
use crate::race::clock::Clock;
use crate::race::shadow::granules;
use crate::report::Severity;
use std::rc::Rc;

/// Fences of a warp that are remembered: what an older one saw the newer ones saw too.
const KEPT: usize = 16;

/// `fence.proxy.tensormap::generic.acquire`. Its address is not looked at: it counts for all maps.
pub(crate) fn fence(core: &mut Core<'_>, w: &mut Warp, lanes: u32) {
    let mut clock = w.release(lanes);
    clock.tick(w.id, lanes, w.now);
    let fence = MapFence { warp: w.id, lanes, time: w.now, clock: Rc::new(clock) };
    w.now += 1;
    let kept = core.map_fences.iter().filter(|f| f.warp == w.id).count();
    if kept >= KEPT
        && let Some(oldest) = core.map_fences.iter().position(|f| f.warp == w.id)
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
        f.warp == w.id || actor.clock.seen.behind(core.home, f.warp, f.lanes, f.time) != f.lanes
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
