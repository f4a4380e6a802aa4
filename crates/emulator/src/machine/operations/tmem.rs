//! What a tcgen05 operation carries with it (E43-E52).

use super::layout::OperandLayout;
use crate::isa::lanes::Lanes;
use crate::isa::op::{AccTy, CopyRows, MatTy, Reg, TmemShape};

/// Operand A.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SourceA {
    Shared(OperandLayout),
    /// First lane and column.
    Tmem(u32, u32),
}

/// A product.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    pub a: SourceA,
    pub b: OperandLayout,
    pub a_ty: MatTy,
    pub b_ty: MatTy,
    pub d_ty: AccTy,
    pub m: u32,
    pub n: u32,
    pub k: u32,
    /// First lane and column of D.
    pub d: (u32, u32),
    pub negate: bool,
    pub saturate: bool,
    pub accumulate: bool,
    /// D is multiplied by 2^-scale first.
    pub scale: u32,
    /// Lanes of D that stay as they are, for each CTA of a pair.
    pub disabled: [[u32; 4]; 2],
    /// The CTAs: one, or an even and an odd one.
    pub ctas: Vec<u32>,
    /// The scales of A and of B.
    pub scales: Option<[Scales; 2]>,
    pub values: (Vec<f64>, Vec<f64>),
}

/// The scales of an operand, in all quarters of tensor memory: row r has its own in lane r % 32, column r / 32.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scales {
    /// The first column.
    pub column: u32,
    /// The first byte of a word.
    pub byte: u32,
    /// Scales along K.
    pub along: u32,
    /// Of E4M3, without sign; else powers of two.
    pub e4m3: bool,
}

/// A copy from shared memory.
#[derive(Clone, Debug)]
pub(crate) struct TmemCopy {
    pub column: u32,
    pub rows: CopyRows,
    /// 16-byte columns of the source.
    pub chunks: u32,
    pub layout: OperandLayout,
    pub ctas: Vec<u32>,
    /// What it read in each CTA, rows first.
    pub values: Vec<[u8; 16]>,
}

/// What copies and the scales that they bring are pipelined by: no accumulator has this key.
pub(crate) const SCALES: u32 = 1;

/// A load or store of TMEM by a warp.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    pub lane: u32,
    pub column: u32,
    pub shape: TmemShape,
    pub split: u32,
    /// 16-bit halves of two columns for each register.
    pub pack: bool,
    pub registers: Vec<Option<Reg>>,
    /// Values of a store.
    pub values: Vec<Lanes>,
    pub poisoned: u32,
}

/// What a tcgen05 operation does.
#[derive(Clone, Debug)]
pub(crate) enum TmemWork {
    Product(Product),
    Copy(TmemCopy),
    Load(Move),
    Store(Move),
}

impl Product {
    #[allow(clippy::too_many_arguments, reason = "a product has this many sides")]
    pub(crate) fn new(
        a: SourceA,
        b: OperandLayout,
        types: (MatTy, MatTy, AccTy),
        shape: (u32, u32, u32),
    ) -> Self {
        Product {
            a,
            b,
            a_ty: types.0,
            b_ty: types.1,
            d_ty: types.2,
            m: shape.0,
            n: shape.1,
            k: shape.2,
            d: (0, 0),
            negate: false,
            saturate: false,
            accumulate: false,
            scale: 0,
            disabled: [[0; 4]; 2],
            ctas: Vec::new(),
            scales: None,
            values: (Vec::new(), Vec::new()),
        }
    }

    /// CTA of the pair, lane and column of element (row, col) of D (E44).
    pub(crate) fn place(&self, row: u32, col: u32) -> (usize, u32, u32) {
        let (lane0, column0) = self.d;
        if self.ctas.len() < 2 {
            let lane = if self.m == 64 { row % 16 + 32 * (row / 16) } else { row };
            return (0, lane0 + lane, column0 + col);
        }
        if self.m == 256 {
            return ((row / 128) as usize, lane0 + row % 128, column0 + col);
        }
        let half = self.n / 2;
        ((row / 64) as usize, lane0 + row % 64 + 64 * (col / half), column0 + col % half)
    }

    /// Columns of D in each CTA.
    pub(crate) fn columns(&self) -> u32 {
        if self.ctas.len() == 2 && self.m == 128 { self.n / 2 } else { self.n }
    }
}

impl TmemWork {
    /// Products with equal keys keep their issue order (E52).
    pub(crate) fn pipeline_key(&self) -> u32 {
        match self {
            TmemWork::Product(p) => 1 | p.d.1 << 1 | p.d.0 << 10 | p.m << 17 | (p.n / 8) << 26,
            TmemWork::Copy(_) => SCALES,
            _ => 0,
        }
    }

    /// Whether this keeps its order after earlier work of the same issuer (E52): products on the same accumulators, copies,
    /// and products with scales after copies and before them.
    pub(crate) fn follows(&self, earlier: &TmemWork) -> bool {
        let scaled = |work: &TmemWork| matches!(work, TmemWork::Product(p) if p.scales.is_some());
        let copies = |work: &TmemWork| matches!(work, TmemWork::Copy(_));
        let key = self.pipeline_key();
        key != 0
            && (earlier.pipeline_key() == key
                || scaled(self) && copies(earlier)
                || copies(self) && scaled(earlier))
    }
}

impl Move {
    /// Lane (within the warp's quarter) and column of register `j` of lane `l` (E48).
    pub(crate) fn cell(&self, l: u32, j: u32) -> (u32, u32) {
        match self.shape {
            TmemShape::S32x32b => (l, j),
            TmemShape::S16x32bx2 => (l % 16, j + self.split * (l / 16)),
            TmemShape::S16x64b => (l / 4 + 8 * (l & 1), (l >> 1 & 1) + 2 * j),
            TmemShape::S16x128b => (l / 4 + 8 * (j & 1), l % 4 + 4 * (j >> 1)),
            TmemShape::S16x256b => (l / 4 + 8 * (j >> 1 & 1), 2 * (l % 4) + (j & 1) + 8 * (j >> 2)),
        }
    }

    /// Every register as (lane of the warp, register, [cells]).
    pub(crate) fn cells(&self, l: u32, j: u32) -> [(u32, u32); 2] {
        let first = self.cell(l, if self.pack { 2 * j } else { j });
        let second = if self.pack { self.cell(l, 2 * j + 1) } else { first };
        [first, second].map(|(lane, column)| (self.lane + lane, self.column + column))
    }

    /// All columns with their lanes.
    pub(crate) fn columns(&self, registers: u32) -> Vec<(u32, [u32; 4])> {
        let mut out: std::collections::BTreeMap<u32, [u32; 4]> = std::collections::BTreeMap::new();
        for j in 0..registers {
            for l in 0..32 {
                for (lane, column) in self.cells(l, j) {
                    if let Some(m) = out.entry(column).or_default().get_mut((lane / 32) as usize) {
                        *m |= 1 << (lane % 32);
                    }
                }
            }
        }
        out.into_iter().collect()
    }
}
