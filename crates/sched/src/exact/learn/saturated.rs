//! What many uses of one nearly full unit say together.
//!
//! Let uses i and j of a unit have a wrap of at least k. A use c lies between them when its wraps after i and before j
//! add up to k: some instance of it then starts after i ends and ends before j starts. All such instances are held
//! one after the other, so `x_ij >= d_i + k*II + sum d_c`, while the network, which sees pairs, knows the longest
//! alone. And where not even one more fits, every other use is outside.

use super::learner::{Conflict, Learner, Reason};
use super::unit::{NO_PAIR, Saturated};
use crate::exact::clauses::{Lit, negated};

/// Wraps beyond this are left to the pairs.
const MOST_WRAP: i64 = 1 << 20;

impl Learner {
    /// Imposes and implies what every nearly full unit says.
    pub(super) fn narrow_all_saturated(&mut self) -> Result<(), Conflict> {
        let mut resources = std::mem::take(&mut self.saturated);
        // All are read before any imposes something: only here is every wrap also a truth.
        for saturated in &mut resources {
            self.net.work += (saturated.len() * saturated.len() / 2) as u64;
            self.read_wraps(saturated);
        }
        let consistent = resources.iter().filter(|c| c.in_range).try_for_each(|c| self.narrow_saturated(c));
        self.saturated = resources;
        self.went_back = false;
        consistent
    }

    fn narrow_saturated(&mut self, saturated: &Saturated) -> Result<(), Conflict> {
        let n = saturated.len();
        for i in 0..n {
            for j in 0..n {
                let (id, turned) = saturated.pairs[i * n + j];
                if id == NO_PAIR || !(saturated.from_news[i] || saturated.to_news[j]) {
                    continue;
                }
                self.net.work += n as u64 / 8;
                let k = saturated.from[i * n + j];
                let between = saturated.between(i, j, k);
                let pair = self.wraps[id as usize].pair;
                let (a, b, offset) =
                    if turned { (pair.b, pair.a, -pair.offset) } else { (pair.a, pair.b, pair.offset) };
                let (a, b) = (a as usize, b as usize);
                let least = i64::from(saturated.held[i]) + self.span.least(i64::from(k)) + i64::from(between);
                if between > 0 && least - offset > self.net.dist(a, b) {
                    let because = self.between_because(saturated, i, j, k);
                    self.impose_derived(a, b, least - offset, &because)?;
                }
                let room = offset - self.net.dist(b, a) - least;
                if room < saturated.longest && saturated.some_undecided(i, j, k, room) {
                    self.keep_out(saturated, (i, j), (a, b), room)?;
                }
            }
        }
        Ok(())
    }

    /// Reads the least wraps of all uses, and notes which are new.
    fn read_wraps(&self, saturated: &mut Saturated) {
        let n = saturated.len();
        // What was found before going back may be lost.
        saturated.from_news.fill(self.went_back);
        saturated.to_news.fill(self.went_back);
        saturated.in_range = true;
        for i in 0..n {
            for j in 0..i {
                let (id, turned) = saturated.pairs[i * n + j];
                if id == NO_PAIR {
                    continue;
                }
                let (least, most) = self.wraps[id as usize].left;
                if least < -MOST_WRAP || most > MOST_WRAP {
                    saturated.in_range = false;
                    continue;
                }
                let (there, back) = (least as i32, -1 - most as i32);
                let (ij, ji) = if turned { (back, there) } else { (there, back) };
                saturated.set(i, j, ij);
                saturated.set(j, i, ji);
            }
        }
    }

    /// Uses of which not even one more fits between i and j are outside.
    fn keep_out(
        &mut self,
        saturated: &Saturated,
        (i, j): (usize, usize),
        (a, b): (usize, usize),
        room: i64,
    ) -> Result<(), Conflict> {
        let n = saturated.len();
        let k = saturated.from[i * n + j];
        let mut because: Option<Vec<Lit>> = None;
        for c in 0..n {
            let (after, before) = (saturated.from[i * n + c], saturated.to[j * n + c]);
            if after + before != k - 1 || i64::from(saturated.held[c]) <= room {
                continue;
            }
            // One more wrap on either side would put it between.
            for ((x, y), other, wrap, known) in
                [((i, c), (c, j), after, before), ((c, j), (i, c), before, after)]
            {
                let Some(lit) = self.at_least(saturated, x, y, wrap + 1) else { continue };
                if self.values.of(lit) < 0 {
                    continue;
                }
                let mut reason = match &because {
                    Some(because) => because.clone(),
                    None => {
                        let mut reason = self.between_because(saturated, i, j, k);
                        reason.extend(self.path(b, a));
                        because.insert(reason).clone()
                    }
                };
                reason.extend(self.at_least(saturated, other.0, other.1, known));
                reason.sort_unstable();
                reason.dedup();
                if reason.iter().any(|&l| self.values.of(l) <= 0) {
                    continue;
                }
                if self.values.of(lit) > 0 {
                    reason.push(lit);
                    return Err(reason);
                }
                let at = self.arena.len() as u32;
                self.arena.extend(&reason);
                self.assign(negated(lit), Reason::Theory { at, len: reason.len() as u32 });
            }
        }
        Ok(())
    }

    /// The truths that put uses between i and j.
    fn between_because(&self, saturated: &Saturated, i: usize, j: usize, k: i32) -> Vec<Lit> {
        let n = saturated.len();
        let mut lits = Vec::new();
        for c in 0..n {
            let after = saturated.from[i * n + c];
            if after + saturated.to[j * n + c] >= k {
                lits.extend(self.at_least(saturated, i, c, after));
                lits.extend(self.at_least(saturated, c, j, k - after));
            }
        }
        lits.sort_unstable();
        lits.dedup();
        debug_assert!(lits.iter().all(|&l| self.values.of(l) > 0), "a wrap that is no truth");
        lits
    }

    /// The truth that the wrap from use i to use j is at least so much; none where that was given.
    fn at_least(&self, saturated: &Saturated, i: usize, j: usize, wrap: i32) -> Option<Lit> {
        let (id, turned) = saturated.pairs[i * saturated.len() + j];
        let truths = self.truths.get(id as usize)?;
        let wrap = i64::from(wrap);
        if turned {
            // The wrap back is `-1 - wrap`: at most that is not one more.
            (truths.first < -wrap && -wrap <= truths.last).then(|| negated(truths.at_least(-wrap)))
        } else {
            (truths.first < wrap && wrap <= truths.last).then(|| truths.at_least(wrap))
        }
    }
}
