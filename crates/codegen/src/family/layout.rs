//! A layout of tiles in registers, one of the families.

use super::axis::{Axis, Peers};
use super::blocked::Blocked;
use super::mma_sync::MmaSync;
use super::rows::{self, Rows};
use super::wgmma::Wgmma;
use crate::error::Result;

/// More columns than any tile has.
const WIDEST: u64 = 1 << 20;

/// A layout of tiles in registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Family {
    /// Accumulators of wgmma (C61).
    Wgmma(Wgmma),
    /// Accumulators of mma.sync (C67).
    MmaSync(MmaSync),
    /// Neighbours in a lane, lanes in rows.
    Blocked(Blocked),
    /// Rows of tensor memory (C66).
    Rows(Rows),
}

impl Family {
    /// Elements of a `rows x cols` tile that each lane holds; refuses tiles that the family does not cover.
    pub fn count(self, rows: u64, cols: u64) -> Result<u64> {
        match self {
            Family::Wgmma(family) => family.count(rows, cols),
            Family::MmaSync(family) => family.count(rows, cols),
            Family::Blocked(family) => family.count(rows, cols),
            Family::Rows(family) => family.count(rows, cols),
        }
    }

    /// Row and column of element `i` of a lane, less the lane's own first. Elements `2j` and `2j + 1` are
    /// neighbours in a row where [`Family::pairs`] says so.
    pub fn place(self, cols: u64, i: u64) -> (u64, u64) {
        match self {
            Family::Wgmma(family) => family.place(cols, i),
            Family::MmaSync(family) => family.place(cols, i),
            Family::Blocked(family) => family.place(cols, i),
            Family::Rows(family) => family.place(cols, i),
        }
    }

    /// The inverse of [`Family::place`]; `None` for places of other lanes.
    pub fn find(self, cols: u64, row: u64, col: u64) -> Option<u64> {
        match self {
            Family::Wgmma(family) => family.find(cols, row, col),
            Family::MmaSync(family) => family.find(cols, row, col),
            Family::Blocked(family) => family.find(cols, row, col),
            Family::Rows(family) => family.find(cols, row, col),
        }
    }

    /// Offsets along one dimension of the places a lane holds elements of, for a vector of this extent.
    pub fn held(self, axis: Axis, extent: u64) -> Result<Vec<u64>> {
        match self {
            Family::Wgmma(family) => family.held(axis, extent),
            Family::MmaSync(family) => family.held(axis, extent),
            Family::Blocked(family) => family.held(axis, extent),
            Family::Rows(family) => family.held(axis, extent),
        }
    }

    /// Whether two 16-bit neighbours share a register.
    pub fn pairs(self) -> bool {
        match self {
            Family::Wgmma(_) | Family::MmaSync(_) | Family::Rows(_) => true,
            Family::Blocked(family) => family.vector > 1,
        }
    }

    /// How many neighbours in a row a lane holds one behind the other, at least; a power of two, and the first
    /// stands at a multiple of it.
    pub fn run(self) -> u64 {
        match self {
            Family::Wgmma(_) | Family::MmaSync(_) => 2,
            Family::Rows(_) => rows::RUN,
            Family::Blocked(family) => u64::from(family.vector),
        }
    }

    /// Columns below which the first column of every lane lies: a power of two.
    pub fn col_span(self) -> u64 {
        match self {
            Family::Wgmma(family) => match (family.columns, family.part) {
                (0 | 1, _) => 8,
                (_, 0) => WIDEST,
                (columns, part) => u64::from(columns) * u64::from(part),
            },
            Family::MmaSync(family) => family.col_step(),
            Family::Rows(_) => rows::RUN,
            Family::Blocked(family) => family.col_step(),
        }
    }

    /// The same family for tiles of so many columns: where warpgroups stand side by side, the first column of a lane
    /// depends on that.
    pub fn sized(self, cols: u64) -> Family {
        match self {
            Family::Wgmma(family) => Family::Wgmma(family.sized(cols)),
            family => family,
        }
    }

    /// The same for no tile.
    pub fn bare(self) -> Family {
        match self {
            Family::Wgmma(family) => Family::Wgmma(family.bare()),
            family => family,
        }
    }

    /// Whether lane `t` of each four holds columns `2 t` and `2 t + 1` of every eight of their rows, and all lanes of a row
    /// are those four.
    pub fn is_quads(self) -> bool {
        match self {
            Family::Wgmma(family) => family.columns <= 1,
            Family::MmaSync(family) => family.n == 1,
            Family::Blocked(_) | Family::Rows(_) => false,
        }
    }

    /// The lanes that hold the elements which differ in this coordinate alone.
    pub fn peers(self, along: Axis) -> Peers {
        match self {
            Family::Wgmma(family) => family.peers(along),
            Family::MmaSync(family) => family.peers(along),
            Family::Blocked(family) => family.peers(along),
            Family::Rows(family) => family.peers(along),
        }
    }
}
