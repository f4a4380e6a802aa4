//! The dimensions of the matrices that a family lays out, and who shares a row or a column.

use smallvec::SmallVec;

/// A dimension of the matrices that a family lays out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Axis {
    /// Along a column: the row number grows.
    Row,
    /// Along a row: the column number grows.
    Col,
}

/// Which lanes hold the elements of one row, or of one column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Peers {
    /// Lanes of the warp: those that differ in these bits of the lane number, one bit each.
    pub lanes: SmallVec<[u64; 5]>,
    /// The warps, where there are several.
    pub warps: Option<Group>,
}

/// Warps of a partition that share a row or a column: `count` of them, `stride` apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Group {
    /// Warps.
    pub count: u64,
    /// From one to the next.
    pub stride: u64,
}

impl Group {
    /// A group of several warps; one alone is none.
    pub fn of(count: u64, stride: u64) -> Option<Group> {
        (count > 1).then_some(Group { count, stride })
    }
}
