//! Operations begin.

use crate::machine::core::Core;
use crate::machine::operations::{Operation, Work};
use crate::machine::warp::Warp;
use crate::race::channel::{Kind, channel};
use std::rc::Rc;

/// Issues an operation for some lanes of a warp; returns its number in the channel.
pub(crate) fn issue(core: &mut Core<'_>, w: &mut Warp, kind: Kind, lanes: u32, pc: u32, work: Work) -> u32 {
    let time = w.now;
    let clock = if core.race { Rc::new(w.release(lanes)) } else { w.clock.clone() };
    let slot = channel(w.id, kind) as usize;
    let number = core.numbers.get(slot).copied().unwrap_or(0);
    if let Some(n) = core.numbers.get_mut(slot) {
        *n += 1;
    }
    if core.race
        && let Some(list) = core.issued.get_mut(slot)
    {
        list.push(pc);
    }
    if core.race && matches!(kind, Kind::TcgenMma | Kind::TcgenLd | Kind::TcgenSt) {
        core.tmem_issue.insert((channel(w.id, kind), number), (time, w.tcgen_after.clone()));
    }
    let visit = w.visits.get(pc as usize).copied().unwrap_or(0);
    core.stats.operations += 1;
    core.progress += 1;
    core.ops.push(Operation {
        kind,
        number,
        warp: w.id,
        cta: w.cta,
        pc,
        since: w.since,
        visit,
        clock,
        issued: core.steps,
        stage: 0,
        work,
    });
    number
}

impl Core<'_> {
    /// Whether an operation is still in flight.
    pub(crate) fn in_flight(&self, warp: u32, kind: Kind, number: u32) -> bool {
        self.ops.iter().any(|o| o.warp == warp && o.kind == kind && o.number == number)
    }

    /// Whether an operation has not yet done its first `events` events.
    pub(crate) fn before_event(&self, warp: u32, kind: Kind, number: u32, events: u8) -> bool {
        self.ops.iter().any(|o| o.warp == warp && o.kind == kind && o.number == number && o.stage < events)
    }
}
