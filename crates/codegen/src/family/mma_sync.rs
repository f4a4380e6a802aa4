//! Accumulators of mma.sync: tiles of 16 x 8 elements go to the partition's warps in turn, `m` of them along the rows
//! and the others along the columns. Lane `l` holds rows `l / 4 + {0, 8}` and columns `2 (l % 4) + {0, 1}` of each
//! of its warp's tiles (C67).

use smallvec::smallvec;
use warploom_ir::diag::Code;

use super::axis::{Axis, Group, Peers};
use crate::error::{Result, refuse};

/// The accumulators of the warps of a partition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct MmaSync {
    /// First warp of the partition.
    pub warp: u16,
    /// Warps along the rows.
    pub m: u16,
    /// Warps along the columns.
    pub n: u16,
}

impl MmaSync {
    /// Rows from one tile of a warp to its next.
    pub fn row_step(self) -> u64 {
        16 * u64::from(self.m)
    }

    /// Columns from one tile of a warp to its next.
    pub fn col_step(self) -> u64 {
        8 * u64::from(self.n)
    }

    /// Tiles of each warp along the rows and along the columns.
    pub fn tiles(self, rows: u64, cols: u64) -> Result<[u64; 2]> {
        let (down, across) = (self.row_step(), self.col_step());
        let covered = |extent: u64, step: u64| extent > 0 && extent <= 4096 && extent.is_multiple_of(step);
        if !covered(rows, down) || !covered(cols, across) {
            let text = format!("{rows}x{cols} elements for {} x {} warps", self.m, self.n);
            let needs = format!("a multiple of {down} rows and of {across} columns");
            return Err(refuse(Code::Shape, text).rule("C67").note("needs", needs).into());
        }
        Ok([rows / down, cols / across])
    }

    pub(super) fn count(self, rows: u64, cols: u64) -> Result<u64> {
        let [down, across] = self.tiles(rows, cols)?;
        Ok(4 * down * across)
    }

    pub(super) fn place(self, cols: u64, i: u64) -> (u64, u64) {
        let across = (cols / self.col_step()).max(1);
        let tile = i / 4;
        let row = tile / across * self.row_step() + i / 2 % 2 * 8;
        (row, tile % across * self.col_step() + i % 2)
    }

    pub(super) fn find(self, cols: u64, row: u64, col: u64) -> Option<u64> {
        let across = cols / self.col_step();
        let (down, half) = (row / self.row_step(), row % self.row_step());
        let (along, odd) = (col / self.col_step(), col % self.col_step());
        let held = (half == 0 || half == 8) && odd < 2 && along < across;
        held.then_some(4 * (down * across + along) + half / 4 + odd)
    }

    pub(super) fn held(self, axis: Axis, extent: u64) -> Result<Vec<u64>> {
        Ok(match axis {
            Axis::Row => {
                let [tiles, _] = self.tiles(extent, self.col_step())?;
                (0..2 * tiles).map(|i| i / 2 * self.row_step() + i % 2 * 8).collect()
            }
            Axis::Col => {
                let [_, tiles] = self.tiles(self.row_step(), extent)?;
                (0..2 * tiles).map(|i| i / 2 * self.col_step() + i % 2).collect()
            }
        })
    }

    pub(super) fn peers(self, along: Axis) -> Peers {
        let (m, n) = (u64::from(self.m), u64::from(self.n));
        match along {
            Axis::Col => Peers { lanes: smallvec![2, 1], warps: Group::of(n, m) },
            Axis::Row => Peers { lanes: smallvec![16, 8, 4], warps: Group::of(m, 1) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_held_once_c67() {
        for (m, n) in [(4u16, 1u16), (2, 2), (1, 4), (8, 1), (4, 2)] {
            let family = MmaSync { warp: 0, m, n };
            let (rows, cols) = (2 * family.row_step(), 4 * family.col_step());
            let count = family.count(rows, cols).unwrap();
            let mut seen = vec![false; (rows * cols) as usize];
            for thread in 0..32 * u64::from(m * n) {
                let (w, l) = (thread / 32, thread % 32);
                let (wm, wn) = (w % u64::from(m), w / u64::from(m));
                for i in 0..count {
                    let (row, col) = family.place(cols, i);
                    assert_eq!(family.find(cols, row, col), Some(i));
                    let place = (16 * wm + l / 4 + row) * cols + 8 * wn + 2 * (l % 4) + col;
                    assert!(!seen[place as usize]);
                    seen[place as usize] = true;
                }
            }
            assert!(seen.iter().all(|&s| s));
            assert_eq!(family.find(cols, 4, 0), None);
            assert_eq!(family.find(cols, 0, 2), None);
            assert_eq!(family.held(Axis::Row, rows).unwrap().len() as u64, rows / family.row_step() * 2);
            assert!(family.count(rows + 8, cols).is_err() && family.held(Axis::Col, 4).is_err());
        }
    }

    #[test]
    fn one_column_of_warpgroups_holds_what_wgmma_does() {
        let family = MmaSync { warp: 0, m: 4, n: 1 };
        assert_eq!(
            (0..8).map(|i| family.place(16, i)).collect::<Vec<_>>(),
            [(0, 0), (0, 1), (8, 0), (8, 1), (0, 8), (0, 9), (8, 8), (8, 9)]
        );
    }
}
