//! A row of long uses: what is held, by where it starts.

use std::collections::BTreeMap;

/// What one operation holds from some cell on.
#[derive(Clone, Copy, Default)]
struct Held {
    /// Cells, fewer than II.
    len: i64,
    /// Whole turns.
    wraps: i64,
    /// So many equal ones.
    many: u32,
}

/// The uses of a resource. Those that meet some cells start in them, or no further before than the longest is long.
#[derive(Default)]
pub(super) struct Listed {
    held: BTreeMap<(i64, u32, i64, i64), Held>,
    longest: i64,
    /// Those that hold whole turns.
    turning: usize,
}

impl Listed {
    pub fn hold(&mut self, (from, len, wraps): (i64, i64, i64), node: u32) {
        let held = self.held.entry((from, node, len, wraps)).or_insert(Held { len, wraps, many: 0 });
        held.many += 1;
        self.longest = self.longest.max(len);
        self.turning += usize::from(wraps > 0);
    }

    pub fn release(&mut self, (from, len, wraps): (i64, i64, i64), node: u32) {
        let key = (from, node, len, wraps);
        let Some(held) = self.held.get_mut(&key) else { return };
        held.many -= 1;
        self.turning -= usize::from(wraps > 0);
        if held.many == 0 {
            self.held.remove(&key);
        }
    }

    /// Those that may hold one of `len` cells from `from` on: how far ahead of it they start, below II, and what they are.
    fn near(&self, from: i64, len: i64, ii: i64) -> impl Iterator<Item = (i64, u32, Held)> + '_ {
        let reach = (self.longest - 1).clamp(0, ii - len);
        // From `low` on, once around the table at most.
        let (low, cells) = ((from - reach).rem_euclid(ii), reach + len);
        let at = |cell: i64| (cell, 0, i64::MIN, i64::MIN);
        let ahead = self.held.range(at(low)..at((low + cells).min(ii)));
        let around = self.held.range(at(0)..at((low + cells - ii).max(0)));
        ahead.chain(around).map(move |(&(start, node, ..), &h)| ((start - from).rem_euclid(ii), node, h))
    }

    /// How far a use of these cells of a single unit must move at least, towards earlier starts when `BACK`; `None` if it
    /// fits.
    pub fn conflict_of_one<const BACK: bool>(&self, from: i64, len: i64, ii: i64) -> Option<i64> {
        let jumps = self.near(from, len, ii).filter(|(_, _, h)| h.len > 0).filter_map(|(ahead, _, h)| {
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
            let all =
                self.held.iter().map(|(&(start, node, ..), h)| ((start - from).rem_euclid(ii), node, h));
            found.extend(all.filter(|(ahead, _, h)| meets(*ahead, h)).map(|(_, node, _)| node));
            return;
        }
        let meets = |ahead: i64, h: &Held| h.len > 0 && len > 0 && (ahead < len || ahead + h.len > ii);
        found.extend(
            self.near(from, len, ii).filter(|(ahead, _, h)| meets(*ahead, h)).map(|(_, node, _)| node),
        );
    }

    /// From where to where at least `free` units are held without a gap: the start of the first such run that meets the
    /// `len` cells from `from` on, and the end of the last. Runs may reach out of these cells, and are then at least that long.
    pub fn overload(&self, from: i64, len: i64, free: i64, ii: i64) -> Option<(i64, i64)> {
        if free <= 0 {
            return Some((0, len));
        }
        let mut events: Vec<(i64, i64)> = Vec::new();
        for (ahead, _, h) in self.near(from, len, ii).filter(|(_, _, h)| h.len > 0) {
            let many = i64::from(h.many);
            for start in [ahead - ii, ahead] {
                if start < len && start + h.len > 0 {
                    events.extend([(start, many), (start + h.len, -many)]);
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
