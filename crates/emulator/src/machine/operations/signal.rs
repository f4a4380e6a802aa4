//! An arrival that an operation will make.

use crate::race::channel::Kind;

/// An arrival that waits for operations of the same warp.
#[derive(Clone, Debug)]
pub(crate) struct SignalWork {
    /// Operations of these kinds with lower numbers must be done.
    pub after: Vec<(Kind, u32)>,
    /// CTAs and offsets of the mbarriers, and arrivals at each.
    pub targets: Vec<(u32, u64, u32)>,
}

impl SignalWork {
    /// `tcgen05.commit`, not `cp.async.mbarrier.arrive`.
    pub(crate) fn is_commit(&self) -> bool {
        self.after.iter().any(|(kind, _)| *kind == Kind::TcgenMma)
    }
}
