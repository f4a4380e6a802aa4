//! What the blocks of one clique, which must be stacked, say about each other's places.
//!
//! A clique is a machine: blocks are its jobs, floors their heads, ceilings (upper bounds on their
//! ends) their deadlines. Three rules of disjunctive scheduling (Carlier 1982 and after):
//! - *overload*: blocks between the least floor and the highest ceiling of a set must fit there;
//! - *not first*: block c at its floor with all of a set above it passes the set's ceilings: some
//!   block of the set is below c, so c lies above the least end of the set;
//! - *not last*: the same upside down; it lowers the ceiling of c.
//!
//! They exclude no plan. What one clique learns, the next one that shares a block uses: blocks forced
//! up here leave others only low places there.

use super::{Job, PLACED, Skyline, Undo};

impl Skyline<'_> {
    /// Whether [`Skyline::tighten`] is worth its time: where alignment wastes bytes, so that stacking is
    /// more than adding up. Elsewhere it was measured to prove nothing more per node.
    pub(super) fn close(&self) -> bool {
        self.stacks.wasteful()
    }

    /// The highest end of a block at or below `to`, aligned and clear of its obstacles.
    pub(super) fn hang(&self, k: usize, to: u64) -> Option<u64> {
        let down = |end: u64| {
            let at = end.checked_sub(self.size[k])?;
            Some(at - at % self.align[k])
        };
        let mut at = down(to)?;
        for &(a, b) in self.obstacles[k].iter().rev() {
            if at < b && a < at + self.size[k] {
                at = down(a)?;
            }
        }
        Some(at + self.size[k])
    }

    /// Lowers a ceiling; false if the block no longer fits.
    fn lower(&mut self, k: usize, to: u64) -> bool {
        let Some(to) = self.hang(k, to) else { return false };
        self.trail.push(Undo::Ceiling(k as u32, self.ceiling[k]));
        self.ceiling[k] = to;
        for i in 0..self.sections[k].len() {
            self.mark(self.sections[k][i] as usize);
        }
        self.floor[k] + self.size[k] <= to
    }

    /// Raises floors and lowers ceilings of unplaced blocks of an interval; false if they cannot be
    /// stacked.
    pub(super) fn tighten(&mut self, s: usize) -> bool {
        let mut jobs = std::mem::take(&mut self.jobs);
        jobs.clear();
        let unplaced = self.members[s].iter().filter(|&&k| self.open[k as usize] != PLACED);
        jobs.extend(unplaced.map(|&block| {
            let k = block as usize;
            Job { block, size: self.size[k], floor: self.floor[k], ceiling: self.ceiling[k] }
        }));
        let high = jobs.iter().map(|j| j.floor).max().unwrap_or(0);
        let low = jobs.iter().map(|j| j.ceiling).min().unwrap_or(u64::MAX);
        let reach = high + self.left[s] + self.stacks.most(jobs.len());
        let room =
            reach <= low || self.overload(&mut jobs) && self.not_first(&mut jobs) && self.not_last(&mut jobs);
        self.jobs = jobs;
        room
    }

    /// Every set fits between its floors and ceilings.
    fn overload(&mut self, jobs: &mut [Job]) -> bool {
        jobs.sort_unstable_by_key(|j| (std::cmp::Reverse(j.floor), j.block));
        for n in 0..jobs.len() {
            let ceiling = jobs[n].ceiling;
            if jobs[..n].iter().any(|j| j.ceiling == ceiling) {
                continue;
            }
            let (mut sum, mut mask, mut count) = (0, 0u64, 0);
            for j in jobs.iter().filter(|j| j.ceiling <= ceiling) {
                sum += j.size;
                mask |= 1 << j.block;
                count += 1;
                let Some(slack) = ceiling.checked_sub(j.floor + sum) else { return false };
                if slack < self.stacks.most(count) && !self.stacks.fits(mask, j.floor, slack) {
                    return false;
                }
            }
        }
        true
    }

    /// Lifts every block that cannot be below all of some set of others.
    fn not_first(&mut self, jobs: &mut [Job]) -> bool {
        // High ends first: the set that says most.
        jobs.sort_unstable_by_key(|j| (std::cmp::Reverse(j.floor + j.size), j.block));
        for n in 0..jobs.len() {
            let job = jobs[n];
            let top = job.floor + job.size;
            let (mut sum, mut ceiling, mut mask, mut count) = (top, 0, 0u64, 0);
            for j in jobs.iter().filter(|j| j.block != job.block) {
                sum += j.size;
                ceiling = ceiling.max(j.ceiling);
                mask |= 1 << j.block;
                count += 1;
                let fits = ceiling.checked_sub(sum).is_some_and(|slack| {
                    slack >= self.stacks.most(count) || self.stacks.fits(mask, top, slack)
                });
                if fits {
                    continue;
                }
                let least = j.floor + j.size;
                let k = job.block as usize;
                if least > self.floor[k] {
                    let to = self.rest(k, least);
                    if !self.raise(k, to, self.base[k]) {
                        return false;
                    }
                }
                break;
            }
        }
        true
    }

    /// Lowers every block that cannot be above all of some set of others.
    fn not_last(&mut self, jobs: &mut [Job]) -> bool {
        // Low starts first.
        jobs.sort_unstable_by_key(|j| (j.ceiling - j.size, j.block));
        for n in 0..jobs.len() {
            let job = jobs[n];
            let (mut sum, mut floor) = (job.size, u64::MAX);
            for j in jobs.iter().filter(|j| j.block != job.block) {
                sum += j.size;
                floor = floor.min(j.floor);
                if floor + sum <= job.ceiling {
                    continue;
                }
                let most = j.ceiling - j.size;
                let k = job.block as usize;
                if most < self.ceiling[k] && !self.lower(k, most) {
                    return false;
                }
                break;
            }
        }
        true
    }

    /// The ceilings before anything is placed: obstacles and alignment alone. False if a block fits
    /// nowhere.
    pub(super) fn hang_all(&mut self) -> bool {
        for k in 0..self.ids.len() {
            match self.hang(k, self.capacity) {
                Some(to) => self.ceiling[k] = to,
                None => return false,
            }
        }
        true
    }
}
