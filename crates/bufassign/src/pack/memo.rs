//! States that have failed.

/// Failed states: which blocks were unplaced, above which floors. A state of the same blocks whose
/// floors are all at least as high fails as well.
pub(super) struct Memo {
    heads: Vec<u32>,
    entries: Vec<Entry>,
    ids: Vec<u16>,
    floors: Vec<u64>,
    /// Failures found out with less effort are not kept.
    least: u64,
}

struct Entry {
    hash: u64,
    start: u32,
    len: u32,
    next: u32,
    /// Nodes it took to see that it fails.
    effort: u64,
}

const NONE: u32 = u32::MAX;
/// Floors kept at most; then what was found out with little effort is forgotten.
const MOST_FLOORS: usize = 1 << 23;
/// Least effort worth keeping at first.
const LEAST: u64 = 2;
/// States of the same blocks looked at.
const CHAIN: usize = 200;

impl Memo {
    /// For states of at most `n` blocks.
    pub fn new(n: usize) -> Memo {
        Memo {
            heads: vec![NONE; 1 << (n + 1).min(15)],
            entries: Vec::new(),
            ids: Vec::new(),
            floors: Vec::new(),
            least: LEAST,
        }
    }

    /// Forgets the cheaper half or more of what is known.
    fn forget(&mut self) {
        let mut efforts: Vec<u64> = self.entries.iter().map(|e| e.effort).collect();
        let middle = efforts.len() / 2;
        self.least = *efforts.select_nth_unstable(middle).1 + 1;
        self.heads.fill(NONE);
        let (mut kept, mut end) = (0, 0);
        for k in 0..self.entries.len() {
            let e = &self.entries[k];
            if e.effort < self.least {
                continue;
            }
            let (from, len, hash, effort) = (e.start as usize, e.len, e.hash, e.effort);
            self.ids.copy_within(from..from + len as usize, end);
            self.floors.copy_within(from..from + len as usize, end);
            let line = hash as usize % self.heads.len();
            let next = std::mem::replace(&mut self.heads[line], kept as u32);
            self.entries[kept] = Entry { hash, start: end as u32, len, next, effort };
            (kept, end) = (kept + 1, end + len as usize);
        }
        self.entries.truncate(kept);
        self.ids.truncate(end);
        self.floors.truncate(end);
    }

    /// Whether a state known to fail is at least as good.
    pub fn fails(&self, hash: u64, state: &[(u16, u64)]) -> bool {
        let mut at = self.heads[hash as usize % self.heads.len()];
        let mut looked = 0;
        while let Some(e) = self.entries.get(at as usize) {
            if e.hash == hash && e.len as usize == state.len() {
                let range = e.start as usize..(e.start + e.len) as usize;
                let same = self.ids[range.clone()].iter().zip(state).all(|(a, b)| *a == b.0);
                if same && self.floors[range].iter().zip(state).all(|(a, b)| *a <= b.1) {
                    return true;
                }
                looked += 1;
                if looked >= CHAIN {
                    break;
                }
            }
            at = e.next;
        }
        false
    }

    /// Notes that a state fails, as so many nodes have shown.
    pub fn note(&mut self, hash: u64, state: &[(u16, u64)], effort: u64) {
        if effort < self.least {
            return;
        }
        if self.floors.len() + state.len() > MOST_FLOORS {
            self.forget();
        }
        let start = self.floors.len() as u32;
        self.ids.extend(state.iter().map(|s| s.0));
        self.floors.extend(state.iter().map(|s| s.1));
        let line = hash as usize % self.heads.len();
        let head = &mut self.heads[line];
        self.entries.push(Entry { hash, start, len: state.len() as u32, next: *head, effort });
        *head = self.entries.len() as u32 - 1;
    }
}

/// A well-mixed number for a block.
pub(super) fn key(k: usize) -> u64 {
    let mut z = (k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
