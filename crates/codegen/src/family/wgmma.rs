//! Accumulators of wgmma: lane `l` of warp `w` of a warpgroup holds rows `16 w + l / 4 + {0, 8}` and columns
//! `8 j + 2 (l % 4) + {0, 1}` of 64 rows; blocks of 64 rows go to the partition's warpgroups in turn (C61). Where two
//! warpgroups share 128 rows of tensor memory, warp `w` of the first has rows `32 w` to `32 w + 15` of them, that of the
//! second the 16 behind: of the 32 lanes of tensor memory that both reach, each takes half (E48, C66). Where warpgroups
//! stand side by side, each has as many neighbouring columns of a tile of any width: the first column of a lane depends
//! on that width, which [`Wgmma::sized`] adds.

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
    /// Warpgroups side by side, each with its part of the columns.
    pub columns: u16,
    /// Columns of a part; 0 where there is but one, or no tile is meant.
    pub part: u16,
}

impl Wgmma {
    /// Warpgroups one below the other; at least one, so that there is something to divide by.
    pub fn groups(self) -> u64 {
        u64::from(self.warps / 4 / self.columns.max(1)).max(1)
    }

    /// Warps of one column of warpgroups.
    pub fn warps_down(self) -> u64 {
        4 * self.groups()
    }

    /// The same for tiles of so many columns.
    pub fn sized(self, cols: u64) -> Wgmma {
        match self.columns {
            0 | 1 => self,
            columns => Wgmma { part: (cols / u64::from(columns)) as u16, ..self },
        }
    }

    /// The same for no tile.
    pub fn bare(self) -> Wgmma {
        Wgmma { part: 0, ..self }
    }

    /// Columns of the part that a warpgroup has.
    pub fn part_of(self, cols: u64) -> u64 {
        cols / u64::from(self.columns.max(1))
    }

    /// Columns from the first of one warpgroup to that of the next.
    pub fn part_step(self) -> u64 {
        if self.columns > 1 { u64::from(self.part).max(8) } else { 0 }
    }

    /// Blocks of 64 rows for each warpgroup.
    pub fn blocks(self, rows: u64) -> Result<u64> {
        let least = if self.shared { 8 } else { 4 };
        let whole = self.warp.is_multiple_of(4)
            && self.warps.is_multiple_of(least * self.columns.max(1))
            && self.warps > 0
            && !(self.shared && self.columns > 1);
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
            false if self.columns > 1 => 16 * (warp % self.warps_down()),
            false => 16 * warp,
        }
    }

    /// First column of that warp.
    pub fn col_of(self, warp: u64) -> u64 {
        warp / self.warps_down() * self.part_step()
    }

    /// Rows of a block of tensor memory: those of one instruction.
    pub fn block_rows(self) -> u64 {
        if self.shared { 128 } else { 64 }
    }

    /// Whether so many columns are dealt out: parts of a power of two, as the bits of a thread's number say which.
    fn deals_out(self, cols: u64) -> bool {
        let part = self.part_of(cols);
        let whole = cols == part * u64::from(self.columns.max(1)) && part.is_multiple_of(8);
        whole && cols > 0 && cols <= 1024 && (self.columns <= 1 || part.is_power_of_two())
    }

    pub(super) fn count(self, rows: u64, cols: u64) -> Result<u64> {
        if !self.deals_out(cols) {
            let text = format!("{rows}x{cols} elements cannot be held in registers");
            let needs = "a matrix with a multiple of 8 columns, 64 rows per warpgroup";
            return Err(refuse(Code::Shape, text).rule("C61").note("needs", needs).into());
        }
        Ok(self.blocks(rows)? * self.part_of(cols) / 2)
    }

    pub(super) fn place(self, cols: u64, i: u64) -> (u64, u64) {
        let cols = self.part_of(cols);
        let (block, i) = (i / (cols / 2).max(1), i % (cols / 2).max(1));
        (block * 64 * self.groups() + row(i), col(i))
    }

    pub(super) fn find(self, cols: u64, row: u64, col: u64) -> Option<u64> {
        let (height, cols) = (64 * self.groups(), self.part_of(cols));
        // Columns of others lie behind the part.
        let own = accumulator_at(row % height, col).filter(|_| self.columns <= 1 || col < cols)?;
        Some(row / height * cols / 2 + own)
    }

    pub(super) fn held(self, axis: Axis, extent: u64) -> Result<Vec<u64>> {
        Ok(match axis {
            Axis::Row => {
                let blocks = self.blocks(extent)?;
                (0..2 * blocks).map(|i| i / 2 * 64 * self.groups() + i % 2 * 8).collect()
            }
            Axis::Col => {
                if !self.deals_out(extent) {
                    let text = format!("{extent} columns cannot be held in registers");
                    let needs = "a multiple of 8 columns";
                    return Err(refuse(Code::Shape, text).rule("C61").note("needs", needs).into());
                }
                (0..self.part_of(extent) / 4).map(|i| i / 2 * 8 + i % 2).collect()
            }
        })
    }

    /// A row is held by the four lanes of a quad, of each column of warpgroups; a column by eight quads of each warp.
    pub(super) fn peers(self, along: Axis) -> Peers {
        let columns = u64::from(self.columns.max(1));
        match along {
            Axis::Col => Peers { lanes: smallvec![2, 1], warps: Group::of(columns, self.warps_down()) },
            Axis::Row => {
                Peers { lanes: smallvec![16, 8, 4], warps: Group::of(u64::from(self.warps) / columns, 1) }
            }
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
            let family = Wgmma { warp: 4, warps, shared: false, columns: 1, part: 0 };
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
        assert!(Wgmma { warp: 0, warps: 2, shared: false, columns: 1, part: 0 }.blocks(64).is_err());
    }

    #[test]
    fn warps_share_the_rows_of_tensor_memory_once_each() {
        for (warps, shared) in [(4, false), (8, false), (8, true), (16, true)] {
            let family = Wgmma { warp: 0, warps, shared, columns: 1, part: 0 };
            let mut rows: Vec<u64> = (0..u64::from(warps)).map(|warp| family.row_of(warp)).collect();
            if shared {
                // A warp reaches the 32 lanes of its quarter.
                assert!((0..u64::from(warps)).all(|warp| family.row_of(warp) % 128 / 32 == warp % 4));
            }
            rows.sort_unstable();
            assert_eq!(rows, (0..u64::from(warps)).map(|warp| 16 * warp).collect::<Vec<_>>());
        }
        assert!(Wgmma { warp: 0, warps: 4, shared: true, columns: 1, part: 0 }.blocks(128).is_err());
    }

    #[test]
    fn warpgroups_side_by_side_hold_every_place_once() {
        for (warps, columns) in [(8u16, 2u16), (16, 2), (16, 4)] {
            let family = Wgmma { warp: 0, warps, shared: false, columns, part: 0 };
            let rows = 64 * family.groups() * 2;
            for cols in [64, 128, 512] {
                let sized = family.sized(cols);
                let mut seen = vec![false; (rows * cols) as usize];
                let count = family.count(rows, cols).unwrap();
                for thread in 0..32 * u64::from(warps) {
                    let (row, col) = crate::family::Family::Wgmma(sized).first_of(thread);
                    for i in 0..count {
                        let (down, along) = family.place(cols, i);
                        assert_eq!(family.find(cols, down, along), Some(i));
                        let place = ((row + down) * cols + col + along) as usize;
                        assert!(!std::mem::replace(&mut seen[place], true));
                    }
                }
                assert!(seen.iter().all(|&held| held));
            }
            assert!(family.count(rows, 8).is_err() && family.count(rows, 24 * u64::from(columns)).is_err());
            assert_eq!(family.find(64, 0, 64 / u64::from(columns)), None);
        }
    }
}
