//! Who acts: the lanes of a warp, or an asynchronous operation.

use super::warp::Warp;
use crate::race::access::{Access, Act};
use crate::race::clock::Clock;
use crate::race::scope::Scope;
use std::rc::Rc;

/// Who accesses memory: a warp's lanes or an operation.
#[derive(Clone, Debug)]
pub(crate) struct Actor {
    pub who: u32,
    pub time: u32,
    pub pc: u32,
    /// The last synchronisation before it, as an instruction index plus one.
    pub since: u32,
    pub visit: u32,
    pub lanes: u32,
    pub proxy: bool,
    /// Writes what is there already.
    pub same: bool,
    /// Whom a strong access counts for.
    pub scope: Scope,
    /// Bytes of each element of a strong access; 0 where they do not matter.
    pub element: u8,
    /// An atomic that publishes what came before it, and one that takes what others published.
    pub publishes: bool,
    pub takes: bool,
    /// CTA of the issuing warp.
    pub cta: u32,
    pub clock: Rc<Clock>,
}

impl Actor {
    pub(crate) fn access(&self, act: Act, mask: u32) -> Access {
        Access {
            home: self.clock.home(),
            who: self.who,
            time: self.time,
            pc: self.pc,
            since: self.since,
            visit: self.visit,
            lanes: self.lanes,
            mask,
            first: 0,
            stride: 0,
            rank: self.cta as u8,
            act,
            scope: self.scope,
            element: self.element,
            proxy: self.proxy,
            same: self.same,
            global: false,
            publishes: self.publishes,
            takes: self.takes,
        }
    }
}

/// Who a warp is to the memory checks.
pub(crate) fn actor(w: &Warp, pc: u32, lanes: u32) -> Actor {
    Actor {
        who: w.id,
        time: w.now,
        pc,
        since: w.since,
        visit: w.visits.get(pc as usize).copied().unwrap_or(0),
        lanes,
        proxy: false,
        same: false,
        scope: Scope::Gpu,
        element: 0,
        publishes: false,
        takes: false,
        cta: w.cta,
        clock: w.clock.clone(),
    }
}
