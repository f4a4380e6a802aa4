//! An instruction: what it does, its guard, and where it stands.

use super::copy::*;
use super::fragment::*;
use super::matrix::*;
use super::operand::*;
use super::texture::*;
use crate::isa::formula::Formula;
use crate::isa::lanes::{Carry, Compare, F1, F2, F3};
use smallvec::SmallVec;

/// How far undefined operands make a result undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// Wholly.
    Whole,
    /// The halves of a 64-bit register are two values.
    Halves,
    /// Bytes are picked: only if all operands are undefined, for bytes are not told apart.
    Bytes,
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
        join: Join,
    },
    Ter {
        f: F3,
        d: Reg,
        a: Src,
        b: Src,
        c: Src,
        join: Join,
    },
    /// `set`: a comparison to a value.
    Set {
        f: Compare,
        d: Reg,
        a: Src,
        b: Src,
        with: Option<(Logic, PSrc)>,
        /// What true is.
        yes: u64,
        /// Compares and sets the 16-bit halves apart.
        halves: bool,
    },
    /// `setp` of packed halves: one predicate for each.
    SetpHalves {
        f: Compare,
        d: Option<Pred>,
        q: Option<Pred>,
        a: Src,
        b: Src,
        with: Option<(Logic, PSrc)>,
    },
    /// `movmatrix`: an 8x8 matrix of 16-bit elements, transposed.
    MovMatrix {
        d: Reg,
        a: Src,
    },
    Carry {
        f: Carry,
        d: Reg,
        a: Src,
        b: Src,
        c: Src,
        sets: bool,
        chained: bool,
        /// The carry that a chain begins with.
        first: u32,
    },
    Lop3 {
        d: Option<Reg>,
        a: Src,
        b: Src,
        c: Src,
        table: u8,
        /// A predicate of whether the result is not zero, combined with another one.
        test: Option<(Pred, Logic, PSrc)>,
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
    /// `mov.b128`: the two halves.
    MovPair {
        d: [Option<Reg>; 2],
        a: [Src; 2],
    },
    /// What is seldom met.
    Formula {
        f: Formula,
        d: Reg,
        srcs: SmallVec<[Src; 3]>,
    },
    Cvt {
        spec: crate::isa::cvt::Spec,
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
    Call(Box<Call>),
    /// Back to the caller.
    Ret,
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
    /// `alloca`: bytes on top of the stack.
    Alloca {
        d: Reg,
        bytes: Src,
        align: u32,
    },
    /// `stacksave`: where the stack ends.
    StackSave {
        d: Reg,
    },
    /// `stackrestore`
    StackRestore {
        a: Src,
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
    WmmaLoad(Box<FragmentMove>),
    WmmaStore(Box<FragmentMove>),
    Wmma(Box<WmmaProduct>),
    Fetch(Box<Fetch>),
    Surface(Box<SurfaceAccess>),
    TextureQuery {
        d: Reg,
        handle: Src,
        level: Option<Src>,
        ask: TextureQuery,
    },
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

impl Inst {
    /// An instruction that stands nowhere in the text.
    pub(crate) fn bare(op: Op) -> Inst {
        Inst { guard: None, op, presence: Presence::Alone, line: 0, opcode: 0, loc: 0 }
    }
}

impl Op {
    /// Whether this waits for a phase of an mbarrier.
    pub(crate) fn waits_for_phase(&self) -> bool {
        matches!(self, Op::Mbar { op, .. } if matches!(**op, MbarOp::Wait { .. }))
    }

    /// Whether this orders what stands before it and what stands behind it, for this thread or others (E102).
    pub(crate) fn synchronises(&self) -> bool {
        match self {
            Op::Ld(l) => l.order.strong(),
            Op::St(s) => s.order.strong(),
            Op::Atom(a) => a.order.acquires() || a.order.releases(),
            Op::Mbar { op, .. } => !matches!(**op, MbarOp::Init { .. } | MbarOp::Inval),
            Op::Tcgen(t) => matches!(**t, Tcgen::WaitLd | Tcgen::WaitSt | Tcgen::Commit { .. }),
            Op::BarWarp { .. }
            | Op::Bar { .. }
            | Op::ClusterArrive { .. }
            | Op::ClusterWait { .. }
            | Op::Fence(_)
            | Op::CpAsyncWait { .. }
            | Op::BulkWait { .. }
            | Op::WgmmaFence
            | Op::WgmmaWait { .. } => true,
            _ => false,
        }
    }

    /// Whether it is undefined once a lane of the warp has ended, as the PTX ISA says of the instructions on matrices.
    pub(crate) fn needs_whole_warp(&self) -> bool {
        let moves = matches!(self, Op::LdMatrix(_) | Op::StMatrix(_) | Op::WmmaLoad(_) | Op::WmmaStore(_));
        moves || matches!(self, Op::MovMatrix { .. } | Op::Mma(_) | Op::Wmma(_) | Op::Wgmma(_))
    }

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
