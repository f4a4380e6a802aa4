//! Issue of asynchronous copies, their groups, and tensor maps in memory (E30-E34).

use super::flow::Flow;
use super::memory::{checked_addresses, place};
use crate::isa::op::{BulkCopy, CopyWay, CpAsync, Space, Src, TensorCopy};
use crate::machine::actor::{Actor, actor};
use crate::machine::asynchronous::issue;
use crate::machine::core::{Core, Spot};
use crate::machine::operations::{BulkWork, CpAsyncWork, LaneCopy, TensorWork, Work};
use crate::machine::tensormap::{MapView, TENSOR_MAP_BYTES};
use crate::machine::warp::{Cond, Wait, Warp};
use crate::race::channel::{Kind, channel};
use std::rc::Rc;

pub(crate) fn each(mask: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |l| mask >> l & 1 == 1)
}

/// `cp.async`.
pub(crate) fn cp_async(core: &mut Core<'_>, w: &mut Warp, c: &CpAsync, pc: u32, mask: u32) -> Flow {
    let (dst, lanes) = checked_addresses(core, w, c.dst, pc, mask);
    let (src, lanes) = {
        let (s, l) = checked_addresses(core, w, c.src, pc, lanes);
        (s, l & lanes)
    };
    let sizes = c.src_size.map(|s| w.value(core, s));
    let ignored = c.ignore.map_or(0, |p| w.predicate(p));
    let a = actor(w, pc, mask);
    let mut copies = Vec::new();
    for l in each(lanes) {
        let one = Actor { lanes: 1 << l, ..a.clone() };
        let (d, s) = (dst[l as usize], src[l as usize]);
        let size = u64::from(c.bytes);
        if d % size != 0 || s % size != 0 {
            let message = format!("cp.async of {size} bytes from {s:#x} to shared {d:#x}");
            core.error("A02", &one, message, "both addresses must be multiples of the size");
            continue;
        }
        let Spot::Shared(cta, at) = core.spot(Space::Shared, d, w.cta) else {
            core.error(
                "A03",
                &one,
                "the destination of cp.async is not in shared memory",
                "mend the address",
            );
            continue;
        };
        let Spot::Global(g) = core.spot(Space::Generic, s, w.cta) else {
            core.error("A03", &one, "the source of cp.async is not in global memory", "mend the address");
            continue;
        };
        let asked = sizes.map_or(c.bytes, |v| v[l as usize] as u32);
        if asked > c.bytes {
            core.error(
                "A01",
                &one,
                format!("source size {asked} above {}", c.bytes),
                "it may only shrink the copy",
            );
        }
        let valid = if ignored >> l & 1 == 1 { 0 } else { asked.min(c.bytes) };
        copies.push(LaneCopy { lane: l, dst: (cta, at), src: g, valid });
    }
    drop(a);
    let n = issue(core, w, Kind::CpAsync, mask, pc, Work::CpAsync(CpAsyncWork::new(c.bytes, copies)));
    w.cp_async.open.push((n, mask));
    Flow::Next
}

/// `cp.async.wait_group`, `wait_all`.
pub(crate) fn wait_cp_async(core: &mut Core<'_>, w: &mut Warp, keep: u32, all: bool, mask: u32) -> Flow {
    if all && !w.cp_async.open.is_empty() {
        // wait_all covers what was never committed.
        w.cp_async.commit(mask);
    }
    let covered = w.cp_async.covered(keep, mask);
    if covered.iter().any(|n| core.in_flight(w.id, Kind::CpAsync, *n)) {
        return Flow::Stay(Wait::Retry(Cond::CpAsync { keep }));
    }
    if core.race {
        Rc::make_mut(&mut w.clock).copied(w.id, &covered);
    }
    w.cp_async.forget(keep, mask);
    Flow::Next
}

/// `cp.async.bulk.wait_group`.
pub(crate) fn wait_bulk(core: &mut Core<'_>, w: &mut Warp, keep: u32, read: bool, mask: u32) -> Flow {
    let covered = w.bulk.covered(keep, mask);
    let busy = |n: &u32| {
        if read {
            core.before_event(w.id, Kind::BulkStore, *n, 1)
        } else {
            core.in_flight(w.id, Kind::BulkStore, *n)
        }
    };
    if covered.iter().any(busy) {
        return Flow::Stay(Wait::Retry(Cond::Bulk { keep, read }));
    }
    if core.race {
        let mut over = core.empty_clock();
        for n in covered {
            over.complete(channel(w.id, Kind::BulkStore), n);
            if !read {
                over.complete(channel(w.id, Kind::BulkWrite), n);
            }
        }
        w.learn(mask, &over);
    }
    if !read {
        w.bulk.forget(keep, mask);
    }
    Flow::Next
}

/// The map at an address.
fn read_map(core: &mut Core<'_>, w: &Warp, a: &Actor, addr: u64) -> Option<MapView> {
    let align = if matches!(core.spot(Space::Generic, addr, w.cta), Spot::Param(_)) { 64 } else { 128 };
    if !addr.is_multiple_of(64) {
        core.error(
            "A02",
            a,
            format!("tensor map at {addr:#x} is not a multiple of {align}"),
            "align it (T11)",
        );
        return None;
    }
    let mut bytes = [0; TENSOR_MAP_BYTES];
    match place(core, w, a, Space::Generic, addr, TENSOR_MAP_BYTES as u64)? {
        Spot::Global(g) => {
            // Bounds were just checked.
            let _ = core.world.global.read(g, &mut bytes);
        }
        Spot::Param(p) => bytes.copy_from_slice(core.params.get(p as usize..p as usize + TENSOR_MAP_BYTES)?),
        _ => {
            core.error(
                "A03",
                a,
                "a tensor map must be a parameter, or in global or constant memory",
                "move it",
            );
            return None;
        }
    }
    match MapView::read(&bytes) {
        Ok(m) => Some(m),
        Err(why) => {
            core.error("X01", a, format!("tensor map: {why}"), "see T11 and E34");
            None
        }
    }
}

/// The CTAs that receive a copy, and the offset in each.
fn receivers(core: &mut Core<'_>, w: &Warp, multicast: Option<Src>, cta: u32, lane: u32) -> Vec<u32> {
    match multicast {
        None => vec![cta],
        Some(m) => {
            let mask = w.scalar(core, m, 1 << lane);
            (0..core.ctas.len() as u32).filter(|c| mask >> c & 1 == 1).collect()
        }
    }
}

/// Offset of the mbarrier of a load and, when it differs from the receiving CTA, its CTA (E33).
fn load_mbar(
    core: &mut Core<'_>,
    w: &Warp,
    a: &Actor,
    addr: u64,
    receiver: u32,
    pair: bool,
    multicast: bool,
) -> Option<(u64, Option<u32>)> {
    let Spot::Shared(cta, at) = core.spot(Space::SharedCluster, addr, w.cta) else {
        core.error("A03", a, "the mbarrier of a copy is not in shared memory", "pass a shared address");
        return None;
    };
    if at % 8 != 0 {
        core.error("A02", a, format!("mbarrier at shared {at}"), "align mbarriers to 8 bytes");
        return None;
    }
    if cta != receiver && !pair && !multicast {
        core.error(
            "A03",
            a,
            "the mbarrier is not in the CTA that receives the bytes",
            "use the same CTA for both",
        );
        return None;
    }
    let home = if pair { Some(cta) } else { None };
    Some((at, home.filter(|_| cta != receiver)))
}

/// Counts a signal that is on its way, for M06.
fn expect_signal(core: &mut Core<'_>, ctas: &[u32], mbar: Option<(u64, Option<u32>)>) {
    let Some((at, home)) = mbar else { return };
    for c in ctas {
        if let Some(b) = core.cta(home.unwrap_or(*c)).and_then(|c| c.mbars.get_mut(&(at as u32))) {
            b.in_flight += 1;
        }
    }
}

/// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`: each active lane issues a copy of its own.
pub(crate) fn tensor(core: &mut Core<'_>, w: &mut Warp, t: &TensorCopy, pc: u32, mask: u32) -> Flow {
    if t.way == CopyWay::Prefetch {
        return Flow::Next;
    }
    let (maps, lanes) = checked_addresses(core, w, t.map, pc, mask);
    let coords: Vec<_> = t.coords.iter().map(|c| w.value(core, *c)).collect();
    let bad = t.coords.iter().fold(0, |p, c| p | w.poison_of(*c)) as u32 & lanes;
    if bad != 0 {
        super::alu::poisoned(core, w, pc, bad, "a coordinate");
    }
    let shared = t.shared.map(|s| w.addresses(core, s));
    let mbars = t.mbar.map(|m| w.addresses(core, m));
    for l in each(lanes & !bad) {
        let a = actor(w, pc, 1 << l);
        let i = l as usize;
        let Some(map) = read_map(core, w, &a, maps[i]) else { continue };
        let map_at = match core.spot(Space::Generic, maps[i], w.cta) {
            Spot::Global(g) => Some(g),
            _ => None,
        };
        if let Some(g) = map_at {
            super::maps::check(core, w, &a, g);
        }
        let Spot::Shared(cta, at) = core.spot(Space::SharedCluster, shared.map_or(0, |s| s[i]), w.cta) else {
            core.error("A03", &a, "the shared side of the copy is not in shared memory", "mend the address");
            continue;
        };
        if at % 128 != 0 {
            core.error(
                "A02",
                &a,
                format!("tensor copy at shared {at}, not a multiple of 128"),
                "align it (T11)",
            );
            continue;
        }
        if map.rank != if t.gather { 2 } else { t.coords.len() } {
            core.error(
                "X01",
                &a,
                format!("map of rank {} in a copy of {}", map.rank, t.coords.len()),
                "match them",
            );
            continue;
        }
        let width = 16_u64 << map.swizzle;
        if map.swizzle > 0 && map.inner_bytes() != width {
            let message = format!("inner box of {} bytes with {width}-byte swizzle", map.inner_bytes());
            core.error("X01", &a, message, "make the inner box as wide as the swizzle (E32)");
            continue;
        }
        let mut c = [0_i64; 5];
        let mut rows = None;
        for (slot, v) in c.iter_mut().zip(&coords) {
            *slot = i64::from(v[i] as u32 as i32);
        }
        let together = map.elem.together() as i64;
        let stores = matches!(t.way, CopyWay::Store | CopyWay::Reduce(_));
        if c[0] % together != 0 || stores && together > 1 {
            let message = format!("copy of {:?} elements at {c:?}", map.elem);
            core.error("X01", &a, message, "load them, at a multiple of 16 elements");
            continue;
        }
        c[0] /= together;
        if t.gather {
            rows = Some([c[1], c[2], c[3], c[4]]);
            c = [c[0], 0, 0, 0, 0];
        }
        if stores && c.iter().any(|v| *v < 0) {
            core.error(
                "A01",
                &a,
                format!("store at negative coordinates {c:?}"),
                "coordinates of stores are >= 0 (T11)",
            );
        }
        let ctas = receivers(core, w, t.multicast, cta, l);
        let mbar = match mbars {
            None => None,
            Some(m) => {
                let m = load_mbar(core, w, &a, m[i], cta, t.cta_group == 2, t.multicast.is_some());
                if m.is_none() {
                    continue;
                }
                m
            }
        };
        expect_signal(core, &ctas, mbar);
        let work =
            TensorWork { way: t.way, map, map_at, coords: c, rows, ctas, shared: at, mbar, data: Vec::new() };
        drop(a);
        let kind = if stores { Kind::BulkStore } else { Kind::BulkLoad };
        let n = issue(core, w, kind, 1 << l, pc, Work::Tensor(Box::new(work)));
        if stores {
            w.bulk.open.push((n, 1 << l));
        }
    }
    Flow::Next
}

/// `cp.async.bulk`, `cp.reduce.async.bulk`.
pub(crate) fn bulk(core: &mut Core<'_>, w: &mut Warp, b: &BulkCopy, pc: u32, mask: u32) -> Flow {
    let (dst, lanes) = checked_addresses(core, w, b.dst, pc, mask);
    let (src, more) = checked_addresses(core, w, b.src, pc, lanes);
    let sizes = w.value(core, b.size);
    let mbars = b.mbar.map(|m| w.addresses(core, m));
    for l in each(lanes & more) {
        let i = l as usize;
        let a = actor(w, pc, 1 << l);
        let (d, s, size) = (dst[i], src[i], sizes[i]);
        if size % 16 != 0 || size == 0 || d % 16 != 0 || s % 16 != 0 {
            let message = format!("bulk copy of {size} bytes from {s:#x} to {d:#x}");
            core.error("A02", &a, message, "addresses and size must be multiples of 16 (T11)");
            continue;
        }
        let (from, to) = match b.way {
            CopyWay::Load => (Space::Generic, Space::SharedCluster),
            CopyWay::Peer | CopyWay::ReducePeer(_) | CopyWay::Nothing => {
                (Space::Shared, Space::SharedCluster)
            }
            _ => (Space::Shared, Space::Generic),
        };
        let (from, to) = (core.spot(from, s, w.cta), core.spot(to, d, w.cta));
        let (global, source, cta, at) = match (from, to) {
            (Spot::Global(g), Spot::Shared(c, at)) if b.way == CopyWay::Load => (g, (0, 0), c, at),
            (_, Spot::Shared(c, at)) if b.way == CopyWay::Nothing => (0, (0, 0), c, at),
            (Spot::Shared(c, s), Spot::Shared(d, at))
                if matches!(b.way, CopyWay::Peer | CopyWay::ReducePeer(_)) =>
            {
                (0, (c, s), d, at)
            }
            (Spot::Shared(c, s), Spot::Global(g)) => (g, (c, s), c, s),
            _ => {
                core.error("A03", &a, "a side of the bulk copy is in the wrong space", "mend the address");
                continue;
            }
        };
        let ctas = receivers(core, w, b.multicast, cta, l);
        let mbar = match mbars {
            None => None,
            Some(m) => {
                let m = load_mbar(core, w, &a, m[i], cta, false, b.multicast.is_some());
                if m.is_none() {
                    continue;
                }
                m
            }
        };
        expect_signal(core, &ctas, mbar);
        let stores = mbar.is_none();
        let one = |s: Src| w.scalar(core, s, 1 << l);
        let mask = b.mask.map_or(u16::MAX, |s| one(s) as u16);
        let skip = b.skip.map_or([0; 2], |s| s.map(one));
        if skip.iter().any(|n| *n > 15) {
            let message =
                format!("{} bytes at the beginning and {} at the end are left out", skip[0], skip[1]);
            core.error("A02", &a, message, "leave out 15 at most");
            continue;
        }
        let (way, ty, data) = (b.way, b.ty, Vec::new());
        let work = BulkWork { way, global, source, ctas, shared: at, size, mask, skip, ty, mbar, data };
        drop(a);
        let kind = if stores { Kind::BulkStore } else { Kind::BulkLoad };
        let n = issue(core, w, kind, 1 << l, pc, Work::Bulk(Box::new(work)));
        if stores {
            w.bulk.open.push((n, 1 << l));
        }
    }
    Flow::Next
}
