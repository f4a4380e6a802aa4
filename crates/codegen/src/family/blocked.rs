//! The plain layout: neighbouring elements of a row in one lane, `across` lanes along the columns and the others
//! along the rows, the whole pattern repeated over the tile. It is the layout of kernels without a product, and of
//! copies.

use warploom_ir::diag::Code;

use super::axis::{Axis, Group, Peers};
use crate::error::{Result, refuse};

/// Lanes of a partition in rows; all numbers are powers of two.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Blocked {
    /// First warp of the partition.
    pub warp: u16,
    /// Lanes of the partition.
    pub lanes: u16,
    /// Neighbouring elements of a lane.
    pub vector: u16,
    /// Lanes along the columns.
    pub across: u16,
}

impl Blocked {
    /// Rows of the pattern.
    pub fn row_step(self) -> u64 {
        u64::from(self.lanes / self.across).max(1)
    }

    /// Columns of the pattern.
    pub fn col_step(self) -> u64 {
        u64::from(self.vector) * u64::from(self.across)
    }

    fn tiles(self, rows: u64, cols: u64) -> Result<[u64; 2]> {
        let (down, across) = (self.row_step(), self.col_step());
        let covered = |extent: u64, step: u64| extent > 0 && extent <= 1 << 16 && extent.is_multiple_of(step);
        if !covered(rows, down) || !covered(cols, across) {
            let text = format!("{rows}x{cols} elements for lanes that cover {down}x{across}");
            let needs = "multiples of the pattern of the partition's lanes";
            return Err(refuse(Code::Shape, text).rule("C48").note("needs", needs).into());
        }
        Ok([rows / down, cols / across])
    }

    pub(super) fn count(self, rows: u64, cols: u64) -> Result<u64> {
        let [down, across] = self.tiles(rows, cols)?;
        Ok(down * across * u64::from(self.vector))
    }

    pub(super) fn place(self, cols: u64, i: u64) -> (u64, u64) {
        let (vector, across) = (u64::from(self.vector), (cols / self.col_step()).max(1));
        let block = i / vector;
        (block / across * self.row_step(), block % across * self.col_step() + i % vector)
    }

    pub(super) fn find(self, cols: u64, row: u64, col: u64) -> Option<u64> {
        let (vector, across) = (u64::from(self.vector), cols / self.col_step());
        let (block, inside) = (col / self.col_step(), col % self.col_step());
        let held = row.is_multiple_of(self.row_step()) && inside < vector && block < across;
        held.then_some((row / self.row_step() * across + block) * vector + inside)
    }

    pub(super) fn held(self, axis: Axis, extent: u64) -> Result<Vec<u64>> {
        let vector = u64::from(self.vector);
        Ok(match axis {
            Axis::Row => {
                let [tiles, _] = self.tiles(extent, self.col_step())?;
                (0..tiles).map(|i| i * self.row_step()).collect()
            }
            Axis::Col => {
                let [_, tiles] = self.tiles(self.row_step(), extent)?;
                (0..tiles * vector).map(|i| i / vector * self.col_step() + i % vector).collect()
            }
        })
    }

    pub(super) fn peers(self, along: Axis) -> Peers {
        let (inside, wide) = (u64::from(self.across.min(32)), u64::from(self.across / 32).max(1));
        let bits = |from: u64, to: u64| {
            let mut list = smallvec::SmallVec::new();
            let mut bit = to / 2;
            while bit >= from.max(1) {
                list.push(bit);
                bit /= 2;
            }
            list
        };
        match along {
            Axis::Col => Peers { lanes: bits(1, inside), warps: Group::of(wide, 1) },
            Axis::Row => {
                let count = u64::from(self.lanes / 32) / wide;
                Peers { lanes: bits(inside, 32), warps: Group::of(count, wide) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_held_once() {
        for (lanes, vector, across) in [(128u16, 8u16, 32u16), (128, 8, 128), (128, 4, 8), (64, 1, 2)] {
            let family = Blocked { warp: 0, lanes, vector, across };
            let (rows, cols) = (2 * family.row_step(), 2 * family.col_step());
            let count = family.count(rows, cols).unwrap();
            let mut seen = vec![false; (rows * cols) as usize];
            for lane in 0..u64::from(lanes) {
                let (down, along) = (lane / u64::from(across), lane % u64::from(across));
                for i in 0..count {
                    let (row, col) = family.place(cols, i);
                    assert_eq!(family.find(cols, row, col), Some(i));
                    let place = (down + row) * cols + along * u64::from(vector) + col;
                    assert!(!seen[place as usize]);
                    seen[place as usize] = true;
                }
            }
            assert!(seen.iter().all(|&s| s));
        }
    }

    #[test]
    fn peers_are_the_lanes_of_a_row() {
        let row = Blocked { warp: 0, lanes: 128, vector: 8, across: 32 };
        assert_eq!(row.peers(Axis::Col).lanes.as_slice(), [16, 8, 4, 2, 1]);
        assert_eq!(row.peers(Axis::Col).warps, None);
        assert_eq!(row.peers(Axis::Row).warps, Some(Group { count: 4, stride: 1 }));
        assert!(row.peers(Axis::Row).lanes.is_empty());
        let wide = Blocked { across: 128, ..row };
        assert_eq!(wide.peers(Axis::Col).warps, Some(Group { count: 4, stride: 1 }));
        assert_eq!(wide.peers(Axis::Row).warps, None);
        let half = Blocked { across: 64, ..row };
        assert_eq!(half.peers(Axis::Col).warps, Some(Group { count: 2, stride: 1 }));
        assert_eq!(half.peers(Axis::Row).warps, Some(Group { count: 2, stride: 2 }));
        let narrow = Blocked { across: 8, ..row };
        assert_eq!(narrow.peers(Axis::Col).lanes.as_slice(), [4, 2, 1]);
        assert_eq!(narrow.peers(Axis::Row).lanes.as_slice(), [16, 8]);
    }
}
