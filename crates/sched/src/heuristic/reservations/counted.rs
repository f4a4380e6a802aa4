//! A row of short uses: a counter per residue, and a bit where it is full.

use super::starts::Starts;
use bitvec::order::Lsb0;
use bitvec::vec::BitVec;

/// The cells of a resource, counted one by one.
pub(super) struct Counted {
    /// Units there are.
    count: i64,
    load: Vec<u32>,
    /// The cells in which all units are held.
    full: BitVec<u64, Lsb0>,
    /// The operations whose hold starts at each cell.
    starts: Starts,
    longest: i64,
}

impl Counted {
    /// Empty cells for uses of at most `longest` cycles.
    pub fn new(count: i64, ii: i64, longest: i64) -> Self {
        let cells = ii as usize;
        Counted {
            count,
            load: vec![0; cells],
            full: BitVec::repeat(count == 0, cells),
            starts: Starts::new(cells),
            longest: longest.min(ii),
        }
    }

    pub fn hold(&mut self, from: i64, len: i64, node: u32) {
        self.step(from, len, |load| load.wrapping_add(1));
        self.starts.add(from as usize, node);
    }

    pub fn release(&mut self, from: i64, len: i64, node: u32) {
        self.step(from, len, |load| load.wrapping_sub(1));
        self.starts.remove(from as usize, node);
    }

    fn step(&mut self, from: i64, len: i64, change: impl Fn(u32) -> u32) {
        let (ii, from, len) = (self.load.len(), from as usize, len as usize);
        for cell in from..from + len {
            let cell = if cell < ii { cell } else { cell - ii };
            self.load[cell] = change(self.load[cell]);
            self.full.set(cell, i64::from(self.load[cell]) >= self.count);
        }
    }

    /// How far a use of these cells must move at least, towards earlier starts when `BACK`, where `free` units may be
    /// held; `None` if it fits.
    pub fn conflict<const BACK: bool>(&self, from: i64, len: i64, free: i64) -> Option<i64> {
        let ii = self.load.len() as i64;
        if free == self.count && len > 1 {
            let (from, len, ii) = (from as usize, len as usize, ii as usize);
            let (ahead, around) = ((from + len).min(ii), (from + len).saturating_sub(ii));
            let (ahead, around) = (&self.full[from..ahead], &self.full[..around]);
            let found = if BACK {
                let later = || around.first_one().map(|cell| cell + ii - from);
                ahead.first_one().or_else(later).map(|off| len - off)
            } else {
                let later = around.last_one().map(|cell| cell + ii - from);
                later.or_else(|| ahead.last_one()).map(|off| off + 1)
            };
            return found.map(|jump| jump as i64);
        }
        let full = |off: &i64| {
            let cell = from + off;
            i64::from(self.load[(if cell < ii { cell } else { cell - ii }) as usize]) >= free
        };
        if BACK {
            (0..len).find(full).map(|off| len - off)
        } else {
            (0..len).rev().find(full).map(|off| off + 1)
        }
    }

    /// How far after `from` the first cell is that is not full, if that is less than `most` cells away.
    pub fn next_free(&self, from: i64, most: i64) -> Option<i64> {
        let (at, ii) = (from as usize, self.load.len());
        let most = usize::try_from(most).unwrap_or(ii).min(ii);
        let ahead = self.full[at..(at + most).min(ii)].first_zero();
        let around = || self.full[..(at + most).saturating_sub(ii)].first_zero().map(|cell| cell + ii - at);
        ahead.or_else(around).map(|off| off as i64)
    }

    /// Whether no cell holds more than so many units.
    pub fn at_most(&self, units: i64) -> bool {
        self.load.iter().all(|&l| i64::from(l) <= units)
    }

    /// All operations that hold something.
    pub fn all_holders(&self, found: &mut impl Extend<u32>) {
        (0..self.load.len()).for_each(|cell| found.extend(self.starts.at(cell)));
    }

    /// Those that hold one of these cells.
    pub fn holders(&self, from: i64, len: i64, found: &mut impl Extend<u32>) {
        let ii = self.load.len() as i64;
        if self.longest + len > ii {
            return self.all_holders(found);
        }
        for off in 1 - self.longest..len {
            found.extend(self.starts.at((from + off).rem_euclid(ii) as usize));
        }
    }
}
