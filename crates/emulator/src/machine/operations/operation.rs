//! An operation in flight.

use super::bulk::{BulkWork, StAsyncWork};
use super::cp_async::CpAsyncWork;
use super::signal::SignalWork;
use super::tensor::TensorWork;
use super::tmem::TmemWork;
use super::wgmma::WgmmaWork;
use crate::machine::actor::Actor;
use crate::race::access::OPERATION;
use crate::race::channel::{Kind, channel};
use crate::race::clock::Clock;
use crate::race::scope::Scope;
use std::rc::Rc;

/// An operation in flight.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub kind: Kind,
    pub number: u32,
    pub warp: u32,
    pub cta: u32,
    pub pc: u32,
    /// The last synchronisation of the issuer before it.
    pub since: u32,
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
    CpAsync(CpAsyncWork),
    /// `cp.async.mbarrier.arrive` and `tcgen05.commit`: an arrival when earlier operations are done.
    Signal(SignalWork),
    Tensor(Box<TensorWork>),
    Bulk(Box<BulkWork>),
    StAsync(StAsyncWork),
    Wgmma(Box<WgmmaWork>),
    Tmem(Box<TmemWork>),
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
            since: self.since,
            visit: self.visit,
            lanes: match &self.work {
                Work::Tmem(t) => t.pipeline_key(),
                _ => 0,
            },
            proxy,
            same: false,
            scope: Scope::Gpu,
            element: 0,
            publishes: false,
            takes: false,
            cta: self.cta,
            clock: self.clock.clone(),
        }
    }
}
