//! `bar.warp.sync`: lanes may come to it at different places, if they name the same lanes (sm_70 and above).

use crate::isa::op::{Op, Presence, Src};
use crate::machine::core::Core;
use crate::machine::warp::{Wait, Warp};

/// All lanes that some lanes name, each by its own mask.
pub(crate) fn named(core: &Core<'_>, w: &Warp, mask: Src, lanes: u32) -> u32 {
    match mask {
        Src::Imm(m) => m as u32,
        m => {
            let masks = w.value(core, m);
            (0..32).filter(|l| lanes >> l & 1 == 1).fold(0, |all, l| all | masks[l] as u32)
        }
    }
}

/// Lanes that wait at, or stand before, a `bar.warp.sync` that names exactly these lanes.
pub(crate) fn meeting(core: &Core<'_>, w: &Warp, members: u32) -> u32 {
    parked(w, members) | standing(core, w, members)
}

/// Those that wait already.
pub(crate) fn parked(w: &Warp, members: u32) -> u32 {
    let same = |wait: &Wait| *wait == Wait::Lanes(members);
    w.blocked.iter().filter(|(_, wait)| same(wait)).fold(0, |m, (lanes, _)| m | lanes)
}

/// Those that stand before one.
fn standing(core: &Core<'_>, w: &Warp, members: u32) -> u32 {
    let free = w.live & !w.blocked_lanes();
    let there = |lane: &u32| {
        let inst = core.code.insts.get(w.pc(*lane) as usize);
        inst.is_some_and(|i| match (&i.op, i.guard) {
            (Op::BarWarp { mask }, None) => w.scalar(core, *mask, 1 << lane) as u32 == members,
            _ => false,
        })
    };
    (0..32_u32).filter(|l| free >> l & 1 == 1).filter(there).fold(0, |m, l| m | 1 << l)
}

/// All have come: they go on.
pub(crate) fn part(w: &mut Warp, members: u32) {
    w.blocked.retain(|(_, wait)| *wait != Wait::Lanes(members));
}

/// Whether lanes that have ended were waited for at a warp-wide instruction, and what they ended with did work: then they
/// were meant to come there. An early return does nothing else.
pub(crate) fn missed(core: &Core<'_>, w: &Warp, exit: u32) -> Option<(u32, u32)> {
    let insts = &core.code.insts;
    let free = w.live & !w.blocked_lanes();
    let waiting = |lane: &u32| {
        insts.get(w.pc(*lane) as usize).is_some_and(|i| i.presence == Presence::Warp && i.guard.is_none())
    };
    let lanes = (0..32_u32).filter(|l| free >> l & 1 == 1).filter(waiting).fold(0, |m, l| m | 1 << l);
    if lanes == 0 || lanes != free {
        return None;
    }
    // The last instruction of the block, unless the exit is a block by itself.
    let entered = insts.iter().any(|i| matches!(i.op, Op::Bra { target } if target == exit));
    let before = insts.get((exit as usize).checked_sub(1)?)?;
    let control = matches!(before.op, Op::Bra { .. } | Op::BrxIdx { .. } | Op::Exit | Op::Ret | Op::Trap);
    (!entered && !control).then(|| (w.pc(lanes.trailing_zeros()), lanes))
}
