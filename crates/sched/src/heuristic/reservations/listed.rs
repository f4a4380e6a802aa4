//! A row of long uses: what is held, by where it starts.

use smallvec::SmallVec;

/// Most parts that a row is cut into.
const MOST_PARTS: i64 = 1 << 14;

/// What one operation holds from some cell on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Held {
    from: i64,
    /// Cells, fewer than II.
    len: i64,
    /// Whole turns.
    wraps: i64,
    node: u32,
}

/// The uses of a resource. Those that meet some cells start in them, or no further before than the longest is long.
pub(super) struct Listed {
    /// The row in parts of so many cells, as a power of two, each with what starts in it: about one use each.
    parts: Vec<SmallVec<[Held; 1]>>,
    bits: u32,
    longest: i64,
    /// Those that hold whole turns.
    turning: usize,
}

impl Listed {
    /// An empty row for so many uses.
    pub fn new(uses: usize, ii: i64) -> Self {
        let most = (uses as i64).clamp(1, MOST_PARTS);
        let bits = (ii / most).max(1).ilog2();
        let parts = vec![SmallVec::new(); ((ii - 1) >> bits) as usize + 1];
        Listed { parts, bits, longest: 0, turning: 0 }
    }

    pub fn hold(&mut self, (from, len, wraps): (i64, i64, i64), node: u32) {
        self.parts[(from >> self.bits) as usize].push(Held { from, len, wraps, node });
        self.longest = self.longest.max(len);
        self.turning += usize::from(wraps > 0);
    }

    pub fn release(&mut self, (from, len, wraps): (i64, i64, i64), node: u32) {
        let part = &mut self.parts[(from >> self.bits) as usize];
        let held = Held { from, len, wraps, node };
        if let Some(at) = part.iter().position(|h| *h == held) {
            part.swap_remove(at);
            self.turning -= usize::from(wraps > 0);
        }
    }

    /// Those that start in these cells.
    fn within(&self, low: i64, high: i64) -> impl Iterator<Item = &Held> + '_ {
        let parts = if low < high { low >> self.bits..((high - 1) >> self.bits) + 1 } else { 0..0 };
        let held = self.parts[parts.start as usize..parts.end as usize].iter().flatten();
        held.filter(move |h| (low..high).contains(&h.from))
    }

    /// Those that may hold one of `len` cells from `from` on: how far ahead of it they start, below II, and what they are.
    fn near(&self, from: i64, len: i64, ii: i64) -> impl Iterator<Item = (i64, &Held)> + '_ {
        let reach = (self.longest - 1).clamp(0, ii - len);
        // From `low` on, once around the table at most.
        let (low, cells) = ((from - reach).rem_euclid(ii), reach + len);
        let ahead = self.within(low, (low + cells).min(ii));
        let around = self.within(0, low + cells - ii);
        ahead.chain(around).map(move |h| (ahead_of(from, h, ii), h))
    }

    /// How far a use of these cells of a single unit must move at least, towards earlier starts when `BACK`; `None` if it
    /// fits.
    pub fn conflict_of_one<const BACK: bool>(&self, from: i64, len: i64, ii: i64) -> Option<i64> {
        let jumps = self.near(from, len, ii).filter(|(_, h)| h.len > 0).filter_map(|(ahead, h)| {
            let end = ahead + h.len;
            if ahead < len {
                Some(if BACK { len - ahead } else { end })
            } else {
                (end > ii).then_some(if BACK { len + ii - ahead } else { end - ii })
            }
        });
        jumps.max()
    }

    /// Those that hold one of these cells, or all.
    pub fn holders(&self, from: i64, len: i64, wraps: i64, ii: i64, found: &mut impl Extend<u32>) {
        if wraps > 0 || self.turning > 0 {
            let meets = |ahead: i64, h: &Held| {
                wraps > 0 || h.wraps > 0 || (h.len > 0 && (ahead < len || (len > 0 && ahead + h.len > ii)))
            };
            let all = self.parts.iter().flatten();
            found.extend(all.filter(|h| meets(ahead_of(from, h, ii), h)).map(|h| h.node));
            return;
        }
        let meets = |ahead: i64, h: &Held| h.len > 0 && len > 0 && (ahead < len || ahead + h.len > ii);
        found.extend(self.near(from, len, ii).filter(|(ahead, h)| meets(*ahead, h)).map(|(_, h)| h.node));
    }

    /// From where to where at least `free` units are held without a gap: the start of the first such run that meets the
    /// `len` cells from `from` on, and the end of the last. Runs may reach out of these cells, and are then at least that long.
    pub fn overload(&self, from: i64, len: i64, free: i64, ii: i64) -> Option<(i64, i64)> {
        if free <= 0 {
            return Some((0, len));
        }
        let mut events: Vec<(i64, i64)> = Vec::new();
        for (ahead, h) in self.near(from, len, ii).filter(|(_, h)| h.len > 0) {
            for start in [ahead - ii, ahead] {
                if start < len && start + h.len > 0 {
                    events.extend([(start, 1), (start + h.len, -1)]);
                }
            }
        }
        events.sort_unstable();
        let (mut load, mut begun) = (0, None);
        let mut found: Option<(i64, i64)> = None;
        let mut events = events.into_iter().peekable();
        while let Some((at, step)) = events.next() {
            load += step;
            if events.peek().is_some_and(|next| next.0 == at) {
                continue;
            }
            if load >= free {
                begun = begun.or(Some(at));
            } else if let Some(start) = begun.take()
                && start < len
                && at > 0
            {
                found = Some((found.map_or(start, |(first, _)| first), at));
            }
        }
        found
    }
}

/// How far ahead of this cell it starts, once around at most.
fn ahead_of(from: i64, held: &Held, ii: i64) -> i64 {
    let ahead = held.from - from;
    if ahead < 0 { ahead + ii } else { ahead }
}
