//! What the search keeps: truths, the network, what was learnt, and the way back.

use super::open::Open;
use super::places::Places;
use super::unit::Saturated;
use crate::exact::choices::Choices;
use crate::exact::clauses::{Clauses, Lit, Values};
use crate::exact::network::Network;
use crate::exact::span::Span;
use crate::exact::wrap::{Pair, Pairs, Pool};

/// Conflicts before nearly full units are looked at as a whole: what is easy does without.
pub(super) const CALM: u64 = 20;
/// Clauses kept before the first clean-up, and conflicts of the shortest run between restarts; where there are choices beside
/// wraps, what is learnt is about more, and worth keeping for longer.
const MOST_CLAUSES: usize = 2_000;
const MOST_CLAUSES_WITH_CHOICES: usize = 6_000;
const RUN: u64 = 50;
const RUN_WITH_CHOICES: u64 = 100;
/// Weights are scaled down beyond this.
pub(super) const MOST_WEIGHT: u64 = 1 << 40;

/// Marks the reasons of distances that come from a length; the rest is a place in `ends`.
pub(super) const LENGTH: u32 = 1 << 31;
/// Marks those that come from several truths; the rest is a place in `derived`.
pub(super) const DERIVED: u32 = 1 << 30;
/// Marks those that a choice brings with it; the rest is a place in the bounds of the choices.
pub(super) const CHOSEN: u32 = 1 << 29;
/// The owner of variables that are not about a pair.
pub(super) const NO_OWNER: u32 = u32::MAX;

#[derive(Clone, Copy)]
pub(super) enum Reason {
    Decision,
    Clause(u32),
    /// Truths in the arena that imply it.
    Theory {
        at: u32,
        len: u32,
    },
}

/// A pair and its wraps: what is read most, within a line of memory.
pub(super) struct Wraps {
    pub(super) pair: Pair,
    /// The first and the last wrap left, once the network has settled.
    pub(super) left: (i64, i64),
    /// One by the weight and the square of the time held.
    pub(super) ease: f64,
}

/// The wraps of a pair that were possible at the start, and the first of its truths.
#[derive(Clone, Copy)]
pub(super) struct Truths {
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) base: u32,
    pub(super) watcher: u32,
    /// Grows with failures.
    pub(super) weight: u64,
    /// The wrap it had in the best schedule so far.
    pub(super) saved: Option<i64>,
}

impl Truths {
    /// That the wrap is at least `j`, where that is open at the start.
    pub(super) fn at_least(&self, j: i64) -> Lit {
        2 * (self.base + (j - self.first - 1) as u32)
    }
}

pub(super) struct Level {
    pub(super) trail: usize,
    pub(super) narrowed: usize,
    pub(super) net: usize,
    pub(super) arena: usize,
    pub(super) open: usize,
    pub(super) derived: usize,
}

/// A bound between two nodes that several truths made, and their place in the arena.
pub(super) struct Derived {
    pub(super) ends: (u32, u32),
    pub(super) at: u32,
    pub(super) len: u32,
}

/// A search that keeps what it has learnt from question to question.
pub(crate) struct Learner {
    pub(super) span: Span,
    pub(super) net: Network,
    pub(super) wraps: Vec<Wraps>,
    pub(super) truths: Vec<Truths>,
    /// What wraps were left to pairs before a decision narrowed them.
    pub(super) narrowed: Vec<(u32, (i64, i64))>,
    /// The pairs that may have several wraps left.
    pub(super) open: Open,
    /// Units that are nearly full.
    pub(super) saturated: Vec<Saturated>,
    /// Resources of several units.
    pub(super) pools: Vec<Pool>,
    /// Pairs to decide next, the best last; as they were ranked when last looked at.
    pub(super) ranked: Vec<u32>,
    /// Which of several places things take, where the question has such choices.
    pub(super) places: Places,
    /// Decisions were undone since these were last looked at.
    pub(super) went_back: bool,
    /// Bounds that several truths made.
    pub(super) derived: Vec<Derived>,
    /// The pairs of each watcher of the network.
    pub(super) watchers: Vec<Vec<u32>>,
    pub(super) values: Values,
    pub(super) clauses: Clauses,
    /// Per variable.
    pub(super) reasons: Vec<Reason>,
    pub(super) level_of: Vec<u32>,
    /// The pair a variable is about; `u32::MAX`: a length.
    pub(super) owner: Vec<u32>,
    /// The nodes of the pair a variable is about, from the first to the second.
    pub(super) nodes: Vec<(u32, u32)>,
    pub(super) trail: Vec<Lit>,
    /// Truths that clauses, and that the network, have yet to see.
    pub(super) clauses_at: usize,
    pub(super) net_at: usize,
    pub(super) levels: Vec<Level>,
    pub(super) arena: Vec<Lit>,
    /// Scratch: why something follows.
    pub(super) because: Vec<Lit>,
    /// Constraints of lengths: the node that must start early enough, and the truth that asks it to.
    pub(super) ends: Vec<(u32, Lit)>,
    /// Lengths that were asked about: the length, and the truth that the schedule is no longer.
    pub(super) lengths: Vec<(i64, Lit)>,
    /// Longest path from each node to the end, when lengths are asked about.
    pub(super) tails: Vec<i64>,
    pub(super) step: u64,
    pub(super) conflicts: u64,
    pub(super) most_clauses: usize,
    /// Conflicts of the shortest run between restarts (Luby 1993 gives the multiples).
    pub(super) shortest_run: u64,
    pub(super) seen: Vec<bool>,
    pub(super) refuted: bool,
}

/// What cannot hold together.
pub(super) type Conflict = Vec<Lit>;

impl Learner {
    /// `tails`: longest path from each active operation to the end; empty when no length is asked about.
    pub fn new(span: Span, net: Network, pairs: &Pairs, tails: Vec<i64>) -> Self {
        Learner::with_choices(span, net, pairs, tails, Choices::default())
    }

    /// A question that leaves choices open. Their variables come first, so that their truths are those they name.
    pub fn with_choices(span: Span, net: Network, pairs: &Pairs, tails: Vec<i64>, choices: Choices) -> Self {
        let chosen = choices.variables > 0;
        let mut learner = Learner {
            span,
            net,
            wraps: Vec::with_capacity(pairs.list.len()),
            truths: Vec::with_capacity(pairs.list.len()),
            narrowed: Vec::new(),
            open: Open::new(pairs.list.len()),
            saturated: Saturated::all(pairs, span),
            pools: pairs.pools.clone(),
            ranked: Vec::new(),
            places: Places::default(),
            went_back: true,
            derived: Vec::new(),
            watchers: Vec::new(),
            values: Values::default(),
            clauses: Clauses::default(),
            reasons: Vec::new(),
            level_of: Vec::new(),
            owner: Vec::new(),
            nodes: Vec::new(),
            trail: Vec::new(),
            clauses_at: 0,
            net_at: 0,
            levels: Vec::new(),
            arena: Vec::new(),
            because: Vec::new(),
            ends: Vec::new(),
            lengths: Vec::new(),
            tails,
            step: 16,
            conflicts: 0,
            most_clauses: if chosen { MOST_CLAUSES_WITH_CHOICES } else { MOST_CLAUSES },
            shortest_run: if chosen { RUN_WITH_CHOICES } else { RUN },
            seen: Vec::new(),
            refuted: pairs.list.iter().any(|p| p.first + p.second > span.high),
        };
        learner.name_variables(choices.variables, NO_OWNER, (0, 0));
        for &pair in &pairs.list {
            learner.add_pair(pair);
        }
        learner.grow();
        learner.add_choices(choices);
        learner
    }

    fn add_pair(&mut self, pair: Pair) {
        debug_assert!(pair.a < pair.b, "the pairs of a watcher go the same way");
        let (first, last) = pair.wraps(&self.net, self.span);
        let bounds = [pair.from(first, self.span), pair.before(last, self.span)];
        self.refuted |=
            first > last || bounds.iter().any(|b| !self.net.impose(b.a as usize, b.b as usize, b.least));
        let id = self.wraps.len() as u32;
        let watcher = self.net.watch(pair.a as usize, pair.b as usize);
        if watcher as usize == self.watchers.len() {
            self.watchers.push(Vec::new());
        }
        self.watchers[watcher as usize].push(id);
        let base = self.owner.len() as u32;
        self.wraps.push(Wraps { pair, left: (first, last), ease: 1.0 });
        self.truths.push(Truths { first, last, base, watcher, weight: 0, saved: None });
        self.weigh(id, 1);
        self.let_sleep(watcher);
        self.name_variables((last - first).max(0) as usize, id, (pair.a, pair.b));
    }

    /// Adds variables, for which there is no room until the learner grows.
    pub(super) fn name_variables(&mut self, count: usize, owner: u32, nodes: (u32, u32)) {
        let variables = self.owner.len() + count;
        self.owner.resize(variables, owner);
        self.nodes.resize(variables, nodes);
    }

    /// Makes room for what has been named.
    pub(super) fn grow(&mut self) {
        let variables = self.owner.len();
        self.values.grow(variables);
        self.clauses.grow(variables);
        self.reasons.resize(variables, Reason::Decision);
        self.level_of.resize(variables, 0);
        self.seen.resize(variables, false);
    }

    /// Adds to the weight of a pair.
    pub(super) fn weigh(&mut self, pair: u32, more: u64) {
        let (wraps, truths) = (&mut self.wraps[pair as usize], &mut self.truths[pair as usize]);
        truths.weight += more;
        let held = (wraps.pair.first + wraps.pair.second) as f64;
        wraps.ease = 1.0 / (truths.weight as f64 * held * held);
    }

    /// The pairs of a watcher need no look until one of them loses a wrap.
    pub(super) fn let_sleep(&mut self, watcher: u32) {
        let (mut there, mut back) = (i64::MAX, i64::MAX);
        let mut ends = (0, 0);
        for &i in &self.watchers[watcher as usize] {
            let Wraps { pair, left, .. } = &self.wraps[i as usize];
            ends = (pair.a as usize, pair.b as usize);
            let limits = pair.kept(*left, self.span);
            (there, back) = (there.min(limits.0), back.min(limits.1));
        }
        self.net.wake_above(ends.0, ends.1, there);
        self.net.wake_above(ends.1, ends.0, back);
    }

    /// The wraps of these times, to be tried first.
    pub fn prefer(&mut self, times: &[i64]) {
        self.prefer_at(self.span, times);
    }

    /// The same of times at another II.
    pub fn prefer_at(&mut self, span: Span, times: &[i64]) {
        let at = |node: u32| times.get(node as usize - 1).copied().unwrap_or(0);
        for (Wraps { pair, .. }, truths) in self.wraps.iter().zip(&mut self.truths) {
            let x = at(pair.b) - at(pair.a) + pair.offset;
            truths.saved = Some(pair.wrap_to(x, span));
        }
    }

    pub(super) fn decide(&mut self, lit: Lit) {
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

    pub(super) fn assign(&mut self, lit: Lit, reason: Reason) {
        let variable = lit as usize / 2;
        self.values.set(lit);
        self.reasons[variable] = reason;
        self.level_of[variable] = self.levels.len() as u32;
        self.trail.push(lit);
    }

    pub(super) fn back_to(&mut self, level: usize) {
        let Some(to) = self.levels.get(level) else { return };
        let narrowed = to.narrowed;
        self.net.undo(to.net);
        self.arena.truncate(to.arena);
        self.open.len = to.open;
        self.ranked.clear();
        self.went_back = true;
        self.derived.truncate(to.derived);
        for (at, lit) in (to.trail..).zip(self.trail.drain(to.trail..)) {
            self.values.clear(lit);
            if at < self.net_at {
                self.places.discount(lit);
            }
        }
        self.clauses_at = self.clauses_at.min(self.trail.len());
        self.net_at = self.net_at.min(self.trail.len());
        self.levels.truncate(level);
        if level == 0 {
            self.net.keep();
        }
        self.net.all_asleep();
        while self.narrowed.len() > narrowed {
            if let Some((pair, left)) = self.narrowed.pop() {
                self.wraps[pair as usize].left = left;
                self.let_sleep(self.truths[pair as usize].watcher);
            }
        }
    }
}
