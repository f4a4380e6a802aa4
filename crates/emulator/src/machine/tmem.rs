//! Tensor memory: 128 lanes by 512 columns of 32 bits (E43).

use crate::race::shadow::Flat;

/// Lanes.
pub(crate) const LANES: u32 = 128;
/// Columns.
pub(crate) const COLUMNS: u32 = 512;

/// A CTA's tensor memory, made when first allocated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tmem {
    /// Cell (lane, column) at lane * 512 + column.
    pub cells: Vec<u32>,
    /// Granule column * 4 + lane / 32; one mask bit for a lane.
    pub shadow: Flat,
    /// Allocations: first column, columns, line.
    pub allocs: Vec<(u32, u32, u32)>,
    /// `relinquish_alloc_permit` was executed.
    pub relinquished: bool,
}

impl Tmem {
    /// Makes the cells; fresh ones hold NaN patterns (E10).
    pub(crate) fn wake(&mut self) {
        if self.cells.is_empty() {
            self.cells = vec![0x7fc0_dead; (LANES * COLUMNS) as usize];
            self.shadow = Flat::new(u64::from(COLUMNS) * 4 * 32);
        }
    }

    pub(crate) fn get(&self, lane: u32, column: u32) -> u32 {
        self.cells.get((lane * COLUMNS + column) as usize).copied().unwrap_or(0)
    }

    pub(crate) fn put(&mut self, lane: u32, column: u32, value: u32) {
        if let Some(c) = self.cells.get_mut((lane * COLUMNS + column) as usize) {
            *c = value;
        }
    }

    /// The first free block of columns, aligned to its size.
    pub(crate) fn room(&self, columns: u32) -> Option<u32> {
        (0..COLUMNS / columns.max(1))
            .map(|i| i * columns)
            .find(|at| self.allocs.iter().all(|(a, n, _)| at + columns <= *a || a + n <= *at))
    }

    /// Whether a column is allocated.
    pub(crate) fn allocated(&self, column: u32) -> bool {
        self.allocs.iter().any(|(a, n, _)| (*a..a + n).contains(&column))
    }
}
