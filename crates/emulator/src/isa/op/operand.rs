//! Operands, spaces, orders: what instructions are made of.

use crate::isa::types::Ty;
use crate::race::scope::Scope;
use smallvec::SmallVec;

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
    /// Where the shared memory begins that is kept for cooperative groups.
    ReservedSmem,
    /// Where the reserved part ends.
    ReservedSmemEnd,
    /// What is always zero here: the upper halves of clocks, counters of performance, registers of the driver.
    Zero,
    /// Half of the address of the driver's memory for grid barriers: the low one, or the high one.
    GridWorkspace(bool),
}

/// A value operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Src {
    Reg(Reg),
    Imm(u64),
    /// Register plus a constant that was folded into the operand (C47).
    Plus(Reg, u64),
    Special(Special),
    /// The address of a variable in the frame of the function: bytes behind its beginning.
    Frame(u32),
}

/// What a call goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callee {
    /// A function, by its number in `Code::functions`.
    Function(u32),
    /// The function whose address this is.
    Through(Src),
    /// `vprintf(format, arguments)`
    Print,
    /// `__assertfail(message, file, line, function, size of a character)`
    Fail,
    /// `malloc(bytes)`
    Allocate,
    /// `free(address)`
    Release,
    /// `cudaMalloc(where the address goes, bytes)`
    AllocateTo,
    /// Memory for the parameters of a grid: `(kernel, grid, block, bytes of shared memory)`
    ChildBuffer,
    /// Launches it: `(that memory, stream)`
    ChildLaunch,
    /// Says that it worked.
    Success,
}

/// A call: where in the caller's frame the arguments are, and where results go.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub callee: Callee,
    pub arguments: Vec<u32>,
    pub results: Vec<u32>,
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
        /// It may not be the last of its phase.
        no_complete: bool,
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fence {
    /// `membar`, `fence.sc`, `fence.acq_rel`; `fence.acquire` and `fence.release` do one half.
    Thread {
        scope: Scope,
        acquires: bool,
        releases: bool,
        /// `fence.sc`, which is in one order with all others.
        sequential: bool,
    },
    /// `fence.proxy.async` and its spaces.
    ProxyAsync {
        shared: bool,
        global: bool,
    },
    /// `fence.proxy.tensormap` that acquires the map at an address.
    AcquireMap(Addr),
    /// `fence.proxy.tensormap` that releases: those who write maps are ordered by what else they release.
    ReleaseMap,
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
    pub scope: Scope,
    /// `.nc`: through a path that does not see writes of this kernel.
    pub constant: bool,
    /// The first guess of a loop of `atom.cas` at this address, which checks it.
    pub guess: bool,
}

/// A store.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Store {
    pub space: Space,
    pub ty: Ty,
    pub addr: Addr,
    pub srcs: SmallVec<[Src; 8]>,
    pub order: Order,
    pub scope: Scope,
    /// `st.async`: signalled on this mbarrier of the same CTA as the destination.
    pub mbar: Option<Addr>,
    /// `red.async`: what is done with the value and the bytes that are there.
    pub reduces: Option<AtomOp>,
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
    /// What `cas` puts there. 128 bits are two words, compared and swapped together.
    pub c: SmallVec<[Src; 2]>,
    pub order: Order,
    pub scope: Scope,
}
