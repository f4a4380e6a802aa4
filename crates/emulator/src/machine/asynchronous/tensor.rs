//! Tensor copies between global and shared memory (E31-E33).

use super::signal;
use crate::isa::op::{AtomOp, CopyWay};
use crate::machine::actor::Actor;
use crate::machine::core::Core;
use crate::machine::exec::{atomics, maps};
use crate::machine::operations::{Operation, TensorWork, Work};
use crate::machine::tensormap::ElemType;
use crate::race::access::Act;
use crate::race::channel::{Kind, channel};
use crate::report::Severity;

/// The bytes that stand for elements outside of the tensor.
fn filler(elem: ElemType, nan: bool) -> [u8; 8] {
    if !nan {
        return [0; 8];
    }
    match elem {
        ElemType::F16 | ElemType::BF16 => [0xff, 0x7f, 0xff, 0x7f, 0xff, 0x7f, 0xff, 0x7f],
        ElemType::F64 => 0x7fff_ffff_ffff_ffff_u64.to_le_bytes(),
        _ => 0x7fff_ffff_7fff_ffff_u64.to_le_bytes(),
    }
}

/// Loads read global, write shared, signal. Stores read shared, write global.
pub(crate) fn advance(core: &mut Core<'_>, op: &mut Operation) -> bool {
    let actor = op.actor(true);
    let generic = op.actor(false);
    let writer = op.actor_as(Kind::BulkWrite, true);
    let (warp, number, stage) = (op.warp, op.number, op.stage);
    let Work::Tensor(t) = &mut op.work else { return true };
    if stage == 0 {
        maps::read(core, &generic, t.map_at);
    }
    match (t.way, stage) {
        (CopyWay::Load, 0) => {
            read_global(core, t, &actor);
            false
        }
        (CopyWay::Load, 1) => {
            for cta in t.ctas.clone() {
                write_shared(core, t, cta, &actor);
            }
            core.stats.bytes_copied += t.bytes();
            false
        }
        (CopyWay::Load, _) => {
            let mut learnt = core.empty_clock();
            learnt.complete(channel(warp, Kind::BulkLoad), number);
            if let Some((at, home)) = t.mbar {
                for cta in t.ctas.clone() {
                    signal::complete(core, &generic, home.unwrap_or(cta), at, t.bytes_told(), &learnt);
                }
            }
            true
        }
        (CopyWay::Store | CopyWay::Reduce(_), 0) => {
            read_shared(core, t, &actor);
            false
        }
        (CopyWay::Store, _) => {
            write_global(core, t, None, &writer);
            true
        }
        (CopyWay::Reduce(o), _) => {
            write_global(core, t, Some(o), &writer);
            true
        }
        _ => true,
    }
}

fn read_global(core: &mut Core<'_>, t: &mut TensorWork, actor: &Actor) {
    t.data = vec![0; t.bytes() as usize];
    let fill = filler(t.map.elem, t.map.nan_fill);
    if t.map.nan_fill {
        let e = t.map.elem.bytes() as usize;
        for chunk in t.data.chunks_mut(e) {
            for (d, s) in chunk.iter_mut().zip(fill.iter()) {
                *d = *s;
            }
        }
    }
    for row in t.rows() {
        let Some((offset, addr, len)) = row.inside else { continue };
        if !core.global_bounds(addr, len, actor) {
            return;
        }
        let (e, shared) = (t.map.elem.bytes(), t.map.elem.bytes_shared());
        // What stays together in shared memory, and where it begins there.
        let part = if e == shared { len.max(1) } else { e };
        for done in (0..len).step_by(part as usize) {
            let at = (row.linear + (offset + done) / e * shared) as usize;
            if let Some(out) = t.data.get_mut(at..at + part as usize) {
                // Bounds were just checked.
                let _ = core.world.global.read(addr + done, out);
            }
        }
        core.touch_global(addr, len, actor, Act::Read);
    }
}

/// Moves the box between `data` and shared memory in 16-byte chunks, swizzled.
fn write_shared(core: &mut Core<'_>, t: &TensorWork, cta: u32, actor: &Actor) {
    let len = t.bytes();
    if !core.shared_bounds(cta, t.shared, len, actor) {
        return;
    }
    let Some(c) = core.cta(cta) else { return };
    for (i, chunk) in t.data.chunks(16).enumerate() {
        let at = t.map.swizzled(t.shared + 16 * i as u64) as usize;
        if let Some(to) = c.shared.get_mut(at..at + chunk.len()) {
            to.copy_from_slice(chunk);
        }
    }
    touch_box(core, t, cta, actor, Act::Write);
}

fn read_shared(core: &mut Core<'_>, t: &mut TensorWork, actor: &Actor) {
    let len = t.bytes();
    let cta = t.ctas.first().copied().unwrap_or(0);
    t.data = vec![0; len as usize];
    if !core.shared_bounds(cta, t.shared, len, actor) {
        return;
    }
    let Some(c) = core.cta(cta) else { return };
    for (i, chunk) in t.data.chunks_mut(16).enumerate() {
        let at = t.map.swizzled(t.shared + 16 * i as u64) as usize;
        if let Some(from) = c.shared.get(at..at + chunk.len()) {
            chunk.copy_from_slice(from);
        }
    }
    touch_box(core, t, cta, actor, Act::Read);
}

/// Swizzling permutes within 128 aligned bytes, so whole multiples are one range.
fn touch_box(core: &mut Core<'_>, t: &TensorWork, cta: u32, actor: &Actor, act: Act) {
    let len = t.bytes();
    let whole = if t.map.swizzle == 0 { len } else { len / 128 * 128 };
    core.touch_shared(cta, t.shared, whole, actor, act);
    for i in (whole..len).step_by(16) {
        core.touch_shared(cta, t.map.swizzled(t.shared + i), 16.min(len - i), actor, act);
    }
}

fn write_global(core: &mut Core<'_>, t: &TensorWork, reduce: Option<AtomOp>, actor: &Actor) {
    core.stats.bytes_copied += t.bytes();
    for row in t.rows() {
        let Some((offset, addr, len)) = row.inside else { continue };
        if !core.global_bounds(addr, len, actor) {
            return;
        }
        let at = (row.linear + offset) as usize;
        let Some(bytes) = t.data.get(at..at + len as usize) else { continue };
        match reduce {
            None => {
                // Bounds were just checked.
                let _ = core.world.global.write(addr, bytes);
                core.touch_global(addr, len, actor, Act::Write);
            }
            Some(o) => {
                if !atomics::reduce_range(core, addr, bytes, o, t.map.elem) {
                    let message = format!("reduction {o:?} of {:?} elements", t.map.elem);
                    core.report(
                        "X01",
                        Severity::Error,
                        actor,
                        None,
                        None,
                        message,
                        "add, min, max, and, or, xor",
                    );
                    return;
                }
                core.touch_global(addr, len, actor, Act::Atomic);
            }
        }
    }
}
