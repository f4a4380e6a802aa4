//! The residues still open to each node, with undo.

use bitvec::order::Lsb0;
use bitvec::slice::BitSlice;
use bitvec::vec::BitVec;

/// The residue of a node that has none yet.
const NONE: i64 = -1;

/// Open residues per node of the network, a row of bits each, and the fixed ones. Node 0, the origin, has residue 0.
pub(super) struct Domains {
    pub ii: i64,
    words: usize,
    /// `words` words for every node.
    open: BitVec<u64, Lsb0>,
    fixed: Vec<i64>,
    /// Words as they were.
    trail: Vec<(u32, u64)>,
}

impl Domains {
    /// All residues open to so many nodes.
    pub fn new(nodes: usize, ii: i64) -> Self {
        let words = (ii as usize).div_ceil(64);
        let mut row: BitVec<u64, Lsb0> = BitVec::repeat(true, ii as usize);
        row.resize(words * 64, false);
        let mut fixed = vec![NONE; nodes];
        fixed[0] = 0;
        Domains { ii, words, open: row.repeat(nodes), fixed, trail: Vec::new() }
    }

    pub fn mark(&self) -> usize {
        self.trail.len()
    }

    pub fn undo(&mut self, mark: usize) {
        let words = self.open.as_raw_mut_slice();
        for (at, old) in self.trail.drain(mark..).rev() {
            words[at as usize] = old;
        }
    }

    pub fn residue(&self, node: usize) -> Option<i64> {
        Some(self.fixed[node]).filter(|&r| r != NONE)
    }

    pub fn fix(&mut self, node: usize, residue: i64) {
        self.fixed[node] = residue;
    }

    pub fn let_go(&mut self, node: usize) {
        self.fixed[node] = NONE;
    }

    pub fn is_fixed(&self, node: usize) -> bool {
        self.fixed[node] != NONE
    }

    /// The residues open to a node.
    pub fn row(&self, node: usize) -> &BitSlice<u64, Lsb0> {
        &self.open[node * self.words * 64..][..self.ii as usize]
    }

    pub fn is_open(&self, node: usize, residue: i64) -> bool {
        self.open[node * self.words * 64 + residue as usize]
    }

    /// Number of residues open to a node.
    pub fn size(&self, node: usize) -> u32 {
        let words = &self.open.as_raw_slice()[node * self.words..][..self.words];
        words.iter().map(|w| w.count_ones()).sum()
    }

    /// Takes the residues `from..to` away, word by word, as the trail keeps words: this is what a search does most.
    pub fn close(&mut self, node: usize, from: i64, to: i64) {
        let words = &mut self.open.as_raw_mut_slice()[node * self.words..][..self.words];
        let (mut at, to) = (from as usize, to as usize);
        while at < to {
            let end = ((at / 64 + 1) * 64).min(to);
            let mask = (u64::MAX >> (64 - (end - at))) << (at % 64);
            let word = &mut words[at / 64];
            if *word & mask != 0 {
                self.trail.push(((node * self.words + at / 64) as u32, *word));
                *word &= !mask;
            }
            at = end;
        }
    }

    /// How far after `from` the first open residue is, around the table.
    pub fn next_open(&self, node: usize, from: i64) -> Option<i64> {
        let at = from.rem_euclid(self.ii) as usize;
        if self.is_open(node, at as i64) {
            return Some(0);
        }
        let (before, after) = self.row(node).split_at(at);
        let around = || before.first_one().map(|r| self.ii as usize - at + r);
        after.first_one().or_else(around).map(|d| d as i64)
    }

    /// How far before `from` the last open residue is, around the table.
    pub fn previous_open(&self, node: usize, from: i64) -> Option<i64> {
        let at = from.rem_euclid(self.ii) as usize;
        if self.is_open(node, at as i64) {
            return Some(0);
        }
        let (before, after) = self.row(node).split_at(at + 1);
        let around = || after.last_one().map(|r| self.ii as usize - 1 - r);
        before.last_one().map(|r| at - r).or_else(around).map(|d| d as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_close_and_open_again() {
        for ii in [1, 7, 64, 65, 130] {
            let mut domains = Domains::new(3, ii);
            let mark = domains.mark();
            domains.close(1, ii / 3, ii - ii / 4);
            let open = |r: i64| r < ii / 3 || r >= ii - ii / 4;
            for r in 0..ii {
                assert_eq!(domains.is_open(1, r), open(r), "{r} of {ii}");
                assert!(domains.is_open(2, r));
                let next = (0..ii).find(|d| open((r + d) % ii));
                let previous = (0..ii).find(|d| open((r - d).rem_euclid(ii)));
                assert_eq!((domains.next_open(1, r), domains.previous_open(1, r)), (next, previous));
            }
            domains.undo(mark);
            assert_eq!(domains.row(1).count_ones() as i64, ii);
        }
    }
}
