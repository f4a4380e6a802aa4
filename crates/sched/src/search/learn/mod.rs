//! Conflict-driven search over wrap counts (S34): clause learning (Marques-Silva and Sakallah 1996) with the
//! closed network as its theory, as in solvers for difference logic (Cotton and Maler 2006).
//!
//! A pair's lap k is ordered into truths `k >= j`. Each truth and its opposite is one difference constraint. The
//! network tells which laps are impossible and, by the paths that made its distances, why; what led to a
//! contradiction is learnt as a clause, so that no branch fails twice for one reason.

mod choose;
mod conflict;
mod crowd;
mod lengths;
mod open;
mod overload;
#[cfg(test)]
mod tests;
mod theory;

use super::clauses::{Clauses, Lit, Values, negated};
use super::contract::Active;
use super::network::Network;
use super::span::Span;
use super::wrap::{Pair, Pairs, Pool};
use super::{Budget, Verdict};
use crate::guard::Guard;
use crowd::Crowd;
use open::Open;

/// Conflicts of the shortest run between restarts (Luby 1993 gives the multiples).
const RUN: u64 = 50;
/// Conflicts before nearly full units are looked at as a whole: what is easy does without.
const CALM: u64 = 20;
/// Clauses kept before the first clean-up.
const MOST_CLAUSES: usize = 2_000;
/// Weights are scaled down beyond this.
const MOST_WEIGHT: u64 = 1 << 40;

/// Marks the reasons of distances that come from a length; the rest is a place in `ends`.
const LENGTH: u32 = 1 << 31;
/// Marks those that come from several truths; the rest is a place in `derived`.
const DERIVED: u32 = 1 << 30;

#[derive(Clone, Copy)]
enum Reason {
    Decision,
    Clause(u32),
    /// Truths in the arena that imply it.
    Theory {
        at: u32,
        len: u32,
    },
}

/// A pair and its laps: what is read most, within a line of memory.
struct Laps {
    pair: Pair,
    /// The first and the last lap left, once the network has settled.
    left: (i64, i64),
    /// One by the weight and the square of the time held.
    ease: f64,
}

/// The laps of a pair that were possible at the start, and the first of its truths.
#[derive(Clone, Copy)]
struct Truths {
    first: i64,
    last: i64,
    base: u32,
    watcher: u32,
    /// Grows with failures.
    weight: u64,
    /// The lap it had in the best schedule so far.
    saved: Option<i64>,
}

impl Truths {
    /// That the lap is at least `j`, where that is open at the start.
    fn at_least(&self, j: i64) -> Lit {
        2 * (self.base + (j - self.first - 1) as u32)
    }
}

struct Level {
    trail: usize,
    narrowed: usize,
    net: usize,
    arena: usize,
    open: usize,
    derived: usize,
}

/// A bound between two nodes that several truths made, and their place in the arena.
struct Derived {
    ends: (u32, u32),
    at: u32,
    len: u32,
}

/// A search that keeps what it has learnt from question to question.
pub(crate) struct Learner {
    span: Span,
    net: Network,
    laps: Vec<Laps>,
    truths: Vec<Truths>,
    /// What laps were left to pairs before a decision narrowed them.
    narrowed: Vec<(u32, (i64, i64))>,
    /// The pairs that may have several laps left.
    open: Open,
    /// Units that are nearly full.
    crowds: Vec<Crowd>,
    /// Resources of several units.
    pools: Vec<Pool>,
    /// Pairs to decide next, the best last; as they were ranked when last looked at.
    ranked: Vec<u32>,
    /// Decisions were undone since these were last looked at.
    went_back: bool,
    /// Bounds that several truths made.
    derived: Vec<Derived>,
    /// The pairs of each watcher of the network.
    watchers: Vec<Vec<u32>>,
    values: Values,
    clauses: Clauses,
    /// Per variable.
    reasons: Vec<Reason>,
    level_of: Vec<u32>,
    /// The pair a variable is about; `u32::MAX`: a length.
    owner: Vec<u32>,
    trail: Vec<Lit>,
    /// Truths that clauses, and that the network, have yet to see.
    clauses_at: usize,
    net_at: usize,
    levels: Vec<Level>,
    arena: Vec<Lit>,
    /// Constraints of lengths: the node that must start early enough, and the truth that asks it to.
    ends: Vec<(u32, Lit)>,
    /// Lengths that were asked about: the length, and the truth that the schedule is no longer.
    lengths: Vec<(i64, Lit)>,
    /// Longest path from each node to the end, when lengths are asked about.
    tails: Vec<i64>,
    step: u64,
    conflicts: u64,
    most_clauses: usize,
    seen: Vec<bool>,
    refuted: bool,
}

/// What cannot hold together.
type Conflict = Vec<Lit>;

impl Learner {
    /// `tails`: longest path from each active operation to the end; empty when no length is asked about.
    pub fn new(span: Span, active: &Active, pairs: Pairs, tails: Vec<i64>) -> Self {
        let mut learner = Learner {
            span,
            net: Network::new(active.nodes.len() + 1, &active.dist),
            laps: Vec::with_capacity(pairs.list.len()),
            truths: Vec::with_capacity(pairs.list.len()),
            narrowed: Vec::new(),
            open: Open::new(pairs.list.len()),
            crowds: Crowd::all(&pairs, span),
            pools: pairs.pools,
            ranked: Vec::new(),
            went_back: true,
            derived: Vec::new(),
            watchers: Vec::new(),
            values: Values::default(),
            clauses: Clauses::default(),
            reasons: Vec::new(),
            level_of: Vec::new(),
            owner: Vec::new(),
            trail: Vec::new(),
            clauses_at: 0,
            net_at: 0,
            levels: Vec::new(),
            arena: Vec::new(),
            ends: Vec::new(),
            lengths: Vec::new(),
            tails,
            step: 16,
            conflicts: 0,
            most_clauses: MOST_CLAUSES,
            seen: Vec::new(),
            refuted: pairs.list.iter().any(|p| p.first + p.second > span.high),
        };
        for pair in pairs.list {
            learner.add_pair(pair);
        }
        learner
    }

    fn add_pair(&mut self, pair: Pair) {
        debug_assert!(pair.a < pair.b, "the pairs of a watcher go the same way");
        let (first, last) = pair.laps(&self.net, self.span);
        let bounds = [pair.from(first, self.span), pair.before(last, self.span)];
        self.refuted |=
            first > last || bounds.iter().any(|b| !self.net.impose(b.a as usize, b.b as usize, b.least));
        let id = self.laps.len() as u32;
        let watcher = self.net.watch(pair.a as usize, pair.b as usize);
        if watcher as usize == self.watchers.len() {
            self.watchers.push(Vec::new());
        }
        self.watchers[watcher as usize].push(id);
        let base = self.owner.len() as u32;
        self.laps.push(Laps { pair, left: (first, last), ease: 1.0 });
        self.truths.push(Truths { first, last, base, watcher, weight: 0, saved: None });
        self.weigh(id, 1);
        self.let_sleep(watcher);
        self.add_variables((last - first).max(0) as usize, id);
    }

    fn add_variables(&mut self, count: usize, owner: u32) {
        let variables = self.owner.len() + count;
        self.owner.resize(variables, owner);
        self.values.grow(variables);
        self.clauses.grow(variables);
        self.reasons.resize(variables, Reason::Decision);
        self.level_of.resize(variables, 0);
        self.seen.resize(variables, false);
    }

    /// Adds to the weight of a pair.
    fn weigh(&mut self, pair: u32, more: u64) {
        let (laps, truths) = (&mut self.laps[pair as usize], &mut self.truths[pair as usize]);
        truths.weight += more;
        let held = (laps.pair.first + laps.pair.second) as f64;
        laps.ease = 1.0 / (truths.weight as f64 * held * held);
    }

    /// The pairs of a watcher need no look until one of them loses a lap.
    fn let_sleep(&mut self, watcher: u32) {
        let (mut there, mut back) = (i64::MAX, i64::MAX);
        let mut ends = (0, 0);
        for &i in &self.watchers[watcher as usize] {
            let Laps { pair, left, .. } = &self.laps[i as usize];
            ends = (pair.a as usize, pair.b as usize);
            let limits = pair.kept(*left, self.span);
            (there, back) = (there.min(limits.0), back.min(limits.1));
        }
        self.net.wake_above(ends.0, ends.1, there);
        self.net.wake_above(ends.1, ends.0, back);
    }

    /// The laps of these times, to be tried first.
    pub fn prefer(&mut self, times: &[i64]) {
        let at = |node: u32| times.get(node as usize - 1).copied().unwrap_or(0);
        for (Laps { pair, .. }, truths) in self.laps.iter().zip(&mut self.truths) {
            let x = at(pair.b) - at(pair.a) + pair.offset;
            truths.saved = Some(pair.lap_to(x, self.span));
        }
    }

    /// Times of the active operations, no longer than `length` where one is given; a proof that there are none;
    /// or neither, after so many conflicts.
    pub fn solve(
        &mut self,
        length: Option<i64>,
        conflicts: u64,
        budget: &mut Budget,
        guard: &mut Guard,
    ) -> Verdict {
        self.back_to(0);
        let goal = length.map(|l| self.no_longer(l));
        let (mut left, mut round) = (conflicts, 1);
        while !self.refuted {
            if goal.is_some_and(|g| self.values.of(g) < 0) {
                return Verdict::Refuted;
            }
            let run = (RUN * luby(round)).min(left);
            match self.run(goal, run, budget, guard) {
                Some(verdict) => return verdict,
                None if run == left => return Verdict::Undecided,
                None => left -= run,
            }
            round += 1;
            self.back_to(0);
            if self.clauses.len() > self.most_clauses {
                self.clauses.forget();
                self.most_clauses += self.most_clauses / 16;
            }
        }
        Verdict::Refuted
    }

    /// One run between restarts; `None` when its conflicts are used up.
    fn run(
        &mut self,
        goal: Option<Lit>,
        conflicts: u64,
        budget: &mut Budget,
        guard: &mut Guard,
    ) -> Option<Verdict> {
        let mut left = conflicts;
        loop {
            if let Err(conflict) = self.propagate() {
                if !self.learn(conflict) {
                    self.refuted = true;
                    return Some(Verdict::Refuted);
                }
                left = left.saturating_sub(1);
                self.conflicts += 1;
            } else {
                if left == 0 {
                    return None;
                }
                match goal {
                    Some(goal) if self.levels.is_empty() && self.values.of(goal) < 0 => {
                        return Some(Verdict::Refuted);
                    }
                    Some(goal) if self.levels.is_empty() && self.values.of(goal) == 0 => self.decide(goal),
                    _ => match self.choose(goal.is_some()) {
                        Some(lit) => self.decide(lit),
                        None => match self.overload() {
                            None => {
                                let times = (1..self.net.m).map(|v| self.net.dist(0, v)).collect();
                                return Some(Verdict::Found(times));
                            }
                            Some(clause) => {
                                left = left.saturating_sub(1);
                                if !self.forbid(clause) {
                                    self.refuted = true;
                                    return Some(Verdict::Refuted);
                                }
                            }
                        },
                    },
                }
            }
            let work = std::mem::take(&mut self.net.work)
                + std::mem::take(&mut self.clauses.work)
                + self.laps.len() as u64 / 4;
            if !budget.take(work) || (budget.nodes.is_multiple_of(64) && guard.expired()) {
                return Some(Verdict::Undecided);
            }
        }
    }

    fn decide(&mut self, lit: Lit) {
        let level = Level {
            trail: self.trail.len(),
            narrowed: self.narrowed.len(),
            net: self.net.mark(),
            arena: self.arena.len(),
            open: self.open.len,
            derived: self.derived.len(),
        };
        self.levels.push(level);
        self.assign(lit, Reason::Decision);
    }

    fn assign(&mut self, lit: Lit, reason: Reason) {
        let variable = lit as usize / 2;
        self.values.set(lit);
        self.reasons[variable] = reason;
        self.level_of[variable] = self.levels.len() as u32;
        self.trail.push(lit);
    }

    fn back_to(&mut self, level: usize) {
        let Some(to) = self.levels.get(level) else { return };
        let narrowed = to.narrowed;
        self.net.undo(to.net);
        self.arena.truncate(to.arena);
        self.open.len = to.open;
        self.ranked.clear();
        self.went_back = true;
        self.derived.truncate(to.derived);
        for lit in self.trail.drain(to.trail..) {
            self.values.clear(lit);
        }
        self.clauses_at = self.clauses_at.min(self.trail.len());
        self.net_at = self.net_at.min(self.trail.len());
        self.levels.truncate(level);
        self.net.all_asleep();
        while self.narrowed.len() > narrowed {
            if let Some((pair, left)) = self.narrowed.pop() {
                self.laps[pair as usize].left = left;
                self.let_sleep(self.truths[pair as usize].watcher);
            }
        }
    }

    fn propagate(&mut self) -> Result<(), Conflict> {
        let mut crowds = !self.crowds.is_empty() && (self.conflicts >= CALM || !self.lengths.is_empty());
        loop {
            while self.clauses_at < self.trail.len() {
                let lit = self.trail[self.clauses_at];
                self.clauses_at += 1;
                let level = self.levels.len() as u32;
                let (trail, reasons, level_of) = (&mut self.trail, &mut self.reasons, &mut self.level_of);
                let broken = self.clauses.propagate(lit, &mut self.values, |values, lit, clause| {
                    values.set(lit);
                    reasons[lit as usize / 2] = Reason::Clause(clause);
                    level_of[lit as usize / 2] = level;
                    trail.push(lit);
                });
                if let Some(clause) = broken {
                    return Err(self.clauses.lits(clause).iter().map(|&l| negated(l)).collect());
                }
            }
            if self.net_at < self.trail.len() {
                let lit = self.trail[self.net_at];
                self.net_at += 1;
                self.impose(lit)?;
            } else if let Some(watcher) = self.net.next_awake() {
                for i in 0..self.watchers[watcher as usize].len() {
                    self.narrow(self.watchers[watcher as usize][i] as usize)?;
                }
                self.let_sleep(watcher);
            } else if crowds {
                // Once per decision: what follows from what this finds is seen at the next.
                crowds = false;
                self.narrow_crowds()?;
            } else {
                return Ok(());
            }
        }
    }
}

/// The Luby sequence 1, 1, 2, 1, 1, 2, 4, ..., from 1.
fn luby(mut i: u64) -> u64 {
    loop {
        let length = (i + 1).next_power_of_two();
        if length == i + 1 {
            return length / 2;
        }
        i -= length / 2 - 1;
    }
}
