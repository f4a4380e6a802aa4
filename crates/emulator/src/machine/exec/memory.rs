//! `ld`, `st`, `st.async`, `red.async`: per lane, with bounds, alignment and order (E19-E22).

use super::alu::{poison_lanes, poisoned};
use super::block::{Block, MOST};
use super::flow::Flow;
use super::touched::Touched;
use super::{order, overlap};
use crate::isa::lanes::Lanes;
use crate::isa::op::{Addr, Load, Space, Store};
use crate::isa::types::{low_mask, sign_extend};
use crate::machine::actor::{Actor, actor};
use crate::machine::asynchronous::issue;
use crate::machine::core::{Core, Spot};
use crate::machine::heap::Heap;
use crate::machine::operations::{StAsyncWork, Work};
use crate::machine::warp::Warp;
use crate::race::access::Act;
use crate::race::channel::Kind;
use smallvec::SmallVec;

const STALE: (&str, &str) = (
    "ld.global.nc reads bytes that this kernel writes: it may see the old ones",
    "load them without .nc, in CUDA C++ without __ldg and __restrict__",
);

/// Addresses of the lanes that may go on: U03 is reported for the others.
pub(crate) fn checked_addresses(core: &mut Core<'_>, w: &Warp, a: Addr, pc: u32, mask: u32) -> (Lanes, u32) {
    let bad = poison_lanes(w.poison_of(a.base)) & mask;
    if bad != 0 {
        poisoned(core, w, pc, bad, "an address");
    }
    (w.addresses(core, a), mask & !bad)
}

/// A02 for one lane.
pub(crate) fn aligned(core: &mut Core<'_>, a: &Actor, addr: u64, align: u64, what: &str) -> bool {
    // Few are no power of two, and a division takes long.
    let fine = if align.is_power_of_two() { addr & (align - 1) == 0 } else { addr.is_multiple_of(align) };
    if fine {
        return true;
    }
    let message = format!("{what} at {addr:#x} is not a multiple of {align}");
    core.error("A02", a, message, "align the address to the whole access");
    false
}

/// Where a lane's access goes; reports A01-A03 and gives nothing if it may not go there.
pub(crate) fn place(
    core: &mut Core<'_>,
    w: &Warp,
    a: &Actor,
    space: Space,
    addr: u64,
    size: u64,
) -> Option<Spot> {
    let spot = core.spot(space, addr, w.cta);
    let fine = match spot {
        Spot::Global(g) => core.global_bounds(g, size, a),
        Spot::Shared(c, at) => core.shared_bounds(c, at, size, a),
        Spot::Local(at) => {
            let lane = a.lanes.trailing_zeros();
            let fits = at.checked_add(size).is_some_and(|e| e <= w.stack.top(lane));
            if !fits {
                core.error(
                    "A01",
                    a,
                    format!("local address {at:#x} outside of the stack frame"),
                    "mend the index",
                );
            }
            fits
        }
        Spot::Param(at) => {
            let fits = at.checked_add(size).is_some_and(|e| e <= core.params.len() as u64);
            if !fits {
                core.error(
                    "A01",
                    a,
                    format!("parameter address {at:#x} outside of the parameters"),
                    "mend it",
                );
            }
            fits
        }
        Spot::Nowhere => {
            let (where_to, remedy) = match space {
                Space::Shared => {
                    ("not in the CTA's own shared memory", "name that of others .shared::cluster")
                }
                _ => ("in no CTA of the cluster", "mend the rank"),
            };
            core.error("A03", a, format!("address {addr:#x} is {where_to}"), remedy);
            false
        }
    };
    fine.then_some(spot)
}

/// `ld`.
pub(crate) fn load(core: &mut Core<'_>, w: &mut Warp, l: &Load, pc: u32, mask: u32) -> Flow {
    let (addrs, lanes) = checked_addresses(core, w, l.addr, pc, mask);
    let e = l.ty.bytes() as usize;
    let size = e * l.dsts.len();
    let a = actor(w, pc, mask);
    let mut out: SmallVec<[Lanes; 4]> = smallvec::smallvec![[0; 32]; l.dsts.len()];
    let mut touched = Touched::default();
    let mut from_memory = false;
    if l.order.strong() {
        core.polls += 1;
        w.polled = Some(pc);
    }
    let mut poison: SmallVec<[u64; 4]> = smallvec::smallvec![0; l.dsts.len()];
    let mut one = a.clone();
    let mut lanes = lanes;
    let block = Block::of(core, w, l.space, &addrs, lanes, size)
        .or_else(|| Block::one(core, w, l.space, &addrs, lanes, size));
    if let Some(block) = block {
        block.load(core, l, &mut out);
        (touched, from_memory, lanes) = (block.touched(), block.is_memory(), 0);
    }
    for lane in (0..32).filter(|i| lanes >> i & 1 == 1) {
        let addr = addrs[lane as usize];
        one.lanes = 1 << lane;
        if !aligned(core, &one, addr, size as u64, "load") {
            continue;
        }
        let Some(spot) = place(core, w, &one, l.space, addr, size as u64) else { continue };
        let mut bytes = [0_u8; 64];
        let Some(buf) = bytes.get_mut(..size) else { continue };
        match spot {
            Spot::Global(g) => {
                // Bounds were just checked.
                let _ = core.world.global.read(g, buf);
                touched.global.push((lane, g));
                from_memory = true;
                if core.race && Heap::holds(g) {
                    for (i, p) in poison.iter_mut().enumerate() {
                        *p |= core.unwritten_heap(g + (i * e) as u64, e as u64) << lane;
                    }
                }
            }
            Spot::Shared(c, at) => {
                let at = at as usize;
                if let Some(s) = core.ctas.get(c as usize).and_then(|c| c.shared.get(at..at + size)) {
                    buf.copy_from_slice(s);
                }
                touched.add_shared(c, lane, at as u64);
                from_memory = true;
                if core.holds_poison(c, at as u64, size as u64) {
                    for (i, p) in poison.iter_mut().enumerate() {
                        *p |= poisoned_halves(core, c, (at + i * e) as u64, e as u64) << lane;
                    }
                }
            }
            Spot::Local(at) => {
                w.stack.read(lane, at, buf);
            }
            Spot::Param(at) => {
                if let Some(s) = core.params.get(at as usize..at as usize + size) {
                    buf.copy_from_slice(s);
                }
            }
            Spot::Nowhere => {}
        }
        split(l, buf, lane as usize, &mut out);
    }
    for ((v, reg), poison) in out.iter().zip(&l.dsts).zip(poison) {
        if let Some((r, _)) = reg {
            w.put(*r, v, (poison, from_memory), mask);
        }
    }
    if core.race {
        let guess = l.guess && !core.opts.strict;
        let act = if l.order.strong() || guess { Act::Atomic } else { Act::Read };
        if l.order.strong() {
            order::acquire(core, w, &touched, l.order, l.scope, (false, mask));
        }
        drop((a, one));
        let element = if guess { 0 } else { e as u8 };
        let a = Actor { scope: l.scope, element, ..actor(w, pc, mask) };
        if l.constant {
            core.touch_constant(&touched.global, size as u64, &a, STALE);
        }
        let before = core.undefined;
        touched.record(core, size as u64, &a, act);
        if core.undefined != before {
            poison_loaded(core, w, l, &touched);
        }
    }
    Flow::Next
}

/// Registers that hold bytes which nobody has written are poison: whoever does not use them may have loaded them.
fn poison_loaded(core: &Core<'_>, w: &mut Warp, l: &Load, touched: &Touched) {
    let e = u64::from(l.ty.bytes());
    for (cta, list) in &touched.shared {
        for ((r, _), offset) in l.dsts.iter().zip(0..).filter_map(|(reg, i)| Some(((*reg)?, i * e))) {
            if let Some(p) = w.poison.get_mut(r as usize) {
                *p = list
                    .iter()
                    .fold(*p, |p, (lane, at)| p | poisoned_halves(core, *cta, at + offset, e) << lane);
            }
        }
    }
}

/// Makes the bytes of a lane the values of its registers.
fn split(l: &Load, bytes: &[u8], lane: usize, out: &mut [Lanes]) {
    for ((chunk, reg), slot) in bytes.chunks(l.ty.bytes() as usize).zip(&l.dsts).zip(out) {
        let Some((_, width)) = reg else { continue };
        let raw = word(chunk);
        let v = if l.ty.signed() { sign_extend(raw, l.ty.bits()) } else { raw };
        slot[lane] = v & low_mask(u32::from(*width));
    }
}

/// Makes the values of a lane's registers bytes.
fn join(values: &[Lanes], lane: usize, e: usize, bytes: &mut [u8]) {
    for (chunk, v) in bytes.chunks_mut(e).zip(values) {
        let raw = v[lane].to_le_bytes();
        for (d, b) in chunk.iter_mut().zip(raw) {
            *d = b;
        }
    }
}

/// A number of 1, 2, 4 or 8 bytes.
fn word(bytes: &[u8]) -> u64 {
    match *bytes {
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        _ => bytes.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b)),
    }
}

/// Poison of an element of shared memory, as bit 0 for the low half of a register and bit 32 for the high one.
fn poisoned_halves(core: &Core<'_>, cta: u32, at: u64, bytes: u64) -> u64 {
    let low = core.holds_poison(cta, at, bytes.min(4));
    let high = if bytes > 4 { core.holds_poison(cta, at + 4, bytes - 4) } else { low };
    u64::from(low) | u64::from(high) << 32
}

/// Bytes of the widest store of a lane: what `discard` takes.
const WIDEST: usize = 128;

/// `st`, `st.async` and `red.async`.
pub(crate) fn store(core: &mut Core<'_>, w: &mut Warp, s: &Store, pc: u32, mask: u32) -> Flow {
    let (addrs, lanes) = checked_addresses(core, w, s.addr, pc, mask);
    let e = s.ty.bytes() as usize;
    let size = e * s.srcs.len();
    let a = actor(w, pc, mask);
    let values: SmallVec<[Lanes; 4]> = s.srcs.iter().map(|v| w.value(core, *v)).collect();
    let poison = poison_lanes(s.srcs.iter().fold(0, |p, v| p | w.poison_of(*v))) & lanes;
    let mut touched = Touched::default();
    let mut later = Vec::new();
    let mut undefined = Vec::new();
    let mut same = true;
    let mbars = s.mbar.map(|m| w.addresses(core, m));
    let mut one = a.clone();
    let mut rest = lanes;
    if poison == 0
        && mbars.is_none()
        && let Some(block) = Block::of(core, w, s.space, &addrs, lanes, size)
    {
        let mut room = [0; MOST];
        let bytes = room.get_mut(..block.bytes()).unwrap_or_default();
        for (lane, bytes) in bytes.chunks_exact_mut(size).enumerate() {
            join(&values, lane, e, bytes);
        }
        same = block.write(core, bytes);
        (touched, rest) = (block.touched(), 0);
    }
    for lane in (0..32).filter(|i| rest >> i & 1 == 1) {
        let addr = addrs[lane as usize];
        one.lanes = 1 << lane;
        if !aligned(core, &one, addr, size as u64, "store") {
            continue;
        }
        let Some(spot) = place(core, w, &one, s.space, addr, size as u64) else { continue };
        let mut bytes = [0_u8; WIDEST];
        join(&values, lane as usize, e, &mut bytes);
        let Some(buf) = bytes.get(..size) else { continue };
        match spot {
            Spot::Shared(c, at) if mbars.is_some() => {
                let m = mbars.map_or(0, |m| m[lane as usize]);
                if let Spot::Shared(mc, m_at) = core.spot(Space::SharedCluster, m, w.cta)
                    && mc == c
                {
                    later.push((c, at, buf.to_vec(), m_at));
                } else {
                    core.error(
                        "A03",
                        &one,
                        "the mbarrier is not in the CTA of the bytes that it counts",
                        "use mapa",
                    );
                }
            }
            Spot::Global(g) => {
                if poison >> lane & 1 == 1 {
                    poisoned(core, w, pc, 1 << lane, "a value stored to global memory");
                }
                let mut old = [0; WIDEST];
                if let Some(old) = old.get_mut(..size) {
                    let _ = core.world.global.read(g, old);
                    same &= old == buf;
                }
                let _ = core.world.global.write(g, buf);
                touched.global.push((lane, g));
            }
            Spot::Shared(c, at) => {
                let i = at as usize;
                if let Some(to) = core.cta(c).and_then(|c| c.shared.get_mut(i..i + size)) {
                    same &= to == buf;
                    to.copy_from_slice(buf);
                }
                touched.add_shared(c, lane, at);
                if poison >> lane & 1 == 1 {
                    for (i, v) in s.srcs.iter().enumerate() {
                        let (p, first) = (w.poison_of(*v) >> lane, at + (i * e) as u64);
                        if e <= 4 && p & 1 == 1 {
                            undefined.push((c, first, e as u64));
                        }
                        for half in 0..2 {
                            if e == 8 && p >> (32 * half) & 1 == 1 {
                                undefined.push((c, first + 4 * half, 4));
                            }
                        }
                    }
                }
            }
            Spot::Local(at) => {
                w.stack.write(lane, at, buf);
            }
            Spot::Param(_) | Spot::Nowhere => {
                core.error("A03", &one, "store to a read-only space", "parameters are constants");
            }
        }
    }
    if !later.is_empty() {
        for (c, _, _, m) in &later {
            if let Some(b) = core.cta(*c).and_then(|c| c.mbars.get_mut(&(*m as u32))) {
                b.in_flight += 1;
            }
        }
        drop((a, one));
        let work = Work::StAsync(StAsyncWork { stores: later, reduces: s.reduces.map(|op| (op, s.ty)) });
        issue(core, w, Kind::StAsync, lanes, pc, work);
        return Flow::Next;
    }
    core.progress += u64::from(!same);
    if core.race {
        if s.order.strong() {
            drop((a, one));
            let a = Actor { scope: s.scope, element: e as u8, ..actor(w, pc, mask) };
            order::overwrite(core, &touched);
            order::release(core, w, &touched, s.order, s.scope, mask);
            touched.record(core, size as u64, &a, Act::Atomic);
            for (cta, list) in &touched.shared {
                list.iter().for_each(|(_, at)| core.define_shared(*cta, *at, size as u64));
            }
            touched.global.iter().for_each(|(_, at)| core.define_heap(*at, size as u64));
        } else {
            order::overwrite(core, &touched);
            overlap::check(core, &touched, &values, s.ty.bits(), size as u64, &a);
            touched.record(core, size as u64, &Actor { same, ..a }, Act::Write);
        }
        for (c, at, bytes) in undefined {
            core.poison_shared(c, at, bytes);
        }
    }
    Flow::Next
}
