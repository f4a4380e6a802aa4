//! The compact form of each instruction.

use super::lanes::{Carry, Compare, F1, F2, F3};
use super::types::Ty;
use smallvec::SmallVec;

mod copy;
mod instruction;
mod matrix;

pub(crate) use copy::*;
pub(crate) use instruction::*;
pub(crate) use matrix::*;

/// A general register of a warp, compactly numbered.
pub(crate) type Reg = u32;
/// A predicate register of a warp.
pub(crate) type Pred = u32;

/// Special registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    LaneId,
    WarpId,
    NWarpId,
    SmId,
    NSmId,
    GridId,
    Clock,
    GlobalTimer,
    LaneMask(std::cmp::Ordering, bool),
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    ClusterId(u8),
    NClusterId(u8),
    ClusterRank,
    ClusterSize,
    DynamicSmem,
    TotalSmem,
}

/// A value operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Src {
    Reg(Reg),
    Imm(u64),
    /// Register plus a constant that was folded into the operand (C47).
    Plus(Reg, u64),
    Special(Special),
}

/// A predicate operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PSrc {
    Reg(Pred, bool),
    Imm(bool),
}

/// A memory operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Addr {
    pub base: Src,
    pub offset: u64,
}

/// State spaces of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Generic,
    Global,
    Shared,
    SharedCluster,
    Local,
    Param,
    Const,
}

/// Memory order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Weak,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
}

impl Order {
    pub(crate) fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel)
    }
    pub(crate) fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel)
    }
    pub(crate) fn strong(self) -> bool {
        self != Order::Weak
    }
}

/// Operations of `atom`, `red` and bulk reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Inc,
    Dec,
    Exch,
    Cas,
}

/// Logic of predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logic {
    And,
    Or,
    Xor,
}

/// `shfl.sync` modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// `vote.sync` modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

/// Named-barrier modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarMode {
    Sync,
    Arrive,
    /// `bar.red` with its predicate.
    Popc,
    And,
    Or,
}

/// mbarrier operations.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum MbarOp {
    Init {
        count: Src,
    },
    Inval,
    Arrive {
        d: Option<Reg>,
        count: Src,
        tx: Option<Src>,
        drop: bool,
        release: bool,
    },
    ExpectTx {
        tx: Src,
    },
    CompleteTx {
        tx: Src,
    },
    /// `test_wait` or `try_wait`.
    Wait {
        p: Option<Pred>,
        parity: bool,
        value: Src,
        acquire: bool,
    },
    /// `cp.async.mbarrier.arrive`.
    CopiesArrive {
        noinc: bool,
    },
}

/// Fences that matter to the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fence {
    /// `membar`, `fence.sc`, `fence.acq_rel` of at least cta scope.
    Thread,
    /// `fence.proxy.async` and its spaces.
    ProxyAsync {
        shared: bool,
        global: bool,
    },
    /// `fence.proxy.tensormap` acquire or release.
    ProxyTensormap,
    MbarrierInit,
    TcgenBefore,
    TcgenAfter,
}

/// A load.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Load {
    pub space: Space,
    pub ty: Ty,
    pub addr: Addr,
    /// Destination registers and their width in bits.
    pub dsts: SmallVec<[Option<(Reg, u8)>; 8]>,
    pub order: Order,
}

/// A store.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Store {
    pub space: Space,
    pub ty: Ty,
    pub addr: Addr,
    pub srcs: SmallVec<[Src; 8]>,
    pub order: Order,
    /// `st.async`: signalled on this mbarrier of the same CTA as the destination.
    pub mbar: Option<Addr>,
}

/// An atomic.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Atom {
    pub space: Space,
    pub op: AtomOp,
    pub ty: Ty,
    pub addr: Addr,
    pub dsts: SmallVec<[Option<Reg>; 4]>,
    pub b: SmallVec<[Src; 4]>,
    pub c: Option<Src>,
    pub order: Order,
}
