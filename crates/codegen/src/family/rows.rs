//! Rows of tensor memory: lane `l` of warp `w` of a warpgroup holds row `32 w + l` of 128 rows, all columns of it;
//! blocks of 128 rows go to the partition's warpgroups in turn (C66). It is the layout of `tcgen05.ld.32x32b`.

use smallvec::smallvec;
use warploom_ir::diag::Code;

use super::axis::{Axis, Group, Peers};
use crate::error::{Result, refuse};

/// Columns of every tile come in such multiples; a lane holds them one behind the other.
pub(super) const RUN: u64 = 8;

/// Rows of a warpgroup.
const BLOCK: u64 = 128;

/// The rows of the warpgroups of a partition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Rows {
    /// First warp of the partition.
    pub warp: u16,
    /// Its warps.
    pub warps: u16,
}

impl Rows {
    /// Warpgroups; at least one, so that there is something to divide by.
    pub fn groups(self) -> u64 {
        u64::from(self.warps / 4).max(1)
    }

    /// Rows that the partition holds one of in each lane.
    fn height(self) -> u64 {
        BLOCK * self.groups()
    }

    /// Blocks of 128 rows for each warpgroup.
    pub fn blocks(self, rows: u64) -> Result<u64> {
        let whole = (self.warps | self.warp).is_multiple_of(4) && self.warps > 0;
        if !whole || rows == 0 || !rows.is_multiple_of(self.height()) {
            let text = format!("{rows} rows in a partition of {} warps", self.warps);
            let needs = "128 rows, or a multiple, for each warpgroup of the partition";
            return Err(refuse(Code::Shape, text).rule("C66").note("needs", needs).into());
        }
        Ok(rows / self.height())
    }

    pub(super) fn count(self, rows: u64, cols: u64) -> Result<u64> {
        columns(cols)?;
        Ok(self.blocks(rows)? * cols)
    }

    pub(super) fn place(self, cols: u64, i: u64) -> (u64, u64) {
        (i / cols.max(1) * self.height(), i % cols.max(1))
    }

    pub(super) fn find(self, cols: u64, row: u64, col: u64) -> Option<u64> {
        (row.is_multiple_of(self.height()) && col < cols).then_some(row / self.height() * cols + col)
    }

    pub(super) fn held(self, axis: Axis, extent: u64) -> Result<Vec<u64>> {
        Ok(match axis {
            Axis::Row => (0..self.blocks(extent)?).map(|block| block * self.height()).collect(),
            Axis::Col => {
                columns(extent)?;
                (0..extent).collect()
            }
        })
    }

    /// A row is held by one lane, a column by every lane of every warp.
    pub(super) fn peers(self, along: Axis) -> Peers {
        match along {
            Axis::Col => Peers { lanes: smallvec![], warps: None },
            Axis::Row => {
                Peers { lanes: smallvec![16, 8, 4, 2, 1], warps: Group::of(u64::from(self.warps), 1) }
            }
        }
    }
}

fn columns(extent: u64) -> Result<()> {
    if extent == 0 || !extent.is_multiple_of(RUN) || extent > 1024 {
        let text = format!("{extent} columns cannot be held in registers");
        return Err(refuse(Code::Shape, text).rule("C66").note("needs", "columns in steps of 8").into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_cover_every_place_once_c66() {
        for warps in [4, 8] {
            let family = Rows { warp: 4, warps };
            let (rows, cols) = (2 * family.height(), 32);
            let count = family.count(rows, cols).unwrap();
            let mut seen = vec![false; (rows * cols) as usize];
            for thread in 0..32 * u64::from(warps) {
                for i in 0..count {
                    let (row, col) = family.place(cols, i);
                    assert_eq!(family.find(cols, row, col), Some(i));
                    let place = ((thread + row) * cols + col) as usize;
                    assert!(!seen[place]);
                    seen[place] = true;
                }
            }
            assert!(seen.iter().all(|&s| s));
            assert_eq!(family.held(Axis::Row, rows).unwrap(), [0, family.height()]);
            assert_eq!(family.held(Axis::Col, 8).unwrap(), (0..8).collect::<Vec<_>>());
        }
        assert_eq!(Rows { warp: 4, warps: 4 }.find(32, 1, 0), None);
        assert!(Rows { warp: 4, warps: 2 }.blocks(128).is_err());
        assert!(Rows { warp: 4, warps: 4 }.blocks(64).is_err());
    }
}
