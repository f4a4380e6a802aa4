//! The compact form of each instruction.

use super::lanes::{Carry, Compare, F1, F2, F3};
use super::types::Ty;
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

/// Which way a bulk or tensor copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyWay {
    /// Global to shared, signalled on an mbarrier.
    Load,
    /// Shared to global, by bulk group.
    Store,
    /// Shared to global with an atomic operation.
    Reduce(AtomOp),
    /// Shared of this CTA to shared of the cluster, signalled on an mbarrier.
    Peer,
    Prefetch,
}

/// `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TensorCopy {
    pub way: CopyWay,
    pub shared: Option<Addr>,
    pub map: Addr,
    pub coords: SmallVec<[Src; 5]>,
    pub mbar: Option<Addr>,
    pub multicast: Option<Src>,
    pub cta_group: u8,
    /// Rows named one by one (`tile::gather4`, `tile::scatter4`).
    pub gather: bool,
}

/// `cp.async.bulk` without a tensor map.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BulkCopy {
    pub way: CopyWay,
    pub dst: Addr,
    pub src: Addr,
    pub size: Src,
    pub mbar: Option<Addr>,
    pub multicast: Option<Src>,
    pub ty: Ty,
}

/// Fields of `tensormap.replace`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MapField {
    GlobalAddress,
    Rank,
    BoxDim(u8),
    GlobalDim(u8),
    GlobalStride(u8),
    ElementStride(u8),
    ElemType,
    Interleave,
    Swizzle,
    Atomicity,
    Fill,
}

/// Number types of matrix operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatTy {
    F16,
    BF16,
    TF32,
    E4M3,
    E5M2,
    S8,
    U8,
    F64,
}

impl MatTy {
    /// Bytes of one element in memory.
    pub(crate) fn bytes(self) -> u32 {
        match self {
            MatTy::F16 | MatTy::BF16 => 2,
            MatTy::TF32 => 4,
            MatTy::E4M3 | MatTy::E5M2 | MatTy::S8 | MatTy::U8 => 1,
            MatTy::F64 => 8,
        }
    }
    pub(crate) fn integer(self) -> bool {
        matches!(self, MatTy::S8 | MatTy::U8)
    }
}

/// Types of accumulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccTy {
    F16,
    F32,
    S32,
    F64,
}

/// `mma.sync`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mma {
    pub k: u32,
    pub a_ty: MatTy,
    pub b_ty: MatTy,
    pub d_ty: AccTy,
    pub c_ty: AccTy,
    pub d: SmallVec<[Option<Reg>; 4]>,
    pub a: SmallVec<[Src; 4]>,
    pub b: SmallVec<[Src; 4]>,
    pub c: SmallVec<[Src; 4]>,
    pub saturate: bool,
}

/// Operand A of wgmma.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WgmmaA {
    Desc(Src),
    Regs(SmallVec<[Src; 4]>),
}

/// `wgmma.mma_async`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wgmma {
    pub n: u32,
    pub k: u32,
    pub a_ty: MatTy,
    pub b_ty: MatTy,
    pub d_ty: AccTy,
    pub d: Vec<Reg>,
    pub a: WgmmaA,
    pub b: Src,
    pub scale_d: PSrc,
    pub negate_a: bool,
    pub negate_b: bool,
    pub trans_a: bool,
    pub trans_b: bool,
    pub saturate: bool,
}

/// Lane-column pattern of tcgen05.ld and st (E48).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TmemShape {
    S32x32b,
    S16x64b,
    S16x128b,
    S16x256b,
    S16x32bx2,
}

/// tcgen05 operations.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tcgen {
    Alloc {
        dst: Addr,
        columns: Src,
        group: u8,
    },
    Dealloc {
        addr: Src,
        columns: Src,
        group: u8,
    },
    Relinquish {
        group: u8,
    },
    Mma(TcgenMma),
    /// Signals when earlier mma, cp and shift are done.
    Commit {
        mbar: Addr,
        multicast: Option<Src>,
        group: u8,
    },
    Ld {
        d: Vec<Option<Reg>>,
        addr: Addr,
        shape: TmemShape,
        split: u64,
        pack: bool,
    },
    St {
        s: Vec<Src>,
        addr: Addr,
        shape: TmemShape,
        split: u64,
        unpack: bool,
    },
    WaitLd,
    WaitSt,
}

/// `tcgen05.mma`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TcgenMma {
    pub group: u8,
    /// f16, tf32, f8f6f4 or i8.
    pub kind: TcgenKind,
    pub d: Addr,
    /// A descriptor, or an address in TMEM.
    pub a: TcgenA,
    pub b: Src,
    pub idesc: Src,
    /// Lanes of D that are not written.
    pub disable: SmallVec<[Src; 8]>,
    pub enable_d: PSrc,
    pub scale_d: Option<u32>,
}

/// Operand A of tcgen05.mma.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TcgenA {
    Desc(Src),
    Tmem(Addr),
}

/// The `.kind` of tcgen05.mma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TcgenKind {
    F16,
    TF32,
    F8F6F4,
    I8,
}

/// `ldmatrix` and `stmatrix`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MatrixMove {
    pub trans: bool,
    pub addr: Addr,
    pub regs: SmallVec<[Src; 4]>,
    pub dsts: SmallVec<[Option<Reg>; 4]>,
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

/// `cp.async`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CpAsync {
    pub dst: Addr,
    pub src: Addr,
    pub bytes: u32,
    pub src_size: Option<Src>,
    pub ignore: Option<PSrc>,
}

/// What an instruction does.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// Nothing that a machine without clocks or caches can see.
    Nop,
    Un {
        f: F1,
        d: Reg,
        a: Src,
    },
    Bin {
        f: F2,
        d: Reg,
        a: Src,
        b: Src,
    },
    Ter {
        f: F3,
        d: Reg,
        a: Src,
        b: Src,
        c: Src,
    },
    Carry {
        f: Carry,
        d: Reg,
        a: Src,
        b: Src,
        c: Src,
        sets: bool,
        chained: bool,
    },
    Lop3 {
        d: Reg,
        a: Src,
        b: Src,
        c: Src,
        table: u8,
    },
    Bfi {
        d: Reg,
        a: Src,
        b: Src,
        pos: Src,
        len: Src,
        bits: u8,
    },
    Setp {
        f: Compare,
        d: Option<Pred>,
        q: Option<Pred>,
        a: Src,
        b: Src,
        with: Option<(Logic, PSrc)>,
    },
    Selp {
        d: Reg,
        a: Src,
        b: Src,
        p: PSrc,
    },
    PMov {
        d: Pred,
        a: PSrc,
    },
    PLogic {
        d: Pred,
        a: PSrc,
        b: PSrc,
        logic: Logic,
    },
    Pack {
        d: Reg,
        parts: SmallVec<[Src; 4]>,
        bits: u8,
    },
    Unpack {
        d: SmallVec<[Option<Reg>; 4]>,
        a: Src,
        bits: u8,
    },
    Cvt {
        spec: super::cvt::Spec,
        d: Reg,
        a: Src,
        b: Option<Src>,
    },
    Shfl {
        mode: Shuffle,
        d: Reg,
        p: Option<Pred>,
        a: Src,
        b: Src,
        c: Src,
        mask: Src,
    },
    Vote {
        mode: Vote,
        d: Option<Reg>,
        p: Option<Pred>,
        a: PSrc,
        mask: Src,
    },
    Match {
        all: bool,
        d: Reg,
        p: Option<Pred>,
        a: Src,
        mask: Src,
    },
    Redux {
        f: F2,
        d: Reg,
        a: Src,
        mask: Src,
    },
    ActiveMask {
        d: Reg,
    },
    Elect {
        d: Option<Reg>,
        p: Option<Pred>,
        mask: Src,
    },
    BarWarp {
        mask: Src,
    },
    Bra {
        target: u32,
    },
    BrxIdx {
        index: Src,
        targets: Box<[u32]>,
    },
    Exit,
    Trap,
    Ld(Box<Load>),
    St(Box<Store>),
    Atom(Box<Atom>),
    Cvta {
        d: Reg,
        a: Src,
        space: Space,
        to: bool,
    },
    IsSpace {
        p: Pred,
        a: Src,
        space: Space,
    },
    Mapa {
        d: Reg,
        a: Src,
        rank: Src,
        generic: bool,
        get_rank: bool,
    },
    CpAsync(Box<CpAsync>),
    CpAsyncCommit,
    CpAsyncWait {
        keep: u32,
        all: bool,
    },
    Bar {
        mode: BarMode,
        id: Src,
        count: Option<Src>,
        pred: PSrc,
        d: Option<Reg>,
        p: Option<Pred>,
    },
    ClusterArrive {
        release: bool,
    },
    ClusterWait {
        acquire: bool,
    },
    Mbar {
        addr: Addr,
        space: Space,
        op: Box<MbarOp>,
    },
    MbarPending {
        d: Reg,
        a: Src,
    },
    Fence(Fence),
    Tensor(Box<TensorCopy>),
    Bulk(Box<BulkCopy>),
    BulkCommit,
    BulkWait {
        keep: u32,
        read: bool,
    },
    MapReplace {
        addr: Addr,
        space: Space,
        field: MapField,
        value: Src,
    },
    MapPublish {
        dst: Addr,
        src: Addr,
    },
    SetMaxNReg {
        inc: bool,
        count: u32,
    },
    LdMatrix(Box<MatrixMove>),
    StMatrix(Box<MatrixMove>),
    Mma(Box<Mma>),
    Wgmma(Box<Wgmma>),
    WgmmaFence,
    WgmmaCommit,
    WgmmaWait {
        keep: u32,
    },
    Tcgen(Box<Tcgen>),
}

/// Who must be present before an instruction runs (E7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Any lanes.
    Alone,
    /// All live lanes of the warp.
    Warp,
    /// The lanes named by a member mask.
    Mask(Src),
}

/// One instruction.
#[derive(Clone, Debug)]
pub(crate) struct Inst {
    pub guard: Option<(Pred, bool)>,
    pub op: Op,
    pub presence: Presence,
    pub line: u32,
    /// Index of the opcode text in `Code::opcodes`.
    pub opcode: u32,
    /// Index in `Code::locs` plus one.
    pub loc: u32,
}

impl Op {
    /// Whether other CTAs may see this in an order that the program relies on (E5).
    pub(crate) fn shares_global(&self) -> bool {
        let global = |s: Space| matches!(s, Space::Global | Space::Generic);
        match self {
            Op::Atom(a) => global(a.space),
            Op::Ld(l) => global(l.space) && l.order.strong(),
            Op::St(s) => global(s.space) && s.order.strong(),
            Op::Tensor(t) => matches!(t.way, CopyWay::Reduce(_)),
            Op::Bulk(b) => matches!(b.way, CopyWay::Reduce(_)),
            _ => false,
        }
    }
}
