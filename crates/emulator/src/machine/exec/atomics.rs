//! `atom`, `red`, and the arithmetic of bulk reductions.

use super::alu::{poison_lanes, poisoned};
use super::flow::Flow;
use super::memory::{aligned, checked_addresses, place};
use super::order;
use super::touched::Touched;
use crate::isa::cvt::format;
use crate::isa::op::{Atom, AtomOp};
use crate::isa::types::{Ty, low_mask, sign_extend};
use crate::machine::actor::{Actor, actor};
use crate::machine::core::{Core, Spot};
use crate::machine::tensormap::ElemType;
use crate::machine::warp::Warp;
use crate::number::{Rounding, float};
use crate::race::access::Act;

/// The new value of an atomic; `None` for an operation that the type does not have.
fn apply(op: AtomOp, ty: Ty, old: u64, b: u64, c: u64) -> Option<u64> {
    let bits = ty.bits();
    let (old, b) = (old & low_mask(bits), b & low_mask(bits));
    let signed = |x: u64| sign_extend(x, bits) as i64;
    let new = match (op, ty) {
        (AtomOp::Exch, _) => b,
        (AtomOp::Cas, _) => {
            if old == b {
                c
            } else {
                old
            }
        }
        (AtomOp::Add, Ty::F32) => {
            u64::from(float::canonical(f32::from_bits(old as u32) + f32::from_bits(b as u32)).to_bits())
        }
        (AtomOp::Add, Ty::F64) => (f64::from_bits(old) + f64::from_bits(b)).to_bits(),
        (AtomOp::Add | AtomOp::Min | AtomOp::Max, Ty::F16 | Ty::BF16 | Ty::F16x2 | Ty::BF16x2) => {
            let f = format(ty)?;
            let half = |s: u32| {
                let (x, y) = (f.decode((old >> s) as u32 & 0xffff), f.decode((b >> s) as u32 & 0xffff));
                let z = match op {
                    AtomOp::Add => x + y,
                    AtomOp::Min => f64::from(float::min(x as f32, y as f32)),
                    _ => f64::from(float::max(x as f32, y as f32)),
                };
                u64::from(f.encode(z, Rounding::Even, false)) << s
            };
            if bits == 32 { half(0) | half(16) } else { half(0) }
        }
        (AtomOp::Min, Ty::F32) => {
            u64::from(float::min(f32::from_bits(old as u32), f32::from_bits(b as u32)).to_bits())
        }
        (AtomOp::Max, Ty::F32) => {
            u64::from(float::max(f32::from_bits(old as u32), f32::from_bits(b as u32)).to_bits())
        }
        _ if !ty.integer() => return None,
        (AtomOp::Add, _) => old.wrapping_add(b),
        (AtomOp::Min, _) if ty.signed() => signed(old).min(signed(b)) as u64,
        (AtomOp::Max, _) if ty.signed() => signed(old).max(signed(b)) as u64,
        (AtomOp::Min, _) => old.min(b),
        (AtomOp::Max, _) => old.max(b),
        (AtomOp::And, _) => old & b,
        (AtomOp::Or, _) => old | b,
        (AtomOp::Xor, _) => old ^ b,
        (AtomOp::Inc, _) => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        (AtomOp::Dec, _) => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
    };
    Some(new & low_mask(bits))
}

/// As [`apply`], where it happens: f32 are added without subnormals in global memory, and with them in shared memory.
fn applied(spot: Spot, op: AtomOp, ty: Ty, old: u64, b: u64, c: u64) -> Option<u64> {
    if (op, ty) != (AtomOp::Add, Ty::F32) || !matches!(spot, Spot::Global(_)) {
        return apply(op, ty, old, b, c);
    }
    let flush = |x: u64| u64::from(float::flush(f32::from_bits(x as u32)).to_bits());
    apply(op, ty, flush(old), flush(b), c).map(flush)
}

/// `atom` and `red`, lane after lane.
pub(crate) fn atomic(core: &mut Core<'_>, w: &mut Warp, x: &Atom, pc: u32, mask: u32) -> Flow {
    let (addrs, lanes) = checked_addresses(core, w, x.addr, pc, mask);
    let e = x.ty.bytes() as usize;
    let size = e * x.b.len();
    let values: Vec<_> = x.b.iter().map(|s| w.value(core, *s)).collect();
    let swaps: Vec<_> = x.c.iter().map(|s| w.value(core, *s)).collect();
    // Two words that are exchanged are one of 128 bits.
    let whole = x.b.len() == 2 && matches!(x.op, AtomOp::Cas | AtomOp::Exch);
    let a = actor(w, pc, mask);
    let mut old_values = vec![[0_u64; 32]; x.b.len()];
    let mut touched = Touched::default();
    let mut changed = false;
    let mut one = a.clone();
    for lane in (0..32).filter(|i| lanes >> i & 1 == 1) {
        let addr = addrs[lane as usize];
        one.lanes = 1 << lane;
        if !aligned(core, &one, addr, size as u64, "atomic") {
            continue;
        }
        let Some(spot) = place(core, w, &one, x.space, addr, size as u64) else { continue };
        let l = lane as usize;
        let same =
            |core: &mut Core<'_>| (0..).zip(&values).all(|(i, v)| read(core, spot, i * e as u64, e) == v[l]);
        let keeps = whole && x.op == AtomOp::Cas && !same(core);
        for (i, v) in values.iter().enumerate() {
            let at = (i * e) as u64;
            let old = read(core, spot, at, e);
            if let Some(slot) = old_values.get_mut(i) {
                slot[l] = old;
            }
            let swap = swaps.get(i).map_or(0, |v| v[l]);
            let new = if keeps { None } else { applied(spot, x.op, x.ty, old, v[l], swap) }.unwrap_or(old);
            changed |= new != old;
            write(core, spot, at, e, new);
        }
        match spot {
            Spot::Global(g) => touched.global.push((lane, g)),
            Spot::Shared(c, at) => touched.add_shared(c, lane, at),
            _ => core.error("A03", &one, "atomic on a space that has none", "use global or shared memory"),
        }
    }
    for (d, v) in x.dsts.iter().zip(&old_values) {
        if let Some(d) = d {
            w.put(*d, v, (0, true), mask);
        }
    }
    let sources = x.b.iter().chain(&x.c).fold(0, |p, s| p | w.poison_of(*s));
    let undefined = poison_lanes(sources) & touched.global.iter().fold(0, |m, (lane, _)| m | 1 << lane);
    if undefined != 0 {
        poisoned(core, w, pc, undefined, "a value of an atomic on global memory");
    }
    core.progress += u64::from(changed);
    if !changed {
        core.polls += 1;
        w.polled = Some(pc);
    }
    // Whoever takes a lock lets others go first, so that they come to want it, or another one, meanwhile.
    let takes = changed && !x.dsts.is_empty() && matches!(x.op, AtomOp::Cas | AtomOp::Exch);
    if takes && core.pauses > 0 && core.world.pauses > 0 {
        core.pauses -= 1;
        core.world.pauses -= 1;
        w.paused = true;
    }
    if core.race {
        drop((a, one));
        order::acquire(core, w, &touched, x.order, x.scope, (!x.dsts.is_empty(), mask));
        let publishes = x.order.releases() || order::fenced(w);
        let takes = x.order.acquires() || !x.dsts.is_empty() && !core.opts.strict;
        // The halves of a pair are added one by one.
        let pairs = matches!(x.ty, Ty::F16x2 | Ty::BF16x2);
        let element = if pairs {
            2
        } else if whole {
            size as u8
        } else {
            e as u8
        };
        let a = Actor { scope: x.scope, element, publishes, takes, ..actor(w, pc, mask) };
        order::release(core, w, &touched, x.order, x.scope, mask);
        touched.record(core, size as u64, &a, Act::Atomic);
        for (cta, list) in &touched.shared {
            for (_, at) in list.iter().filter(|(lane, _)| poison_lanes(sources) >> lane & 1 == 1) {
                core.poison_shared(*cta, *at, size as u64);
            }
        }
    }
    Flow::Next
}

fn read(core: &mut Core<'_>, spot: Spot, at: u64, e: usize) -> u64 {
    let mut bytes = [0; 8];
    let Some(buf) = bytes.get_mut(..e) else { return 0 };
    match spot {
        Spot::Global(g) => {
            // Bounds were checked by the caller.
            let _ = core.world.global.read(g + at, buf);
        }
        Spot::Shared(c, s) => {
            let i = (s + at) as usize;
            if let Some(from) = core.cta(c).and_then(|c| c.shared.get(i..i + e)) {
                buf.copy_from_slice(from);
            }
        }
        _ => {}
    }
    u64::from_le_bytes(bytes)
}

fn write(core: &mut Core<'_>, spot: Spot, at: u64, e: usize, value: u64) {
    let bytes = value.to_le_bytes();
    let Some(buf) = bytes.get(..e) else { return };
    match spot {
        Spot::Global(g) => {
            let _ = core.world.global.write(g + at, buf);
        }
        Spot::Shared(c, s) => {
            let i = (s + at) as usize;
            if let Some(to) = core.cta(c).and_then(|c| c.shared.get_mut(i..i + e)) {
                to.copy_from_slice(buf);
            }
        }
        _ => {}
    }
}

/// Reduces a range of global memory with elements of a tensor map; false if the type lacks the operation.
pub(crate) fn reduce_range(core: &mut Core<'_>, addr: u64, data: &[u8], op: AtomOp, elem: ElemType) -> bool {
    let ty = match elem {
        ElemType::U8 => Ty::U8,
        ElemType::U16 => Ty::U16,
        ElemType::U32 => Ty::U32,
        ElemType::S32 => Ty::S32,
        ElemType::U64 => Ty::U64,
        ElemType::S64 => Ty::S64,
        ElemType::F16 => Ty::F16,
        ElemType::BF16 => Ty::BF16,
        ElemType::F64 => Ty::F64,
        _ => Ty::F32,
    };
    reduce_typed(core, Spot::Global(addr), data, op, ty)
}

/// As [`reduce_range`], wherever it is, with the type of an instruction.
pub(crate) fn reduce_typed(core: &mut Core<'_>, spot: Spot, data: &[u8], op: AtomOp, ty: Ty) -> bool {
    let e = ty.bytes() as usize;
    if e > 8 || matches!(op, AtomOp::Exch | AtomOp::Cas) {
        return false;
    }
    for (i, chunk) in data.chunks_exact(e).enumerate() {
        let at = (i * e) as u64;
        let b = chunk.iter().rev().fold(0_u64, |v, x| v << 8 | u64::from(*x));
        let old = read(core, spot, at, e);
        match applied(spot, op, ty, old, b, 0) {
            Some(new) => write(core, spot, at, e, new),
            None => return false,
        }
    }
    true
}
