//! Complete search over skylines (B60).
//!
//! Among the plans within the capacity take one with the least sum of offsets. In it every block
//! rests: on the ground, on an obstacle, or on a block below it. The search looks for that plan.
//!
//! Every unplaced block has a *floor*, a lower bound on its offset. A decision takes a block c that
//! no unplaced neighbour can get under any more (all their ends at their floors lie above c's
//! floor) and tries
//! 1. c at its floor: every unplaced neighbour is then above it; or
//! 2. c higher: then it rests on a neighbour that is unplaced now, so its floor rises to the least
//!    end of one.
//!
//! A block whose floor came from 2 rests on nothing placed, so it is raised again without a
//! decision until something is put under it. In an elementary interval the lowest floor of its
//! unplaced blocks plus the sum of their sizes must not pass the capacity; holes are thereby paid
//! for at once. Where no unplaced block crosses an instant, the two sides are searched on their own.
//! Which block is decided on next is free, so the search can stay where it is tight.

use super::prepare::{Prepared, align_up};

/// In which elementary interval the next decision is sought.
#[derive(Clone, Copy)]
pub(super) enum Focus {
    /// The lowest floor, least slack on ties.
    Lowest,
    /// The least slack, lowest floor on ties.
    Tightest,
    /// Slack and floor together, divided by the failures seen there.
    TightAndLow,
    /// Slack divided by the failures seen there.
    Failing,
}

/// One component of the conflict graph. Indices are local; fixed blocks have become obstacles.
pub(super) struct Skyline {
    capacity: u64,
    ids: Vec<u32>,
    pub size: Vec<u64>,
    align: Vec<u64>,
    /// Elementary intervals of each block; a separation is an interval of its own.
    pub sections: Vec<Vec<u32>>,
    members: Vec<Vec<u32>>,
    hull: Vec<(u32, u32)>,
    near: Vec<Vec<u32>>,
    /// Ranges a block must avoid, sorted.
    obstacles: Vec<Vec<(u64, u64)>>,
    /// A block like this one with a lower index, to be placed first.
    twin: Vec<u32>,
    /// Which of several candidates to try first.
    pub rank: Vec<u32>,
    pub focus: Focus,
    /// Failures seen per interval.
    weight: Vec<u64>,
    placed: Vec<bool>,
    floor: Vec<u64>,
    /// The floor is the ground, an obstacle or the top of a placed block.
    based: Vec<bool>,
    /// Bytes of unplaced blocks per interval, and their lowest floor.
    left: Vec<u64>,
    lowest: Vec<u64>,
    /// Unplaced blocks that span the boundary before an interval.
    cross: Vec<u32>,
    trail: Vec<Undo>,
    stack: Vec<u32>,
    dirty: Vec<u32>,
    is_dirty: Vec<bool>,
    nodes: u64,
    limit: u64,
}

enum Undo {
    Floor(u32, u64, bool),
    Lowest(u32, u64),
}

const NONE: u32 = u32::MAX;

/// What to do next.
enum Next {
    Decide(usize),
    Done,
    DeadEnd,
}

impl Skyline {
    pub fn new(p: &Prepared, part: &[u32], capacity: u64) -> Skyline {
        let ids: Vec<u32> = part.iter().copied().filter(|&b| p.blocks[b as usize].fixed.is_none()).collect();
        let n = ids.len();
        let mut local = vec![NONE; p.blocks.len()];
        for (k, &b) in ids.iter().enumerate() {
            local[b as usize] = k as u32;
        }
        let (sections, count) = dense_sections(p, part, &ids, &local);
        let near = ids.iter().map(|&b| {
            let all = p.conflicts[b as usize].iter().map(|&o| local[o as usize]);
            all.filter(|&o| o != NONE).collect()
        });
        let near: Vec<Vec<u32>> = near.collect();
        let obstacles: Vec<Vec<(u64, u64)>> = ids
            .iter()
            .map(|&b| {
                let fixed = p.conflicts[b as usize].iter().filter_map(|&o| {
                    let other = &p.blocks[o as usize];
                    other.fixed.map(|f| (f, f + other.size))
                });
                let mut list: Vec<(u64, u64)> = p.reserved.iter().copied().chain(fixed).collect();
                list.sort_unstable();
                list
            })
            .collect();
        let size: Vec<u64> = ids.iter().map(|&b| p.blocks[b as usize].size).collect();
        let align: Vec<u64> = ids.iter().map(|&b| p.blocks[b as usize].align).collect();
        let like = |j: usize, k: usize| {
            (size[j], align[j]) == (size[k], align[k])
                && sections[j] == sections[k]
                && obstacles[j] == obstacles[k]
        };
        let twin = (0..n).map(|k| (0..k).rev().find(|&j| like(j, k)).map_or(NONE, |j| j as u32)).collect();
        let ends =
            |s: &Vec<u32>| (s.iter().min().copied().unwrap_or(0), s.iter().max().copied().unwrap_or(0));
        let hull = sections.iter().map(ends).collect();
        let mut members = vec![Vec::new(); count];
        for (k, s) in sections.iter().enumerate() {
            s.iter().for_each(|&x| members[x as usize].push(k as u32));
        }
        Skyline {
            capacity,
            ids,
            size,
            align,
            sections,
            members,
            hull,
            near,
            obstacles,
            twin,
            rank: vec![0; n],
            focus: Focus::Lowest,
            weight: vec![0; count],
            placed: vec![false; n],
            floor: vec![0; n],
            based: vec![true; n],
            left: vec![0; count],
            lowest: vec![0; count],
            cross: vec![0; count + 1],
            trail: Vec::new(),
            stack: Vec::new(),
            dirty: Vec::new(),
            is_dirty: vec![false; count],
            nodes: 0,
            limit: 0,
        }
    }

    /// Block index and offset of every block, after a plan was found.
    pub fn offsets(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.ids.iter().zip(&self.floor).map(|(&b, &at)| (b as usize, at))
    }

    /// Takes everything back; failures seen so far fade.
    pub fn reset(&mut self) {
        self.trail.clear();
        self.stack.clear();
        self.dirty.clear();
        self.is_dirty.fill(false);
        self.left.fill(0);
        self.cross.fill(0);
        self.lowest.fill(u64::MAX);
        for k in 0..self.ids.len() {
            self.placed[k] = false;
            self.based[k] = true;
            self.floor[k] = self.rest(k, 0);
            for &s in &self.sections[k] {
                self.left[s as usize] += self.size[k];
                self.lowest[s as usize] = self.lowest[s as usize].min(self.floor[k]);
            }
            for x in self.hull[k].0 + 1..=self.hull[k].1 {
                self.cross[x as usize] += 1;
            }
        }
        for w in &mut self.weight {
            *w -= *w / 8;
        }
    }

    /// Searches from a reset state; the answer (`None` at the limit) and the nodes visited.
    pub fn solve_within(&mut self, limit: u64) -> (Option<bool>, u64) {
        (self.nodes, self.limit) = (0, limit);
        let start = (0..self.ids.len()).all(|k| self.floor[k] + self.size[k] <= self.capacity)
            && (0..self.left.len())
                .all(|s| self.lowest[s] == u64::MAX || self.lowest[s] + self.left[s] <= self.capacity);
        if !start {
            return (Some(false), 1);
        }
        (self.solve(0, self.members.len()), self.nodes)
    }

    /// The lowest place of a block at or above `from`, aligned and clear of its obstacles.
    fn rest(&self, k: usize, from: u64) -> u64 {
        let mut at = align_up(from, self.align[k]);
        for &(a, b) in &self.obstacles[k] {
            if at < b && a < at + self.size[k] {
                at = align_up(b, self.align[k]);
            }
        }
        at
    }

    fn mark(&mut self, s: usize) {
        if !self.is_dirty[s] {
            self.is_dirty[s] = true;
            self.dirty.push(s as u32);
        }
    }

    /// Raises a floor; false if the block no longer fits.
    fn raise(&mut self, k: usize, to: u64, based: bool) -> bool {
        let old = self.floor[k];
        self.trail.push(Undo::Floor(k as u32, old, self.based[k]));
        (self.floor[k], self.based[k]) = (to, based);
        for i in 0..self.sections[k].len() {
            let s = self.sections[k][i] as usize;
            if self.lowest[s] == old {
                self.mark(s);
            }
        }
        let fits = to + self.size[k] <= self.capacity;
        if !fits {
            for &s in &self.sections[k] {
                self.weight[s as usize] += 1;
            }
        }
        fits
    }

    /// Recomputes the lowest floor of changed intervals; false if one has no room left.
    fn settle(&mut self) -> bool {
        let mut room = true;
        while let Some(s) = self.dirty.pop() {
            let s = s as usize;
            self.is_dirty[s] = false;
            if !room {
                continue;
            }
            let unplaced = self.members[s].iter().filter(|&&k| !self.placed[k as usize]);
            let low = unplaced.map(|&k| self.floor[k as usize]).min().unwrap_or(u64::MAX);
            if low != self.lowest[s] {
                self.trail.push(Undo::Lowest(s as u32, self.lowest[s]));
                self.lowest[s] = low;
            }
            if low != u64::MAX && low + self.left[s] > self.capacity {
                self.weight[s] += 1;
                room = false;
            }
        }
        room
    }

    fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            match self.trail.pop() {
                Some(Undo::Floor(k, floor, based)) => {
                    (self.floor[k as usize], self.based[k as usize]) = (floor, based);
                }
                Some(Undo::Lowest(s, low)) => self.lowest[s as usize] = low,
                None => {}
            }
        }
    }

    /// The unplaced neighbour with the least end at its floor.
    fn least_end(&self, k: usize) -> Option<(u64, usize)> {
        let unplaced = self.near[k].iter().map(|&d| d as usize).filter(|&d| !self.placed[d]);
        unplaced.map(|d| (self.floor[d] + self.size[d], d)).min_by_key(|e| e.0)
    }

    /// The interval to look at next, by the focus.
    fn choose_section(&self, a: usize, b: usize) -> Option<usize> {
        let mut best: Option<(u128, usize)> = None;
        for s in (a..b).filter(|&s| self.lowest[s] != u64::MAX) {
            let low = self.lowest[s];
            let slack = self.capacity - low - self.left[s];
            let failures = u128::from(self.weight[s] + 1);
            let key = match self.focus {
                Focus::Lowest => u128::from(low) << 64 | u128::from(slack),
                Focus::Tightest => u128::from(slack) << 64 | u128::from(low),
                Focus::TightAndLow => (u128::from(slack) + u128::from(low / 8) + 1024) * 1024 / failures,
                Focus::Failing => (u128::from(slack) + 1024) * 1024 / failures,
            };
            if best.is_none_or(|b| key < b.0) {
                best = Some((key, s));
            }
        }
        best.map(|b| b.1)
    }

    /// The next block to decide on in intervals `a..b`; raises what needs no decision.
    fn pick(&mut self, a: usize, b: usize) -> Next {
        loop {
            let Some(s) = self.choose_section(a, b) else { return Next::Done };
            let here = self.members[s].iter().map(|&k| k as usize);
            let lowest = here.filter(|&k| !self.placed[k] && self.floor[k] == self.lowest[s]);
            let Some(first) = lowest.min_by_key(|&k| self.rank[k]) else { return Next::DeadEnd };
            match self.descend(first) {
                Ok(c) => return Next::Decide(c),
                Err((k, to, based)) => {
                    let fits = to.is_some_and(|to| self.raise(k, to, based));
                    if !self.settle() || !fits {
                        return Next::DeadEnd;
                    }
                }
            }
        }
    }

    /// From a block down to one that nothing unplaced can get under; or a block to raise first, to
    /// where (nowhere: a dead end), and whether it rests there.
    fn descend(&self, mut c: usize) -> Result<usize, (usize, Option<u64>, bool)> {
        loop {
            let twin = self.twin[c] as usize;
            if self.twin[c] != NONE && !self.placed[twin] {
                if self.floor[twin] > self.floor[c] {
                    return Err((c, Some(self.floor[twin]), true));
                }
                c = twin;
                continue;
            }
            let under = self.least_end(c);
            match under {
                Some((end, d)) if end <= self.floor[c] => c = d,
                _ if self.based[c] => return Ok(c),
                _ => return Err((c, under.map(|u| self.rest(c, u.0)), false)),
            }
        }
    }

    /// Places all unplaced blocks of intervals `a..b`. On failure everything is taken back; at the
    /// limit (`None`) nothing is.
    fn solve(&mut self, a: usize, b: usize) -> Option<bool> {
        let mark = self.trail.len();
        loop {
            let c = match self.pick(a, b) {
                Next::Done => return Some(true),
                Next::Decide(c) => c,
                Next::DeadEnd => break,
            };
            self.nodes += 1;
            if self.nodes > self.limit {
                return None;
            }
            let here = self.trail.len();
            let answer = self.place(a, b, c);
            if answer != Some(false) {
                return answer;
            }
            self.undo(here);
            let Some((end, _)) = self.least_end(c) else { break };
            let fits = self.raise(c, self.rest(c, end), false);
            if !self.settle() || !fits {
                break;
            }
        }
        self.undo(mark);
        Some(false)
    }

    /// Places `c` at its floor and goes on; floors are left to the caller to take back.
    fn place(&mut self, a: usize, b: usize, c: usize) -> Option<bool> {
        let depth = self.stack.len();
        let fits = self.put(c);
        let mut answer = Some(fits);
        let mut from = a;
        for x in a + 1..=b {
            if answer != Some(true) {
                break;
            }
            // Nothing unplaced crosses the boundary before x: a piece of its own ends there.
            if x == b || self.cross[x] == 0 {
                if (from..x).any(|s| self.lowest[s] != u64::MAX) {
                    answer = self.solve(from, x);
                }
                from = x;
            }
        }
        if answer == Some(false) {
            while self.stack.len() > depth {
                if let Some(k) = self.stack.pop() {
                    self.take_back(k as usize);
                }
            }
        }
        answer
    }

    /// Places a block and lifts its neighbours; false if something no longer fits.
    fn put(&mut self, c: usize) -> bool {
        self.stack.push(c as u32);
        self.placed[c] = true;
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
            if self.placed[j] {
                continue;
            }
            if self.floor[j] < top {
                fits = self.raise(j, self.rest(j, top), true);
            } else if !self.based[j] && self.floor[j] == self.rest(j, top) {
                self.trail.push(Undo::Floor(j as u32, self.floor[j], false));
                self.based[j] = true;
            }
            if !fits {
                break;
            }
        }
        self.settle() && fits
    }

    fn take_back(&mut self, k: usize) {
        self.placed[k] = false;
        for &s in &self.sections[k] {
            self.left[s as usize] += self.size[k];
        }
        for x in self.hull[k].0 + 1..=self.hull[k].1 {
            self.cross[x as usize] += 1;
        }
    }
}

/// Elementary intervals numbered densely, separations behind them; and how many there are.
fn dense_sections(p: &Prepared, part: &[u32], ids: &[u32], local: &[u32]) -> (Vec<Vec<u32>>, usize) {
    let mut used: Vec<u32> =
        part.iter().flat_map(|&b| p.blocks[b as usize].live.iter().map(|l| l.0)).collect();
    used.sort_unstable();
    used.dedup();
    let number = |s: u32| used.partition_point(|&u| u < s) as u32;
    let live = ids.iter().map(|&b| p.blocks[b as usize].live.iter().map(|l| number(l.0)).collect());
    let mut sections: Vec<Vec<u32>> = live.collect();
    let mut count = used.len() as u32;
    for &(a, b) in &p.separated {
        let (a, b) = (local[a as usize], local[b as usize]);
        if a != NONE && b != NONE {
            sections[a as usize].push(count);
            sections[b as usize].push(count);
            count += 1;
        }
    }
    (sections, count as usize)
}
