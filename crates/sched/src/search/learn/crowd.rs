//! What many uses of one nearly full unit say together.
//!
//! Let uses i and j of a unit have a lap of at least k. A use c lies between them when its laps after i and before j
//! add up to k: some instance of it then starts after i ends and ends before j starts. All such instances are held
//! one after the other, so `x_ij >= d_i + k*II + sum d_c`, while the network, which sees pairs, knows the longest
//! alone. And where not even one more fits, every other use is outside.

use super::super::clauses::{Lit, negated};
use super::super::span::Span;
use super::super::wrap::Pairs;
use super::{Conflict, Learner, Reason};

/// A unit is crowded when so many in a thousand of its cycles are held.
const CROWDED: i64 = 960;
const LEAST_USES: usize = 4;
const MOST_USES: usize = 48;
/// Laps and IIs beyond these are left to the pairs.
const MOST_LAP: i64 = 1 << 20;
const MOST_II: i64 = 1 << 28;

const NO_PAIR: u32 = u32::MAX;
/// The least lap of two uses by one operation: they are never counted.
const NEVER: i32 = -(1 << 24);

/// The uses of a crowded unit.
pub(super) struct Crowd {
    /// The time after the start of each use in which no other use of the unit can start.
    held: Vec<i32>,
    longest: i64,
    /// The pair of uses i and j at `i * n + j`, and whether it is the other way round.
    pairs: Vec<(u32, bool)>,
    /// Scratch: the least lap from i to j at `i * n + j`, and its mirror image.
    from: Vec<i32>,
    to: Vec<i32>,
    /// Uses from which, and to which, a least lap has changed since the last look.
    from_news: Vec<bool>,
    to_news: Vec<bool>,
    in_range: bool,
}

impl Crowd {
    /// The crowded units.
    pub fn all(pairs: &Pairs, span: Span) -> Vec<Crowd> {
        let mut units: Vec<(u32, usize)> = Vec::new();
        for m in &pairs.meetings {
            let most = m.places.0.max(m.places.1) as usize + 1;
            match units.iter_mut().find(|(unit, _)| *unit == m.unit) {
                Some((_, uses)) => *uses = most.max(*uses),
                None => units.push((m.unit, most)),
            }
        }
        let wanted =
            units.into_iter().filter(|(_, n)| (LEAST_USES..=MOST_USES).contains(n) && span.high < MOST_II);
        wanted.filter_map(|(unit, n)| Crowd::of(pairs, unit, n, span)).collect()
    }

    fn of(pairs: &Pairs, unit: u32, n: usize, span: Span) -> Option<Crowd> {
        let mut crowd = Crowd {
            held: vec![i32::MAX; n],
            longest: 0,
            pairs: vec![(NO_PAIR, false); n * n],
            from: vec![NEVER; n * n],
            to: vec![NEVER; n * n],
            from_news: vec![true; n],
            to_news: vec![true; n],
            in_range: true,
        };
        for m in pairs.meetings.iter().filter(|m| m.unit == unit) {
            let (i, j) = (m.places.0 as usize, m.places.1 as usize);
            (crowd.pairs[i * n + j], crowd.pairs[j * n + i]) = ((m.pair, false), (m.pair, true));
            // Both may also meet on other units, for longer.
            let pair = pairs.list[m.pair as usize];
            crowd.held[i] = crowd.held[i].min(pair.first as i32);
            crowd.held[j] = crowd.held[j].min(pair.second as i32);
        }
        crowd.longest = crowd.held.iter().map(|&d| i64::from(d)).max().unwrap_or(0);
        let held: i64 = crowd.held.iter().map(|&d| i64::from(d)).sum();
        (span.low * CROWDED..=span.high * 1_000).contains(&(held * 1_000)).then_some(crowd)
    }

    fn len(&self) -> usize {
        self.held.len()
    }

    fn set(&mut self, i: usize, j: usize, lap: i32) {
        let n = self.len();
        if self.from[i * n + j] != lap {
            (self.from[i * n + j], self.to[j * n + i]) = (lap, lap);
            (self.from_news[i], self.to_news[j]) = (true, true);
        }
    }

    /// The time held by uses between i and j, given the least lap `k` between them.
    fn between(&self, i: usize, j: usize, k: i32) -> i32 {
        let n = self.len();
        let (from, to) = (&self.from[i * n..][..n], &self.to[j * n..][..n]);
        let sums = from.iter().zip(to).zip(&self.held);
        // A mask, so that it takes several at a time.
        sums.map(|((f, t), d)| d & -i32::from(f + t >= k)).sum()
    }

    /// Whether a use longer than `room` may still be between i and j, and may be outside.
    fn some_undecided(&self, i: usize, j: usize, k: i32, room: i64) -> bool {
        let room = i32::try_from(room).unwrap_or(i32::MIN);
        let n = self.len();
        let (from_i, to_j) = (&self.from[i * n..][..n], &self.to[j * n..][..n]);
        let (to_i, from_j) = (&self.to[i * n..][..n], &self.from[j * n..][..n]);
        let mut any = 0;
        // No early exit, so that it takes several at a time.
        for c in 0..n {
            let outside = from_i[c] + to_j[c] == k - 1;
            let sure = to_i[c] + from_j[c] > -2 - k;
            any |= i32::from(outside & !sure & (self.held[c] > room));
        }
        any != 0
    }
}

impl Learner {
    /// Imposes and implies what every nearly full unit says.
    pub(super) fn narrow_crowds(&mut self) -> Result<(), Conflict> {
        let mut crowds = std::mem::take(&mut self.crowds);
        // All are read before any imposes something: only here is every lap also a truth.
        for crowd in &mut crowds {
            self.net.work += (crowd.len() * crowd.len() / 2) as u64;
            self.read_laps(crowd);
        }
        let consistent = crowds.iter().filter(|c| c.in_range).try_for_each(|c| self.narrow_crowd(c));
        self.crowds = crowds;
        self.went_back = false;
        consistent
    }

    fn narrow_crowd(&mut self, crowd: &Crowd) -> Result<(), Conflict> {
        let n = crowd.len();
        for i in 0..n {
            for j in 0..n {
                let (id, turned) = crowd.pairs[i * n + j];
                if id == NO_PAIR || !(crowd.from_news[i] || crowd.to_news[j]) {
                    continue;
                }
                self.net.work += n as u64 / 8;
                let k = crowd.from[i * n + j];
                let between = crowd.between(i, j, k);
                let pair = self.laps[id as usize].pair;
                let (a, b, offset) =
                    if turned { (pair.b, pair.a, -pair.offset) } else { (pair.a, pair.b, pair.offset) };
                let (a, b) = (a as usize, b as usize);
                let least = i64::from(crowd.held[i]) + self.span.least(i64::from(k)) + i64::from(between);
                if between > 0 && least - offset > self.net.dist(a, b) {
                    let because = self.between_because(crowd, i, j, k);
                    self.impose_derived(a, b, least - offset, &because)?;
                }
                let room = offset - self.net.dist(b, a) - least;
                if room < crowd.longest && crowd.some_undecided(i, j, k, room) {
                    self.keep_out(crowd, (i, j), (a, b), room)?;
                }
            }
        }
        Ok(())
    }

    /// Reads the least laps of all uses, and notes which are new.
    fn read_laps(&self, crowd: &mut Crowd) {
        let n = crowd.len();
        // What was found before going back may be lost.
        crowd.from_news.fill(self.went_back);
        crowd.to_news.fill(self.went_back);
        crowd.in_range = true;
        for i in 0..n {
            for j in 0..i {
                let (id, turned) = crowd.pairs[i * n + j];
                if id == NO_PAIR {
                    continue;
                }
                let (least, most) = self.laps[id as usize].left;
                if least < -MOST_LAP || most > MOST_LAP {
                    crowd.in_range = false;
                    continue;
                }
                let (there, back) = (least as i32, -1 - most as i32);
                let (ij, ji) = if turned { (back, there) } else { (there, back) };
                crowd.set(i, j, ij);
                crowd.set(j, i, ji);
            }
        }
    }

    /// Uses of which not even one more fits between i and j are outside.
    fn keep_out(
        &mut self,
        crowd: &Crowd,
        (i, j): (usize, usize),
        (a, b): (usize, usize),
        room: i64,
    ) -> Result<(), Conflict> {
        let n = crowd.len();
        let k = crowd.from[i * n + j];
        let mut because: Option<Vec<Lit>> = None;
        for c in 0..n {
            let (after, before) = (crowd.from[i * n + c], crowd.to[j * n + c]);
            if after + before != k - 1 || i64::from(crowd.held[c]) <= room {
                continue;
            }
            // One more lap on either side would put it between.
            for ((x, y), other, lap, known) in
                [((i, c), (c, j), after, before), ((c, j), (i, c), before, after)]
            {
                let Some(lit) = self.at_least(crowd, x, y, lap + 1) else { continue };
                if self.values.of(lit) < 0 {
                    continue;
                }
                let mut reason = match &because {
                    Some(because) => because.clone(),
                    None => {
                        let mut reason = self.between_because(crowd, i, j, k);
                        reason.extend(self.path(b, a));
                        because.insert(reason).clone()
                    }
                };
                reason.extend(self.at_least(crowd, other.0, other.1, known));
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
    fn between_because(&self, crowd: &Crowd, i: usize, j: usize, k: i32) -> Vec<Lit> {
        let n = crowd.len();
        let mut lits = Vec::new();
        for c in 0..n {
            let after = crowd.from[i * n + c];
            if after + crowd.to[j * n + c] >= k {
                lits.extend(self.at_least(crowd, i, c, after));
                lits.extend(self.at_least(crowd, c, j, k - after));
            }
        }
        lits.sort_unstable();
        lits.dedup();
        debug_assert!(lits.iter().all(|&l| self.values.of(l) > 0), "a lap that is no truth");
        lits
    }

    /// The truth that the lap from use i to use j is at least so much; none where that was given.
    fn at_least(&self, crowd: &Crowd, i: usize, j: usize, lap: i32) -> Option<Lit> {
        let (id, turned) = crowd.pairs[i * crowd.len() + j];
        let truths = self.truths.get(id as usize)?;
        let lap = i64::from(lap);
        if turned {
            // The lap back is `-1 - lap`: at most that is not one more.
            (truths.first < -lap && -lap <= truths.last).then(|| negated(truths.at_least(-lap)))
        } else {
            (truths.first < lap && lap <= truths.last).then(|| truths.at_least(lap))
        }
    }
}
