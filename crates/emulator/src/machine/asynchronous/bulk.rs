//! Bulk copies without a tensor map, `st.async` and `red.async`.

use super::signal;
use crate::isa::op::CopyWay;
use crate::machine::actor::Actor;
use crate::machine::core::{Core, Spot};
use crate::machine::exec::atomics;
use crate::machine::operations::{Operation, Work};
use crate::race::access::Act;
use crate::race::channel::{Kind, channel};
use crate::race::scope::Scope;
use crate::report::Severity;

/// Reads, writes, signals.
pub(crate) fn advance(core: &mut Core<'_>, op: &mut Operation) -> bool {
    let (actor, generic) = (op.actor(true), op.actor(false));
    let writer = op.actor_as(Kind::BulkWrite, true);
    let (warp, number, stage) = (op.warp, op.number, op.stage);
    let Work::Bulk(b) = &mut op.work else { return true };
    let to_global = matches!(b.way, CopyWay::Store | CopyWay::Reduce(_));
    match stage {
        0 => {
            b.data = vec![0; b.size as usize];
            if b.way == CopyWay::Load {
                let (from, len) = (b.global + b.skip[0], b.size.saturating_sub(b.skip[0] + b.skip[1]));
                let part = b.skip[0] as usize..(b.skip[0] + len) as usize;
                if len > 0
                    && let Some(to) = b.data.get_mut(part)
                    && core.global_bounds(from, len, &actor)
                {
                    // Bounds were just checked.
                    let _ = core.world.global.read(from, to);
                    core.touch_global(from, len, &actor, Act::Read);
                }
            } else if b.way != CopyWay::Nothing && core.shared_bounds(b.source.0, b.source.1, b.size, &actor)
            {
                let at = b.source.1 as usize;
                if let Some(from) = core.cta(b.source.0).and_then(|c| c.shared.get(at..at + b.data.len())) {
                    b.data.copy_from_slice(from);
                }
                core.touch_shared(b.source.0, b.source.1, b.size, &actor, Act::Read);
            }
            false
        }
        1 if !to_global => {
            for cta in b.ctas.clone() {
                if core.shared_bounds(cta, b.shared, b.size, &actor) {
                    if let CopyWay::ReducePeer(o) = b.way {
                        // Its types were checked when it was decoded.
                        atomics::reduce_typed(core, Spot::Shared(cta, b.shared), &b.data, o, b.ty);
                        let element = b.ty.bytes() as u8;
                        let atomic = Actor { scope: Scope::Cluster, element, ..actor.clone() };
                        core.touch_shared(cta, b.shared, b.size, &atomic, Act::Atomic);
                        continue;
                    }
                    let at = b.shared as usize;
                    if let Some(to) = core.cta(cta).and_then(|c| c.shared.get_mut(at..at + b.data.len())) {
                        to.copy_from_slice(&b.data);
                    }
                    core.touch_shared(cta, b.shared, b.size, &actor, Act::Write);
                }
            }
            core.stats.bytes_copied += b.size;
            false
        }
        1 => {
            core.stats.bytes_copied += b.size;
            if !core.global_bounds(b.global, b.size, &writer) {
                return true;
            }
            match b.way {
                CopyWay::Reduce(o) => {
                    if !atomics::reduce_typed(core, Spot::Global(b.global), &b.data, o, b.ty) {
                        let message = format!("bulk reduction {o:?} of {:?}", b.ty);
                        core.report(
                            "X01",
                            Severity::Error,
                            &actor,
                            None,
                            None,
                            message,
                            "add, min, max, and, or",
                        );
                    }
                    core.touch_global(b.global, b.size, &writer, Act::Atomic);
                }
                _ if b.mask != u16::MAX => {
                    for (i, byte) in (0..).zip(&b.data).filter(|(i, _)| b.mask >> (i % 16) & 1 == 1) {
                        let _ = core.world.global.write(b.global + i, &[*byte]);
                        core.touch_global(b.global + i, 1, &writer, Act::Write);
                    }
                }
                _ => {
                    let _ = core.world.global.write(b.global, &b.data);
                    core.touch_global(b.global, b.size, &writer, Act::Write);
                }
            }
            true
        }
        _ => {
            let mut learnt = core.empty_clock();
            learnt.complete(channel(warp, Kind::BulkLoad), number);
            if let Some((at, home)) = b.mbar {
                for cta in b.ctas.clone() {
                    signal::complete(core, &generic, home.unwrap_or(cta), at, b.size, &learnt);
                }
            }
            true
        }
    }
}

/// Writes, then signals.
pub(crate) fn advance_store(core: &mut Core<'_>, op: &mut Operation) -> bool {
    let actor = op.actor(false);
    let (warp, number) = (op.warp, op.number);
    let Work::StAsync(s) = &op.work else { return true };
    let stores = s.stores.clone();
    if op.stage == 0 {
        for (cta, at, bytes, _) in &stores {
            if core.shared_bounds(*cta, *at, bytes.len() as u64, &actor) {
                let (i, len) = (*at as usize, bytes.len() as u64);
                let Some((op, ty)) = s.reduces else {
                    if let Some(to) = core.cta(*cta).and_then(|c| c.shared.get_mut(i..i + bytes.len())) {
                        to.copy_from_slice(bytes);
                    }
                    core.touch_shared(*cta, *at, len, &actor, Act::Write);
                    continue;
                };
                // Its types were checked when it was decoded.
                atomics::reduce_typed(core, Spot::Shared(*cta, *at), bytes, op, ty);
                let atomic = Actor { scope: Scope::Cluster, element: bytes.len() as u8, ..actor.clone() };
                core.touch_shared(*cta, *at, len, &atomic, Act::Atomic);
            }
        }
        return false;
    }
    let mut learnt = core.empty_clock();
    learnt.complete(channel(warp, Kind::StAsync), number);
    for (cta, _, bytes, mbar) in &stores {
        signal::complete(core, &actor, *cta, *mbar, bytes.len() as u64, &learnt);
    }
    true
}
