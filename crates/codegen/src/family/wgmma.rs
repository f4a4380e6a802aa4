//! Accumulators of wgmma: lane `l` of warp `w` of a warpgroup holds rows `16 w + l / 4 + {0, 8}` and columns
//! `8 j + 2 (l % 4) + {0, 1}` of 64 rows; blocks of 64 rows go to the partition's warpgroups in turn (C61). Where two
//! warpgroups share 128 rows of tensor memory, warp `w` of the first has rows `32 w` to `32 w + 15` of them, that of the
//! second the 16 behind: of the 32 lanes of tensor memory that both reach, each takes half (E48, C66).

use smallvec::smallvec;
use warploom_ir::diag::Code;

use super::axis::{Axis, Group, Peers};
use crate::error::{Result, refuse};

/// The accumulators of the warpgroups of a partition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Wgmma {
    /// First warp of the partition.
    pub warp: u16,
    /// Its warps.
    pub warps: u16,
    /// Whether pairs of warpgroups share 128 rows.
    pub shared: bool,
}

impl Wgmma {
    /// Warpgroups; at least one, so that there is something to divide by.
    pub fn groups(self) -> u64 {
        u64::from(self.warps / 4).max(1)
    }

    /// Blocks of 64 rows for each warpgroup.
    pub fn blocks(self, rows: u64) -> Result<u64> {
        let least = if self.shared { 8 } else { 4 };
        let whole = self.warp.is_multiple_of(4) && self.warps.is_multiple_of(least) && self.warps > 0;
        if !whole || rows == 0 || !rows.is_multiple_of(64 * self.groups()) {
            let text = format!("{rows} rows in a partition of {} warps", self.warps);
            let needs = "64 rows, or a multiple, for each warpgroup of the partition";
            return Err(refuse(Code::Shape, text).rule("C21").note("needs", needs).into());
        }
        Ok(rows / (64 * self.groups()))
    }

    /// First row of warp number `warp` of the partition. Linear in the bits of the number.
    pub fn row_of(self, warp: u64) -> u64 {
        match self.shared {
            true => 32 * (warp % 4) + 16 * (warp / 4 % 2) + 128 * (warp / 8),
            false => 16 * warp,
        }
    }

    /// Rows of a block of tensor memory: those of one instruction.
    pub fn block_rows(self) -> u64 {
        if self.shared { 128 } else { 64 }
    }

    pub(super) fn count(self, rows: u64, cols: u64) -> Result<u64> {
        if !cols.is_multiple_of(8) || cols == 0 || cols > 1024 {
            let text = format!("{rows}x{cols} elements cannot be held in registers");
            let needs = "a matrix with a multiple of 8 columns, 64 rows per warpgroup";
            return Err(refuse(Code::Shape, text).rule("C61").note("needs", needs).into());
        }
        Ok(self.blocks(rows)? * cols / 2)
    }

    pub(super) fn place(self, cols: u64, i: u64) -> (u64, u64) {
        let (block, i) = (i / (cols / 2).max(1), i % (cols / 2).max(1));
        (block * 64 * self.groups() + row(i), col(i))
    }

    pub(super) fn find(self, cols: u64, row: u64, col: u64) -> Option<u64> {
        let height = 64 * self.groups();
        Some(row / height * cols / 2 + accumulator_at(row % height, col)?)
    }

    pub(super) fn held(self, axis: Axis, extent: u64) -> Result<Vec<u64>> {
        Ok(match axis {
            Axis::Row => {
                let blocks = self.blocks(extent)?;
                (0..2 * blocks).map(|i| i / 2 * 64 * self.groups() + i % 2 * 8).collect()
            }
            Axis::Col => {
                if !extent.is_multiple_of(8) || extent > 1024 {
                    let text = format!("{extent} columns cannot be held in registers");
                    let needs = "a multiple of 8 columns";
                    return Err(refuse(Code::Shape, text).rule("C61").note("needs", needs).into());
                }
                (0..extent / 4).map(|i| i / 2 * 8 + i % 2).collect()
            }
        })
    }

    /// A row is held by the four lanes of a quad, a column by eight quads of each warp.
    pub(super) fn peers(self, along: Axis) -> Peers {
        match along {
            Axis::Col => Peers { lanes: smallvec![2, 1], warps: None },
            Axis::Row => Peers { lanes: smallvec![16, 8, 4], warps: Group::of(u64::from(self.warps), 1) },
        }
    }
}

/// Row of accumulator `i` of a lane, less the lane's own `16 w + l / 4` (C61).
fn row(i: u64) -> u64 {
    8 * (i / 2 % 2)
}

/// Column of accumulator `i` of a lane, less the lane's own `2 (l % 4)` (C61).
fn col(i: u64) -> u64 {
    8 * (i / 4) + i % 2
}

/// The accumulator at row and column relative to the lane's own; `None` for places of other lanes.
fn accumulator_at(row: u64, col: u64) -> Option<u64> {
    let (half, odd) = (row / 8, col % 8);
    (row.is_multiple_of(8) && half < 2 && odd < 2).then_some(4 * (col / 8) + 2 * half + odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accumulators_cover_every_place_once_c61() {
        for n in [8u64, 64, 256] {
            let mut seen = vec![false; 64 * n as usize];
            for thread in 0..128u64 {
                let (w, l) = (thread / 32, thread % 32);
                for i in 0..n / 2 {
                    let (row, col) = (16 * w + l / 4 + row(i), 2 * (l % 4) + col(i));
                    // the inverse of C61
                    assert_eq!(4 * (row % 8) + (col % 8) / 2, l);
                    assert_eq!(row / 16, w);
                    assert_eq!(4 * (col / 8) + 2 * ((row % 16) / 8) + col % 2, i);
                    let place = (row * n + col) as usize;
                    assert!(!seen[place]);
                    seen[place] = true;
                }
            }
            assert!(seen.iter().all(|&s| s));
        }
        assert_eq!(accumulator_at(4, 0), None);
        assert_eq!(accumulator_at(16, 0), None);
        assert_eq!(accumulator_at(0, 2), None);
    }

    #[test]
    fn places_have_inverses_and_slices_their_offsets() {
        for warps in [4, 8, 16] {
            let family = Wgmma { warp: 4, warps, shared: false };
            let rows = 64 * family.groups() * 2;
            for cols in [8, 24, 128] {
                let count = family.count(rows, cols).unwrap();
                assert_eq!(count * 32 * u64::from(warps), rows * cols);
                let (mut held_rows, mut held_cols) = (Vec::new(), Vec::new());
                for i in 0..count {
                    let (row, col) = family.place(cols, i);
                    assert_eq!(family.find(cols, row, col), Some(i));
                    held_rows.push(row);
                    held_cols.push(col);
                }
                for (mut seen, axis, extent) in [(held_rows, Axis::Row, rows), (held_cols, Axis::Col, cols)] {
                    seen.sort_unstable();
                    seen.dedup();
                    assert_eq!(family.held(axis, extent).unwrap(), seen);
                }
            }
            assert!(family.count(rows, 12).is_err() && family.count(32, 8).is_err());
        }
        assert!(Wgmma { warp: 0, warps: 2, shared: false }.blocks(64).is_err());
    }

    #[test]
    fn warps_share_the_rows_of_tensor_memory_once_each() {
        for (warps, shared) in [(4, false), (8, false), (8, true), (16, true)] {
            let family = Wgmma { warp: 0, warps, shared };
            let mut rows: Vec<u64> = (0..u64::from(warps)).map(|warp| family.row_of(warp)).collect();
            if shared {
                // A warp reaches the 32 lanes of its quarter.
                assert!((0..u64::from(warps)).all(|warp| family.row_of(warp) % 128 / 32 == warp % 4));
            }
            rows.sort_unstable();
            assert_eq!(rows, (0..u64::from(warps)).map(|warp| 16 * warp).collect::<Vec<_>>());
        }
        assert!(Wgmma { warp: 0, warps: 4, shared: true }.blocks(128).is_err());
    }
}
