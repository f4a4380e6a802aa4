//! Floors, decisions and their undoing.

use super::super::memo::key;
use super::super::prepare::align_up;
use super::{NONE, PLACED, Skyline, Undo};

/// What to do next.
enum Next {
    Decide(usize),
    Done,
    DeadEnd,
}

impl Skyline<'_> {
    /// Searches from a reset state; the answer (`None` at the limit) and the nodes visited.
    pub fn solve_within(&mut self, limit: u64) -> (Option<bool>, u64) {
        (self.nodes, self.limit) = (0, limit);
        let start = (0..self.ids.len()).all(|k| self.floor[k] + self.size[k] <= self.capacity)
            && (0..self.left.len()).all(|s| self.lowest[s] == u64::MAX || self.fits(s, self.lowest[s]));
        if !start {
            return (Some(false), 1);
        }
        if self.close() {
            if !self.hang_all() {
                return (Some(false), 1);
            }
            (0..self.left.len()).for_each(|s| self.mark(s));
            if !self.settle() {
                return (Some(false), 1);
            }
        }
        (self.solve(0, self.moments, true), self.nodes)
    }

    /// The lowest place of a block at or above `from`, aligned and clear of its obstacles.
    pub(super) fn rest(&self, k: usize, from: u64) -> u64 {
        let mut at = align_up(from, self.align[k]);
        for &(a, b) in &self.obstacles[k] {
            if at < b && a < at + self.size[k] {
                at = align_up(b, self.align[k]);
            }
        }
        at
    }

    pub(super) fn mark(&mut self, s: usize) {
        if !self.is_dirty[s] {
            self.is_dirty[s] = true;
            self.dirty.push(s as u32);
        }
    }

    /// The floor of a block that is not placed.
    pub(super) fn set_floor(&mut self, k: usize, to: u64) {
        self.floor[k] = to;
        self.open[k] = to;
        self.open_end[k] = to + self.size[k];
    }

    /// Raises a floor; false if the block no longer fits.
    pub(super) fn raise(&mut self, k: usize, to: u64, base: u64) -> bool {
        let (old, close) = (self.floor[k], self.close());
        self.trail.push(Undo::Floor(k as u32, old, self.base[k]));
        self.set_floor(k, to);
        self.base[k] = base;
        self.recount(k);
        for i in 0..self.sections[k].len() {
            let s = self.sections[k][i] as usize;
            if self.lowest[s] == old || close {
                self.mark(s);
            }
        }
        to + self.size[k] <= self.ceiling[k]
    }

    /// Recomputes the lowest floor of changed intervals; false if one has no room left.
    fn settle(&mut self) -> bool {
        let (mut room, close) = (true, self.close());
        while let Some(s) = self.dirty.pop() {
            let s = s as usize;
            self.is_dirty[s] = false;
            if !room {
                continue;
            }
            let low = self.members[s].iter().fold(PLACED, |low, &k| low.min(self.open[k as usize]));
            if low != self.lowest[s] {
                self.trail.push(Undo::Lowest(s as u32, self.lowest[s]));
                self.lowest[s] = low;
            }
            room = low == u64::MAX
                || self.fits(s, low) && (!close || self.tighten(s)) && self.lift_above_the_only_one(s);
            if !room {
                self.failures[s] += 1;
            }
        }
        room
    }

    /// Whether what is unplaced in an interval can be stacked above `low`.
    fn fits(&mut self, s: usize, low: u64) -> bool {
        let Some(slack) = self.capacity.checked_sub(low + self.left[s]) else { return false };
        if slack >= self.stacks.most(self.members[s].len()) {
            return true;
        }
        let unplaced = self.members[s].iter().filter(|&&k| self.open[k as usize] != PLACED);
        let mask = unplaced.fold(0u64, |m, &k| m | 1 << k);
        self.stacks.fits(mask, low, slack)
    }

    fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            match self.trail.pop() {
                Some(Undo::Floor(k, floor, base)) => {
                    self.set_floor(k as usize, floor);
                    self.base[k as usize] = base;
                    self.recount(k as usize);
                }
                Some(Undo::Ceiling(k, to)) => self.ceiling[k as usize] = to,
                Some(Undo::Lowest(s, low)) => self.lowest[s as usize] = low,
                None => {}
            }
        }
    }

    /// The unplaced neighbour with the least end at its floor.
    fn least_end(&self, k: usize) -> Option<(u64, usize)> {
        let mut least = (PLACED, 0);
        for &d in &self.near[k] {
            let end = self.open_end[d as usize];
            if end < least.0 {
                least = (end, d as usize);
            }
        }
        (least.0 != PLACED).then_some(least)
    }

    /// The next block to decide on in intervals `a..b`; raises what needs no decision.
    fn pick(&mut self, a: usize, b: usize) -> Next {
        loop {
            let Some(s) = self.choose_section(a, b) else { return Next::Done };
            let Some(first) = self.choose_block(s) else { return Next::DeadEnd };
            match self.descend(first) {
                Ok(c) => return Next::Decide(c),
                Err((k, to)) => {
                    let fits = to.is_some_and(|to| self.raise(k, to, self.base[k]));
                    if !self.settle() || !fits {
                        return Next::DeadEnd;
                    }
                }
            }
        }
    }

    /// From a block down to one that nothing unplaced can get under; or a block to raise first, to
    /// where (nowhere: a dead end), and whether it rests there.
    fn descend(&self, mut c: usize) -> Result<usize, (usize, Option<u64>)> {
        loop {
            let twin = self.twin[c] as usize;
            if self.twin[c] != NONE && self.open[twin] != PLACED {
                if self.floor[twin] > self.floor[c] {
                    return Err((c, Some(self.floor[twin])));
                }
                c = twin;
                continue;
            }
            let under = self.least_end(c);
            match under {
                Some((end, d)) if end <= self.floor[c] => c = d,
                _ if self.base[c] == self.floor[c] => return Ok(c),
                _ => return Err((c, under.map(|u| self.rest(c, u.0)))),
            }
        }
    }

    /// Places all unplaced blocks of intervals `a..b`. On failure everything is taken back; at the
    /// limit (`None`) nothing is. `alone`: the caller's blocks are these and what it just placed.
    ///
    /// A failure is noted with the floors that placed blocks alone give: a plan under a raised floor
    /// could be pushed down to one that was tried before the floor was raised. That trial was about
    /// these blocks only if nothing was searched apart since.
    fn solve(&mut self, a: usize, b: usize, alone: bool) -> Option<bool> {
        let (mark, before) = (self.trail.len(), self.nodes);
        let hash = self.look(a, b, false);
        if self.memo.fails(hash, &self.state) {
            return Some(false);
        }
        let alone = alone || self.state.iter().all(|s| self.base[s.0 as usize] == s.1);
        loop {
            let c = match self.pick(a, b) {
                Next::Done => return Some(true),
                Next::Decide(c) => c,
                Next::DeadEnd => break,
            };
            self.nodes += 1;
            if self.nodes > self.limit || (self.nodes.is_multiple_of(1024) && self.stopped()) {
                return None;
            }
            let here = self.trail.len();
            let answer = self.place(a, b, c, alone);
            if answer != Some(false) {
                return answer;
            }
            self.undo(here);
            let Some((end, _)) = self.least_end(c) else { break };
            let top = self.floor[c] + self.size[c];
            // In no one's way there: higher up it does no better.
            if self.near[c].iter().all(|&d| self.open[d as usize] >= top) {
                break;
            }
            let fits = self.raise(c, self.rest(c, end), self.base[c]);
            if !self.settle() || !fits {
                break;
            }
        }
        self.undo(mark);
        if alone {
            let hash = self.look(a, b, true);
            self.memo.note(hash, &self.state, self.nodes - before);
        }
        Some(false)
    }

    /// Puts the unplaced blocks of intervals `a..b` and their floors into `state`; gives their hash.
    fn look(&mut self, a: usize, b: usize, base: bool) -> u64 {
        let floors = if base { &self.base } else { &self.floor };
        let mut hash = 0;
        self.state.clear();
        for &k in &self.by_start[self.first_at[a] as usize..self.first_at[b] as usize] {
            if self.open[k as usize] != PLACED {
                hash ^= key(k as usize);
                self.state.push((k as u16, floors[k as usize]));
            }
        }
        hash
    }

    /// Places `c` at its floor and goes on; floors are left to the caller to take back.
    fn place(&mut self, a: usize, b: usize, c: usize, alone: bool) -> Option<bool> {
        let depth = self.stack.len();
        let first = self.pieces.len();
        let mut answer = Some(self.put(c));
        if answer == Some(true) {
            self.split(a, b);
            let alone = alone && self.pieces.len() == first + 1;
            for k in first..self.pieces.len() {
                let (from, to) = self.pieces[k];
                answer = self.solve(from as usize, to as usize, alone);
                if answer != Some(true) {
                    break;
                }
            }
        }
        self.pieces.truncate(first);
        if answer == Some(false) {
            while self.stack.len() > depth {
                if let Some(k) = self.stack.pop() {
                    self.take_back(k as usize);
                }
            }
        }
        answer
    }

    /// Pieces of `a..b` that hold unplaced blocks, none of which crosses into another.
    fn split(&mut self, a: usize, b: usize) {
        let mut from = a;
        for x in a + 1..=b {
            if x == b || self.cross[x] == 0 {
                if (from..x).any(|s| self.lowest[s] != u64::MAX) {
                    self.pieces.push((from as u32, x as u32));
                }
                from = x;
            }
        }
    }

    /// Places a block and lifts its neighbours; false if something no longer fits.
    fn put(&mut self, c: usize) -> bool {
        self.stack.push(c as u32);
        (self.open[c], self.open_end[c]) = (PLACED, PLACED);
        self.recount(c);
        for i in 0..self.sections[c].len() {
            let s = self.sections[c][i] as usize;
            self.left[s] -= self.size[c];
            if self.lowest[s] == self.floor[c] {
                self.mark(s);
            }
        }
        for x in self.hull[c].0 + 1..=self.hull[c].1 {
            self.cross[x as usize] -= 1;
        }
        let top = self.floor[c] + self.size[c];
        let mut fits = true;
        for i in 0..self.near[c].len() {
            let j = self.near[c][i] as usize;
            if self.open[j] == PLACED {
                continue;
            }
            if self.base[j] < top {
                let base = self.rest(j, top);
                if self.floor[j] < base {
                    fits = self.raise(j, base, base);
                } else {
                    self.trail.push(Undo::Floor(j as u32, self.floor[j], self.base[j]));
                    self.base[j] = base;
                }
            }
            if !fits {
                break;
            }
        }
        self.settle() && fits
    }

    fn take_back(&mut self, k: usize) {
        self.set_floor(k, self.floor[k]);
        self.recount(k);
        for &s in &self.sections[k] {
            self.left[s as usize] += self.size[k];
        }
        for x in self.hull[k].0 + 1..=self.hull[k].1 {
            self.cross[x as usize] += 1;
        }
    }
}
