//! Arrivals and byte counts that operations send to mbarriers.

use crate::machine::actor::Actor;
use crate::machine::core::Core;
use crate::machine::mbarrier::ArriveFault;
use crate::machine::operations::{Operation, Work};
use crate::race::access::Act;
use crate::race::channel::{Kind, channel};
use crate::race::clock::Clock;
use crate::report::Severity;

/// One event: arrive everywhere.
pub(crate) fn advance(core: &mut Core<'_>, op: &mut Operation) -> bool {
    let actor = op.actor(false);
    let warp = op.warp;
    let Work::Signal(s) = &op.work else { return true };
    let (after, targets, in_order) = (s.after.clone(), s.targets.clone(), s.is_commit());
    let mut learnt = core.empty_clock();
    for (kind, n) in after {
        learnt.complete_below(channel(warp, kind), n);
    }
    // Whoever sees the phase complete knows that this arrival is over, and those of earlier commits of the warp,
    // for commits complete in order (E49).
    if in_order {
        learnt.complete_below(channel(warp, Kind::Signal), op.number + 1);
    } else {
        learnt.complete(channel(warp, Kind::Signal), op.number);
    }
    for (cta, at, count) in targets {
        if let Some(b) = core.cta(cta).and_then(|c| c.mbars.get_mut(&(at as u32))) {
            b.in_flight = b.in_flight.saturating_sub(1);
        }
        arrive(core, &actor, cta, at, count, 0, false, &learnt);
    }
    true
}

/// An arrival with an optional expectation, by whomever. `expect` is added before the arrival (E25).
#[allow(clippy::too_many_arguments, reason = "an arrival has this many sides")]
pub(crate) fn arrive(
    core: &mut Core<'_>,
    actor: &Actor,
    cta: u32,
    at: u64,
    count: u32,
    expect: i64,
    drop: bool,
    carries: &Clock,
) -> Option<u64> {
    let race = core.race;
    if !use_mbarrier(core, actor, cta, at) {
        return None;
    }
    let b = core.cta(cta).and_then(|c| c.mbars.get_mut(&(at as u32)))?;
    let before = b.state();
    let early = count > 0 && b.pending == b.expected && b.seen_phase < b.phase;
    let mut fault = if expect == 0 { Ok(()) } else { b.transact(expect) };
    if fault.is_ok() && count > 0 {
        fault = b.arrive(count, drop);
    }
    if race {
        b.current.join(carries);
    }
    let (expected, arrived, phase, line) = (b.expected, b.arrived, b.phase, b.line);
    b.settle();
    core.progress += 1;
    let extent = Some(core.shared_extent(at, at + 8));
    if early {
        let message = format!(
            "first arrival of phase {phase} of the mbarrier of line {line}, but no wait saw the last phase"
        );
        let remedy = "a waiter may miss a phase: wait for it before the barrier is used again";
        core.report("M07", Severity::Note, actor, None, extent.clone(), message, remedy);
    }
    match fault {
        Ok(()) => {}
        Err(ArriveFault::TooMany) => {
            let message = format!(
                "more arrivals at the mbarrier of line {line} than the {expected} of phase {phase}: {arrived} came before"
            );
            let remedy = "initialise it with the number of arrivals of a phase, or wait for the phase first";
            core.report("M04", Severity::Error, actor, None, extent, message, remedy);
        }
        Err(ArriveFault::Range) => {
            let message = format!("the transaction count of the mbarrier of line {line} leaves +-(2^20-1)");
            core.report(
                "M05",
                Severity::Error,
                actor,
                None,
                extent,
                message,
                "await fewer bytes in a phase (T8)",
            );
        }
    }
    Some(before)
}

/// `complete_tx`: the bytes of a copy have come.
pub(crate) fn complete(core: &mut Core<'_>, actor: &Actor, cta: u32, at: u64, bytes: u64, carries: &Clock) {
    if let Some(b) = core.cta(cta).and_then(|c| c.mbars.get_mut(&(at as u32))) {
        b.in_flight = b.in_flight.saturating_sub(1);
    }
    arrive(core, actor, cta, at, 0, -(bytes as i64), false, carries);
}

/// Checks that an address holds a live mbarrier (A01, A02, M01) and records the use.
pub(crate) fn use_mbarrier(core: &mut Core<'_>, actor: &Actor, cta: u32, at: u64) -> bool {
    if !core.shared_bounds(cta, at, 8, actor) {
        return false;
    }
    let extent = Some(core.shared_extent(at, at + 8));
    if !at.is_multiple_of(8) {
        let message = format!("mbarrier at shared {at}, which is not a multiple of 8");
        core.report("A02", Severity::Error, actor, None, extent, message, "align mbarriers to 8 bytes");
        return false;
    }
    if !core.ctas.get(cta as usize).is_some_and(|c| c.mbars.contains_key(&(at as u32))) {
        let message = format!("no live mbarrier at shared {at}: used before init or after inval");
        core.report(
            "M01",
            Severity::Error,
            actor,
            None,
            extent,
            message,
            "mbarrier.init, then a barrier, then use",
        );
        return false;
    }
    core.touch_shared(cta, at, 8, actor, Act::Atomic);
    true
}
