//! Matrix moves and products, and tensor memory.

use super::operand::{Addr, PSrc, Reg, Src};
use smallvec::SmallVec;

/// Number types of matrix operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatTy {
    F16,
    BF16,
    TF32,
    E4M3,
    E5M2,
    /// Six bits of a byte, the lowest.
    E2M3,
    E3M2,
    /// Four bits of a byte, those in the middle.
    E2M1,
    /// Sixteen of six bits in front of four bytes that nobody reads, as tcgen05 finds them in shared memory.
    PaddedE2M3,
    PaddedE3M2,
    /// Sixteen of four bits in front of eight bytes that nobody reads.
    PaddedE2M1,
    /// Two in a byte.
    PackedE2M1,
    S8,
    U8,
    F64,
}

impl MatTy {
    /// Bytes of one element in memory, of `packed` ones where a byte holds two.
    pub(crate) fn bytes(self) -> u32 {
        match self {
            MatTy::F16 | MatTy::BF16 => 2,
            MatTy::TF32 => 4,
            MatTy::E4M3 | MatTy::E5M2 | MatTy::E2M3 | MatTy::E3M2 | MatTy::E2M1 | MatTy::S8 | MatTy::U8 => 1,
            MatTy::PaddedE2M3 | MatTy::PaddedE3M2 | MatTy::PaddedE2M1 | MatTy::PackedE2M1 => 1,
            MatTy::F64 => 8,
        }
    }

    /// Elements in so many bytes.
    pub(crate) fn packed(self) -> u32 {
        if self == MatTy::PackedE2M1 { 2 } else { 1 }
    }

    /// Bits of an element that shares its chunk of sixteen bytes with others, from the first bit on.
    pub(crate) fn dense(self) -> Option<u32> {
        match self {
            MatTy::PaddedE2M3 | MatTy::PaddedE3M2 => Some(6),
            MatTy::PaddedE2M1 | MatTy::PackedE2M1 => Some(4),
            _ => None,
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

impl AccTy {
    /// Bits of an element.
    pub(crate) fn bits(self) -> u32 {
        match self {
            AccTy::F16 => 16,
            AccTy::F32 | AccTy::S32 => 32,
            AccTy::F64 => 64,
        }
    }
}

/// `mma.sync`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mma {
    /// Rows: 16, or 8 for some products of f64.
    pub m: u32,
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
    /// Shared memory to tensor memory.
    Cp {
        addr: Addr,
        desc: Src,
        rows: CopyRows,
        /// 16-byte columns of the source.
        chunks: u32,
        group: u8,
    },
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
    /// Where the scales of A and B lie in TMEM, and how many there are along K.
    pub scales: Option<Box<(Addr, Addr, u32)>>,
}

/// Which lanes the rows that `tcgen05.cp` copies go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyRows {
    /// 128, each to its lane.
    All,
    /// Four, each to the first lane of a quarter.
    Four,
    /// 32, to each quarter.
    Quarters,
    /// 64: the halves to quarters 0 and 2, 1 and 3.
    Alternating,
    /// 64: the halves to quarters 0 and 1, 2 and 3.
    Neighbours,
}

impl CopyRows {
    /// Rows of the source.
    pub(crate) fn count(self) -> u32 {
        match self {
            CopyRows::All => 128,
            CopyRows::Four => 4,
            CopyRows::Quarters => 32,
            CopyRows::Alternating | CopyRows::Neighbours => 64,
        }
    }

    /// The lanes that a row goes to.
    pub(crate) fn lanes(self, row: u32) -> Vec<u32> {
        let (half, of) = (row / 32, row % 32);
        let quarters = match self {
            CopyRows::All => return vec![row],
            CopyRows::Four => return vec![32 * row],
            CopyRows::Quarters => vec![0, 1, 2, 3],
            CopyRows::Alternating => vec![half, half + 2],
            CopyRows::Neighbours => vec![2 * half, 2 * half + 1],
        };
        quarters.into_iter().map(|quarter| 32 * quarter + of).collect()
    }
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
    /// The kinds with scales of blocks.
    MxF8F6F4,
    MxF4,
    MxF4NvF4,
}

/// `ldmatrix` and `stmatrix`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MatrixMove {
    pub trans: bool,
    /// Matrices of 16x16 bytes, else of 8x8 elements of 16 bits.
    pub bytes: bool,
    pub addr: Addr,
    pub regs: SmallVec<[Src; 4]>,
    pub dsts: SmallVec<[Option<Reg>; 4]>,
}
