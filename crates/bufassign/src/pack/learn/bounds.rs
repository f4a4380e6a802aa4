//! What literals say about places, and places about literals.

use super::super::prepare::align_up;
use super::{Event, Learner, Literal, NONE, Why};
use std::cmp::Reverse;
use std::collections::BTreeMap;

impl Learner<'_> {
    /// Draws all conclusions; false where a conflict was found.
    pub(super) fn propagate(&mut self) -> bool {
        loop {
            if let Some(&l) = self.trail.get(self.handled) {
                self.handled += 1;
                if !self.follow(l) {
                    return false;
                }
            } else if let Some(Reverse((_, side, k))) = self.dirty.pop() {
                self.is_dirty[side][k as usize] = false;
                if !self.renew(side, k) {
                    return false;
                }
            } else if let Some(s) = self.watch.pop() {
                self.is_watched[s as usize] = false;
                if !self.outermost(0, s) || !self.outermost(1, s) {
                    return false;
                }
            } else {
                return true;
            }
        }
    }

    fn dirty(&mut self, side: usize, k: u32) {
        if !std::mem::replace(&mut self.is_dirty[side][k as usize], true) {
            self.dirty.push(Reverse((self.bound[side][k as usize], side, k)));
        }
    }

    /// What follows from a literal: by clauses, by what lies below and above, by room.
    fn follow(&mut self, l: Literal) -> bool {
        if !self.units(l) {
            return false;
        }
        let (i, j) = self.blocks(l);
        self.dirty(0, j);
        self.dirty(1, i);
        for x in 0..self.near[j as usize].len() {
            let m = self.near[j as usize][x];
            let meets = m != i && self.pair[i as usize * self.size.len() + m as usize] != NONE;
            if meets && self.order(j, m) == 1 && !self.hold(self.literal(i, m), Why::Between(j)) {
                return false;
            }
            if meets && self.order(i, m) == -1 && !self.hold(self.literal(m, j), Why::Between(i)) {
                return false;
            }
        }
        true
    }

    /// Whether a block lies between another and a side: read in the row of the other, since its neighbours are asked in turn.
    fn between(&self, side: usize, m: u32, k: u32) -> bool {
        self.order(k, m) == if side == 0 { -1 } else { 1 }
    }

    /// Clauses in which all but one are false.
    fn units(&mut self, l: Literal) -> bool {
        let mut list = self.clauses.take_watchers(l ^ 1);
        let (mut kept, mut fine) = (0, true);
        for n in 0..list.len() {
            let c = list[n];
            list[kept] = c;
            kept += 1;
            if !fine {
                continue;
            }
            let other = self.clauses.other(c, l ^ 1);
            if self.value(other) == 1 {
                continue;
            }
            let open = self.clauses.literals(c)[2..].iter().position(|&x| self.value(x) != -1);
            if let Some(at) = open {
                self.clauses.rewatch(c, 2 + at);
                kept -= 1;
            } else {
                fine = self.hold(other, Why::Clause(c));
            }
        }
        list.truncate(kept);
        self.clauses.give_watchers(l ^ 1, list);
        fine
    }

    /// The least aligned distance from a side.
    fn rounded(&self, side: usize, k: u32, raw: u64) -> u64 {
        let (size, align) = (self.size[k as usize], self.align[k as usize]);
        if side == 0 {
            return align_up(raw, align);
        }
        match (self.capacity - size).checked_sub(raw) {
            Some(at) => self.capacity - size - (at - at % align),
            None => raw,
        }
    }

    /// The least distance that is rounded to at least `to`.
    fn least(&self, side: usize, k: u32, to: u64) -> u64 {
        let (size, align) = (self.size[k as usize], self.align[k as usize]);
        if side == 0 {
            return (align_up(to, align) + 1).saturating_sub(align);
        }
        match (self.capacity - size).checked_sub(to) {
            Some(at) => (self.capacity - size - (at - at % align) + 1).saturating_sub(align),
            None => to,
        }
    }

    /// A block lies above the bytes of what lies below it in an interval, above the lowest of these.
    fn renew(&mut self, side: usize, k: u32) -> bool {
        let mut best = (self.bound[side][k as usize], NONE, 0);
        let mut under = std::mem::take(&mut self.under);
        let here = self.near[k as usize].iter().filter(|&&m| self.between(side, m, k));
        under.extend(here.map(|&m| (self.bound[side][m as usize], m)));
        under.sort_unstable_by_key(|u| Reverse(*u));
        let mut bytes = under.iter().map(|u| self.size[u.1 as usize]).sum::<u64>();
        for &(low, m) in &under {
            // All of it says no more than what is known, and the rest lies lower.
            if low + bytes <= best.0 {
                break;
            }
            let v = self.pair[m as usize * self.size.len() + k as usize] as usize;
            for &s in &self.common[self.common_at[v] as usize..self.common_at[v + 1] as usize] {
                let sum = &mut self.sums[s as usize];
                *sum += self.size[m as usize];
                if low + *sum > best.0 {
                    best = (low + *sum, s, low);
                }
            }
        }
        self.sections[k as usize].iter().for_each(|&s| self.sums[s as usize] = 0);
        under.clear();
        self.under = under;
        let value = self.rounded(side, k, best.0);
        if value == self.bound[side][k as usize] {
            return true;
        }
        let from = self.sets.len() as u32;
        bytes = 0;
        if best.1 != NONE {
            for &m in &self.members[best.1 as usize] {
                if self.between(side, m, k) && self.bound[side][m as usize] >= best.2 {
                    self.sets.push(m);
                    bytes += self.size[m as usize];
                }
            }
        }
        self.raise(side, k, value, (from, self.sets.len() as u32), bytes)
    }

    fn raise(&mut self, side: usize, k: u32, value: u64, set: (u32, u32), bytes: u64) -> bool {
        let at = k as usize;
        let before = std::mem::replace(&mut self.head[side][at], self.events.len() as u32);
        self.bound[side][at] = value;
        self.events.push(Event { side, block: k, value, before, set, bytes });
        let room = self.capacity - self.size[at];
        let limit = self.events.len() as u32;
        if self.bound[0][at] + self.bound[1][at] > room {
            self.conflict.clear();
            let far = self.bound[1 - side][at].min(room + 1);
            self.explain(&[(1 - side, k, far), (side, k, room + 1 - far)], limit);
            return false;
        }
        for n in 0..self.sections[at].len() {
            let s = self.sections[at][n];
            if !std::mem::replace(&mut self.is_watched[s as usize], true) {
                self.watch.push(s);
            }
        }
        for n in 0..self.near[at].len() {
            let j = self.near[at][n];
            if self.order(k, j) == if side == 0 { 1 } else { -1 } {
                self.dirty(side, j);
            } else if self.order(k, j) == 0
                && value + self.size[at] + self.size[j as usize] + self.bound[1 - side][j as usize]
                    > self.capacity
            {
                let l = if side == 0 { self.literal(j, k) } else { self.literal(k, j) };
                self.hold(l, Why::Room(limit));
            }
        }
        true
    }

    /// Some block of an interval is its lowest. Where only one can be, the others lie above it.
    fn outermost(&mut self, side: usize, s: u32) -> bool {
        let slack = self.slack[s as usize];
        let here = self.members[s as usize].iter().filter(|&&k| self.bound[side][k as usize] <= slack);
        let (mut only, mut count) = (NONE, 0);
        for &k in here {
            (only, count) = (k, count + 1);
            if count > 1 {
                return true;
            }
        }
        let limit = self.events.len() as u32;
        if count == 0 {
            self.conflict.clear();
            let all: Vec<_> = self.members[s as usize].iter().map(|&k| (side, k, slack + 1)).collect();
            self.explain(&all, limit);
            return false;
        }
        for n in 0..self.members[s as usize].len() {
            let k = self.members[s as usize][n];
            if k != only {
                let l = if side == 0 { self.literal(only, k) } else { self.literal(k, only) };
                if !self.hold(l, Why::Only(s, side, limit)) {
                    return false;
                }
            }
        }
        true
    }

    /// Adds the literals from which a literal follows to the conflict.
    pub(super) fn reasons(&mut self, l: Literal, why: Why) {
        let (i, j) = self.blocks(l);
        match why {
            Why::Decision => {}
            Why::Clause(c) => {
                let others = self.clauses.literals(c).iter().filter(|&&x| x != l).map(|x| x ^ 1);
                self.conflict.extend(others);
            }
            Why::Between(m) => {
                let both = [self.literal(i, m), self.literal(m, j)];
                self.conflict.extend(both);
            }
            Why::Room(limit) => {
                // That j is below i has no room.
                let both = self.size[i as usize] + self.size[j as usize];
                let need = (self.capacity + 1).saturating_sub(both);
                let far = self.value_at(1, i, limit).min(need);
                self.explain(&[(1, i, far), (0, j, need - far)], limit);
            }
            Why::Only(s, side, limit) => {
                let (only, slack) = (if side == 0 { i } else { j }, self.slack[s as usize]);
                let others = self.members[s as usize].iter().filter(|&&k| k != only);
                let others: Vec<_> = others.map(|&k| (side, k, slack + 1)).collect();
                self.explain(&others, limit);
            }
        }
    }

    /// A bound as it was after so many events.
    fn value_at(&self, side: usize, k: u32, limit: u32) -> u64 {
        let mut e = self.head[side][k as usize];
        while e != NONE && e >= limit {
            e = self.events[e as usize].before;
        }
        self.events.get(e as usize).map_or(0, |e| e.value)
    }

    /// Adds the literals from which some bounds followed, after so many events, to the conflict. Of each bound the earliest
    /// event that gives as much as is needed counts.
    fn explain(&mut self, bounds: &[(usize, u32, u64)], limit: u32) {
        let mut work: BTreeMap<u32, u64> = BTreeMap::new();
        let first = |side: usize, k: u32, need: u64, limit: u32| {
            let mut e = self.head[side][k as usize];
            while e != NONE
                && (e >= limit || {
                    let before = self.events[e as usize].before;
                    before != NONE && self.events[before as usize].value >= need
                })
            {
                e = self.events[e as usize].before;
            }
            e
        };
        for &(side, k, need) in bounds.iter().filter(|b| b.2 > 0) {
            let e = work.entry(first(side, k, need, limit)).or_insert(0);
            *e = need.max(*e);
        }
        let mut found = Vec::new();
        while let Some((at, need)) = work.pop_last() {
            let Some(e) = self.events.get(at as usize) else { continue };
            let low = self.least(e.side, e.block, need).saturating_sub(e.bytes);
            for &m in &self.sets[e.set.0 as usize..e.set.1 as usize] {
                found.push(if e.side == 0 { self.literal(m, e.block) } else { self.literal(e.block, m) });
                if low > 0 {
                    let w = work.entry(first(e.side, m, low, at)).or_insert(0);
                    *w = low.max(*w);
                }
            }
        }
        self.conflict.extend(found);
    }
}
