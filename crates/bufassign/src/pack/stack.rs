//! What alignment wastes at least in a stack.
//!
//! Blocks that all meet are stacked. If some need a coarse alignment, the gaps below them can be
//! filled only by blocks whose sizes happen to fit. Whether a set of blocks can be stacked with so
//! many bytes wasted depends on the set and the residue of the base alone, and sets of equal
//! (alignment, size modulo the coarsest alignment) are equal here, so a table answers most questions.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::cliques::bits;

/// Stacks of blocks of one component (at most 64).
pub(super) struct Stacks {
    /// Coarsest alignment, a multiple of all others; 0 where nothing is wasted or it is not known.
    coarsest: u64,
    align: Vec<u64>,
    /// Sizes modulo the coarsest alignment.
    size: Vec<u64>,
    /// Blocks that behave alike, as masks.
    classes: Vec<u64>,
    /// Of a set and a residue: the waste is at least the first and at most the second.
    known: HashMap<(u64, u64), (u64, u64), BuildHasherDefault<Mix>>,
}

/// Entries kept at most; then everything is forgotten.
const MOST_KNOWN: usize = 1 << 19;
/// Steps of one question; an unfinished answer is "yes".
const STEPS: u32 = 2000;

/// A quick hash of a few words.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.write_u64(u64::from(b)));
    }

    fn write_u64(&mut self, x: u64) {
        self.0 = (self.0.rotate_left(23) ^ x).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

impl Stacks {
    pub fn new(size: &[u64], align: &[u64]) -> Stacks {
        let coarsest = align.iter().copied().max().unwrap_or(1).max(1);
        let useful = size.len() <= 64
            && align.iter().all(|a| coarsest.is_multiple_of(*a))
            && size.iter().any(|s| !s.is_multiple_of(coarsest));
        let mut s = Stacks {
            coarsest: if useful { coarsest } else { 0 },
            align: align.to_vec(),
            size: size.iter().map(|s| s % coarsest).collect(),
            classes: Vec::new(),
            known: HashMap::default(),
        };
        let mut firsts: Vec<usize> = Vec::new();
        for k in (0..size.len()).filter(|_| useful) {
            let like = |&j: &usize| (s.align[j], s.size[j]) == (s.align[k], s.size[k]);
            match firsts.iter().position(like) {
                Some(c) => s.classes[c] |= 1 << k,
                None => {
                    firsts.push(k);
                    s.classes.push(1 << k);
                }
            }
        }
        s
    }

    /// Whether alignment can waste bytes between these blocks, as far as is known.
    pub fn wasteful(&self) -> bool {
        self.coarsest > 0
    }

    /// No stack of `n` wastes more if it is built with care; 0 where alignment never matters.
    pub fn most(&self, n: usize) -> u64 {
        self.coarsest.saturating_mul(n as u64)
    }

    /// Whether the blocks of `mask` may be stackable above `base` with this many bytes wasted below
    /// and between them. "No" is a proof.
    pub fn fits(&mut self, mask: u64, base: u64, slack: u64) -> bool {
        if self.coarsest == 0 {
            return true;
        }
        if self.known.len() > MOST_KNOWN {
            self.known.clear();
        }
        let mut plain = 0;
        for class in &self.classes {
            let count = (mask & class).count_ones() as usize;
            plain |= bits(*class).take(count).fold(0, |m, k| m | 1 << k);
        }
        let base = base % self.coarsest;
        self.can(plain, base, slack, &mut { STEPS }).unwrap_or_else(|| {
            // Not asked again.
            self.known.entry((plain, base)).or_insert((0, u64::MAX)).1 = 0;
            true
        })
    }

    /// `None` when out of steps.
    fn can(&mut self, mask: u64, residue: u64, slack: u64, steps: &mut u32) -> Option<bool> {
        if mask == 0 {
            return Some(true);
        }
        if let Some(&(least, most)) = self.known.get(&(mask, residue)) {
            if slack >= most {
                return Some(true);
            }
            if slack < least {
                return Some(false);
            }
        }
        *steps = steps.checked_sub(1)?;
        let mut floor = 0;
        // Narrow gaps first.
        loop {
            let mut next = u64::MAX;
            for class in 0..self.classes.len() {
                let here = mask & self.classes[class];
                if here == 0 {
                    continue;
                }
                let k = here.ilog2() as usize;
                let gap = (self.align[k] - residue % self.align[k]) % self.align[k];
                if gap > floor {
                    next = next.min(gap);
                }
                if gap != floor || gap > slack {
                    continue;
                }
                let top = (residue + gap + self.size[k]) % self.coarsest;
                if self.can(mask & !(1 << k), top, slack - gap, steps)? {
                    let e = self.known.entry((mask, residue)).or_insert((0, u64::MAX));
                    e.1 = e.1.min(slack);
                    return Some(true);
                }
            }
            if next > slack {
                break;
            }
            floor = next;
        }
        let e = self.known.entry((mask, residue)).or_insert((0, u64::MAX));
        e.0 = e.0.max(slack + 1);
        Some(false)
    }
}
