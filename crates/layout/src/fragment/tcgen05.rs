//! Loads and stores of tensor memory, `tcgen05.ld` and `tcgen05.st`, and accumulators in it (C66, E44, E48; G4).
//!
//! A cell has 32 bits; registers count cells. Rows are counted from the warp's own quarter of the 128.

use crate::dim::Dim;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;

/// Shape of an access by one warp.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Shape {
    /// `.32x32b`: a row to each lane.
    S32x32b,
    /// `.16x64b`.
    S16x64b,
    /// `.16x128b`.
    S16x128b,
    /// `.16x256b`: as the accumulators of wgmma.
    S16x256b,
    /// `.16x32bx2`: the upper half of the lanes has columns of its own.
    S16x32bx2 {
        /// Columns from the lower half's to the upper half's: a power of two.
        split: u64,
    },
}

impl Shape {
    /// Every shape, the last with this split.
    pub fn all(split: u64) -> [Shape; 5] {
        [Shape::S32x32b, Shape::S16x64b, Shape::S16x128b, Shape::S16x256b, Shape::S16x32bx2 { split }]
    }

    /// Registers of a lane at `.x1`.
    pub fn registers(self) -> u64 {
        match self {
            Shape::S32x32b | Shape::S16x64b | Shape::S16x32bx2 { .. } => 1,
            Shape::S16x128b => 2,
            Shape::S16x256b => 4,
        }
    }

    /// The name in PTX.
    pub fn name(self) -> &'static str {
        match self {
            Shape::S32x32b => "32x32b",
            Shape::S16x64b => "16x64b",
            Shape::S16x128b => "16x128b",
            Shape::S16x256b => "16x256b",
            Shape::S16x32bx2 { .. } => "16x32bx2",
        }
    }
}

/// `tcgen05.ld.SHAPE.xN`: registers and lanes onto rows and columns of tensor memory. At most 128 registers; `.16x32bx2`
/// has its upper half behind all columns of the lower half (`split` at least N) or is refused.
pub fn access(shape: Shape, times: u64) -> Result<Layout> {
    let refuse = |what| Err(LayoutError::Instruction { instruction: "tcgen05.ld", what });
    if !times.is_power_of_two() || times.saturating_mul(shape.registers()) > 128 {
        return refuse(format!(".{}.x{times}", shape.name()));
    }
    let (register, lane, row, column) = (Dim::Register, Dim::Lane, Dim::Row, Dim::Column);
    match shape {
        Shape::S32x32b => Layout::of(&[(lane, row, 32), (register, column, times)]),
        Shape::S16x64b => {
            let lanes: [&[(Dim, u64)]; 5] =
                [&[(row, 8)], &[(column, 1)], &[(row, 1)], &[(row, 2)], &[(row, 4)]];
            let one = Layout::new(&[(lane, &lanes)], &[(row, 16), (column, 2)])?;
            one.times(&Layout::of(&[(register, column, times)])?)
        }
        Shape::S16x128b => {
            Layout::of(&[(lane, column, 4), (lane, row, 8), (register, row, 2), (register, column, times)])
        }
        Shape::S16x256b => Layout::of(&[
            (register, column, 2),
            (lane, column, 4),
            (lane, row, 8),
            (register, row, 2),
            (register, column, times),
        ]),
        Shape::S16x32bx2 { split } => {
            if !split.is_power_of_two() || split < times || split > 512 {
                return refuse(format!("a split of {split} columns at .x{times}"));
            }
            let lower = Layout::of(&[(lane, row, 16), (register, column, times)])?;
            let gap = Layout::new(&[], &[(column, split / times)])?;
            lower.times(&gap)?.times(&Layout::of(&[(lane, column, 2)])?)
        }
    }
}

/// The quarter of the rows that each warp of a warpgroup reaches, for [`access`] of 32 rows and, with the lower 16 rows
/// of each quarter, of 16.
pub fn warps(access: &Layout) -> Result<Layout> {
    let gap = Layout::new(&[], &[(Dim::Row, 32 / access.output_size(Dim::Row).min(32))])?;
    access.times(&gap)?.times(&Layout::of(&[(Dim::Warp, Dim::Row, 4)])?)
}

/// Where an accumulator of 32-bit elements of one CTA lies: (row, column) of tensor memory onto (M, N). M is 128, or 64
/// with 16 rows in each quarter; then the other 16 rows of a quarter are copies, of which the owner is the lower.
pub fn accumulator(m: u64, n: u64) -> Result<Layout> {
    let (row, column, mdim, ndim) = (Dim::Row, Dim::Column, Dim::Axis(0), Dim::Axis(1));
    let columns = Layout::of(&[(column, ndim, n)])?;
    match (m, n) {
        (128, 8..=512) => Layout::of(&[(row, mdim, 128)])?.times(&columns),
        (64, 8..=512) => Layout::of(&[(row, mdim, 16)])?
            .times(&Layout::copies(row, 2)?)?
            .times(&Layout::of(&[(row, mdim, 4)])?)?
            .times(&columns),
        _ => {
            let what = format!("an accumulator of {m} x {n}");
            Err(LayoutError::Instruction { instruction: "tcgen05.mma", what })
        }
    }
}
