//! Asynchronous operations: agents of their own, with events that are scheduled one by one (E8).

pub(crate) mod bulk;
pub(crate) mod cp_async;
pub(crate) mod products;
pub(crate) mod signal;
pub(crate) mod tensor;
pub(crate) mod tmem;
pub(crate) mod wgmma;

use super::core::{Actor, Core};
use super::warp::Warp;
use crate::race::clock::{Clock, KINDS, Kind, channel};
use crate::race::shadow::OPERATION;
use std::rc::Rc;

/// An operation in flight.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub kind: Kind,
    pub number: u32,
    pub warp: u32,
    pub cta: u32,
    pub pc: u32,
    pub visit: u32,
    /// What the issuer knew.
    pub clock: Rc<Clock>,
    /// Steps of the cluster at issue.
    pub issued: u64,
    /// Events done.
    pub stage: u8,
    pub work: Work,
}

/// What an operation does.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    CpAsync(cp_async::CpAsyncWork),
    /// `cp.async.mbarrier.arrive` and `tcgen05.commit`: an arrival when earlier operations are done.
    Signal(signal::SignalWork),
    Tensor(Box<tensor::TensorWork>),
    Bulk(Box<bulk::BulkWork>),
    StAsync(bulk::StAsyncWork),
    Wgmma(Box<wgmma::WgmmaWork>),
    Tmem(Box<tmem::TmemWork>),
}

impl Operation {
    /// Who accesses memory for this operation.
    pub(crate) fn actor(&self, proxy: bool) -> Actor {
        self.actor_as(self.kind, proxy)
    }

    pub(crate) fn actor_as(&self, kind: Kind, proxy: bool) -> Actor {
        Actor {
            who: OPERATION | channel(self.warp, kind),
            time: self.number,
            pc: self.pc,
            visit: self.visit,
            lanes: match &self.work {
                Work::Tmem(t) => t.pipeline_key(),
                _ => 0,
            },
            proxy,
            same: false,
            cta: self.cta,
            clock: self.clock.clone(),
        }
    }
}

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

/// Whether the next event of an operation may happen now.
pub(crate) fn ready(core: &Core<'_>, op: &Operation) -> bool {
    match &op.work {
        Work::Signal(s) => !core.ops.iter().any(|o| {
            let earlier_commit =
                s.is_commit() && o.number < op.number && matches!(&o.work, Work::Signal(t) if t.is_commit());
            let awaited = s.after.iter().any(|(kind, n)| o.kind == *kind && o.number < *n);
            o.warp == op.warp && (earlier_commit || awaited)
        }),
        // The products of one warp run in order: only the same accumulators have to, more would be a guess (E42).
        Work::Wgmma(_) => {
            !core.ops.iter().any(|o| o.warp == op.warp && o.kind == Kind::Wgmma && o.number < op.number)
        }
        Work::Tmem(t) => tmem::ready(core, op, t),
        _ => true,
    }
}

/// Does the next event of the operation at `index`.
pub(crate) fn advance(core: &mut Core<'_>, warps: &mut [Warp], index: usize) {
    if index >= core.ops.len() {
        return;
    }
    let mut op = core.ops.remove(index);
    let finished = match &mut op.work {
        Work::CpAsync(_) => cp_async::advance(core, &mut op),
        Work::Signal(_) => signal::advance(core, &mut op),
        Work::Tensor(_) => tensor::advance(core, &mut op),
        Work::Bulk(_) => bulk::advance(core, &mut op),
        Work::StAsync(_) => bulk::advance_store(core, &mut op),
        Work::Wgmma(_) => wgmma::advance(core, warps, &mut op),
        Work::Tmem(_) => tmem::advance(core, warps, &mut op),
    };
    op.stage += 1;
    core.progress += 1;
    if !finished {
        core.ops.insert(index, op);
    } else if core.opts.trace > 0 {
        core.trace_operation(&op);
    }
}

/// The number of channels of a cluster.
pub(crate) fn channels(warps: u32) -> usize {
    (warps * KINDS) as usize
}
