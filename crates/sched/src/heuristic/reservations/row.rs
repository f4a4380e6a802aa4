//! One resource of the table.

use super::counted::Counted;
use super::listed::Listed;
use crate::model::problem::UnitUse;

/// Rows of at most so many cells are counters when durations are long.
const SMALL_II: i64 = 64;
/// Uses of at most this duration are counted cell by cell.
const SHORT: i64 = 8;

/// One resource.
pub(super) struct Row {
    count: i64,
    /// Units held in every cycle by uses of at least II cycles.
    wraps: i64,
    cells: Cells,
}

enum Cells {
    Counted(Counted),
    Listed(Listed),
}

impl Row {
    /// An empty row for so many uses of at most `longest` cycles; counted where that suits, and there is room for the cells.
    pub fn new(count: i64, (uses, longest): (usize, i64), ii: i64, room: &mut i64) -> Self {
        let counted = longest > 0 && ii <= *room && (longest <= SHORT || ii <= SMALL_II);
        let cells = if counted {
            *room -= ii;
            Cells::Counted(Counted::new(count, ii, longest))
        } else {
            Cells::Listed(Listed::new(uses, ii))
        };
        Row { count, wraps: 0, cells }
    }

    fn fold(u: &UnitUse, t: i64, ii: i64) -> (i64, i64, i64) {
        let from = (t + u.start).rem_euclid(ii);
        if u.duration < ii { (from, u.duration, 0) } else { (from, u.duration % ii, u.duration / ii) }
    }

    pub fn hold(&mut self, u: &UnitUse, t: i64, node: u32, ii: i64) {
        let (from, len, wraps) = Self::fold(u, t, ii);
        self.wraps += wraps;
        match &mut self.cells {
            Cells::Counted(cells) => cells.hold(from, len, node),
            Cells::Listed(held) => held.hold((from, len, wraps), node),
        }
    }

    pub fn release(&mut self, u: &UnitUse, t: i64, node: u32, ii: i64) {
        let (from, len, wraps) = Self::fold(u, t, ii);
        self.wraps -= wraps;
        match &mut self.cells {
            Cells::Counted(cells) => cells.release(from, len, node),
            Cells::Listed(held) => held.release((from, len, wraps), node),
        }
    }

    /// How far the start must move at least, towards earlier ones when `BACK`, or `None` if the use fits.
    pub fn conflict<const BACK: bool>(&self, u: &UnitUse, t: i64, ii: i64) -> Option<i64> {
        let (from, len, wraps) = Self::fold(u, t, ii);
        let free = self.count - self.wraps - wraps;
        let never = free < 0 || (free == 0 && len > 0);
        if never || (wraps > 0 && !self.fits_everywhere(free, ii)) {
            // Whole turns are in the way: there is none of the II starts at which that changes.
            return Some(ii);
        }
        match &self.cells {
            Cells::Counted(cells) => cells.conflict::<BACK>(from, len, free),
            Cells::Listed(_) if len == 0 => None,
            Cells::Listed(held) if self.count == 1 && free > 0 => held.conflict_of_one::<BACK>(from, len, ii),
            Cells::Listed(held) => {
                let (first, end) = held.overload(from, len, free, ii)?;
                Some(if BACK { len - first } else { end })
            }
        }
    }

    /// The first start in `from..=to` at which a use of one cycle fits: the inner `None` where there is none, the outer
    /// where that is not known at a glance.
    pub fn next_free(&self, u: &UnitUse, from: i64, to: i64, ii: i64) -> Option<Option<i64>> {
        match &self.cells {
            Cells::Counted(cells) if u.duration == 1 && ii > 1 && self.wraps == 0 => {
                let most = to.saturating_sub(from).saturating_add(1);
                Some(cells.next_free((from + u.start).rem_euclid(ii), most).map(|off| from + off))
            }
            _ => None,
        }
    }

    /// Whether no cell holds more than `free` units, whole turns aside.
    fn fits_everywhere(&self, free: i64, ii: i64) -> bool {
        match &self.cells {
            Cells::Counted(cells) => cells.at_most(free),
            Cells::Listed(held) => held.overload(0, ii, free + 1, ii).is_none(),
        }
    }

    /// The operations that hold something which the use would hold at `t`.
    pub fn holders(&self, u: &UnitUse, t: i64, ii: i64, found: &mut impl Extend<u32>) {
        let (from, len, wraps) = Self::fold(u, t, ii);
        match &self.cells {
            Cells::Counted(cells) if wraps > 0 || self.wraps > 0 => cells.all_holders(found),
            Cells::Counted(cells) => cells.holders(from, len, found),
            Cells::Listed(held) => held.holders(from, len, wraps, ii, found),
        }
    }
}
