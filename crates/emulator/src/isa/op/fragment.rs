//! `wmma`: matrices spread over the registers of a warp.

use super::matrix::{AccTy, MatTy};
use super::operand::{Addr, Reg, Space, Src};
use smallvec::SmallVec;

/// Number types of `wmma`, with those below a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WmmaTy {
    Plain(MatTy),
    S4,
    U4,
    B1,
}

impl WmmaTy {
    /// Bits of an element.
    pub(crate) fn bits(self) -> u32 {
        match self {
            WmmaTy::Plain(t) => 8 * t.bytes(),
            WmmaTy::S4 | WmmaTy::U4 => 4,
            WmmaTy::B1 => 1,
        }
    }
}

/// Which matrix of a product a fragment is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    A,
    B,
    /// C or D.
    Sum,
}

/// What each lane holds of a matrix. The PTX ISA leaves this open; here it is that of `mma.sync`, whose tiles of eight
/// rows (columns of B) and four lanes are put side by side, so that for m16n16k16 and m16n16k8 the registers are those
/// of two `mma.sync` (E101).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fragment {
    pub part: Part,
    pub rows: u32,
    pub columns: u32,
    /// Bits of an element in memory and in registers.
    pub bits: u32,
}

impl Fragment {
    /// Different elements that a lane holds.
    pub(crate) fn elements(&self) -> u32 {
        self.rows * self.columns / 32
    }

    /// Elements of a lane that lie side by side.
    fn run(&self) -> u32 {
        if self.part == Part::Sum { 2 } else { (32 / self.bits).max(1) }
    }

    /// Row and column of an element of a lane.
    pub(crate) fn place(&self, lane: u32, element: u32) -> (u32, u32) {
        let run = self.run();
        let (tile, along) = (element / run, run * (lane & 3) + element % run);
        let (eight, wide) = (lane >> 2, 4 * run);
        if self.part == Part::B {
            let tiles = (self.rows / wide).max(1);
            return (tile % tiles * wide + along, 8 * (tile / tiles) + eight);
        }
        let tiles = (self.rows / 8).max(1);
        (8 * (tile % tiles) + eight, tile / tiles * wide + along)
    }
}

/// `wmma.load` and `wmma.store`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FragmentMove {
    pub fragment: Fragment,
    pub space: Space,
    pub addr: Addr,
    /// Elements from row to row, or from column to column.
    pub stride: Option<Src>,
    /// Columns lie together.
    pub by_column: bool,
    pub dsts: SmallVec<[Option<Reg>; 8]>,
    pub srcs: SmallVec<[Src; 8]>,
}

/// `wmma.mma`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WmmaProduct {
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub a_ty: WmmaTy,
    pub b_ty: WmmaTy,
    pub c_ty: AccTy,
    pub d_ty: AccTy,
    pub d: SmallVec<[Option<Reg>; 8]>,
    pub a: SmallVec<[Src; 8]>,
    pub b: SmallVec<[Src; 8]>,
    pub c: SmallVec<[Src; 8]>,
    pub saturate: bool,
    /// Bits are compared with xor and not with and.
    pub differ: bool,
}

impl WmmaProduct {
    /// The fragments of A, B, C and D.
    pub(crate) fn fragments(&self) -> [Fragment; 4] {
        let sum = |ty: AccTy| Fragment { part: Part::Sum, rows: self.m, columns: self.n, bits: ty.bits() };
        let (a, b) = (self.a_ty.bits(), self.b_ty.bits());
        [
            Fragment { part: Part::A, rows: self.m, columns: self.k, bits: a },
            Fragment { part: Part::B, rows: self.k, columns: self.n, bits: b },
            sum(self.c_ty),
            sum(self.d_ty),
        ]
    }
}
