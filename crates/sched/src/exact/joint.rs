//! Places and times in one question: is there a way to give slices to places that has a schedule (S97)?
//!
//! That a slice takes a place is a truth like those about wraps. Two operations of different slices share an issue
//! stream where the slices are together: their pair may overlap, as on a resource of several units, unless they are.
//! Where they are not, the dependences between them are longer. So one search learns from conflicts of either kind.

use super::choices::{Choices, Sum};
use super::clauses::{Lit, negated};
use super::contract::Active;
use super::kinds::{all_pairs, wraps_decide};
use super::learn::learner::Learner;
use super::span::Span;
use super::split::{Split, Together};
use super::steps::StepBudget;
use super::verdict::Verdict;
use super::wrap::{Bound, Pair, Pairs};
use crate::model::guard::Guard;
use crate::model::problem::Problem;
use hashbrown::HashMap;

/// A question about one II, or about several.
pub(crate) struct Joint<'p> {
    split: &'p Split,
    active: Active,
    learner: Learner,
    /// Per slice, the literals of the places it may take.
    takes: Vec<Vec<Lit>>,
}

/// Places of all slices, and times of the operations that were searched.
pub(crate) struct Placing {
    pub place_of: Vec<u32>,
    pub times: Vec<i64>,
}

impl<'p> Joint<'p> {
    /// `problem` has the dependences between slices that are never together at full length. `None` when the loop is not
    /// of the kind that wraps decide.
    pub fn new(problem: &Problem, split: &'p Split, span: Span) -> Option<Self> {
        let g = &problem.dependences;
        let mut wanted: Vec<bool> =
            (0..problem.n).map(|v| split.issue[v] > 0 || !problem.uses(v).is_empty()).collect();
        let inside = split.crossings.iter().filter(|c| g.comp[c.src as usize] == g.comp[c.dst as usize]);
        for c in inside.clone() {
            (wanted[c.src as usize], wanted[c.dst as usize]) = (true, true);
        }
        let active = Active::of(problem, span, &wanted)?;
        if !wraps_decide(problem, span, &active) || split.issue.iter().any(|&d| d > span.high) {
            return None;
        }
        let longest = split.crossings.iter().map(|c| i128::from(c.latency.unsigned_abs())).sum::<i128>();
        if longest > MOST_PATH {
            return None;
        }
        let mut node_of = vec![0u32; problem.n];
        (1u32..).zip(&active.nodes).for_each(|(node, &v)| node_of[v as usize] = node);
        let mut truths = Truths::new(split);
        truths.load(split, span);
        truths.costs(split);
        for c in inside {
            let apart =
                match truths.known(split, split.slice_of[c.src as usize], split.slice_of[c.dst as usize]) {
                    Known::Is(_) => continue,
                    Known::Open(lit) => negated(lit),
                };
            let (a, b) = (node_of[c.src as usize], node_of[c.dst as usize]);
            let least = c.latency - span.most(c.distance);
            truths.choices.bounds.push((apart, Bound { a, b, least }));
        }
        let mut pairs = all_pairs(problem, &active);
        truths.streams(split, &active, span, &mut pairs);
        let Truths { choices, takes, .. } = truths;
        let learner = Learner::with_choices(span, active.network(), &pairs, Vec::new(), choices);
        Some(Joint { split, active, learner, takes })
    }

    /// The question without times: which places keep all limits, with issue streams that are held for no more than this II?
    pub fn untimed(split: &'p Split, ii: i64) -> Self {
        let mut truths = Truths::new(split);
        truths.load(split, Span::one(ii.min(NO_LIMIT)));
        truths.costs(split);
        let Truths { choices, takes, .. } = truths;
        let active = Active { nodes: Vec::new(), dist: vec![0] };
        let learner =
            Learner::with_choices(Span::one(1), active.network(), &Pairs::default(), Vec::new(), choices);
        Joint { split, active, learner, takes }
    }

    /// The operations that are searched.
    pub fn active(&self) -> &Active {
        &self.active
    }

    /// Places and times; a proof that there are none; or neither.
    pub fn solve(
        &mut self,
        conflicts: u64,
        budget: &mut StepBudget,
        guard: &mut Guard,
    ) -> Result<Placing, Verdict> {
        match self.learner.solve(None, conflicts, budget, guard) {
            Verdict::Found(times) => {
                let chosen = self.learner.chosen();
                self.learner.prefer_choices(&chosen);
                self.learner.prefer(&times);
                let place = |(lits, allowed): (&Vec<Lit>, &Vec<u32>)| {
                    let taken = lits.iter().position(|l| chosen.contains(l));
                    taken.and_then(|i| allowed.get(i)).copied().unwrap_or(0)
                };
                let place_of = self.takes.iter().zip(&self.split.allowed).map(place).collect();
                Ok(Placing { place_of, times })
            }
            other => Err(other),
        }
    }

    /// Tries these places first.
    pub fn prefer(&mut self, place_of: &[u32]) {
        let lits = self.lits(place_of);
        self.learner.prefer_choices(&lits);
    }

    /// From now on crossings cost no more than that.
    pub fn limit_cost(&mut self, most: i64) {
        self.learner.limit_sum(COST, most);
    }

    /// Forbids these places.
    pub fn exclude(&mut self, place_of: &[u32]) {
        let lits = self.lits(place_of);
        self.learner.exclude(&lits);
    }

    fn lits(&self, place_of: &[u32]) -> Vec<Lit> {
        let lit = |((lits, allowed), place): ((&Vec<Lit>, &Vec<u32>), &u32)| {
            allowed.iter().position(|p| p == place).and_then(|i| lits.get(i)).copied()
        };
        self.takes.iter().zip(&self.split.allowed).zip(place_of).filter_map(lit).collect()
    }
}

/// Dependences that cross add up to less than this, so that sums of paths do not overflow.
const MOST_PATH: i128 = 1 << 57;

/// An II that no stream is too full for.
const NO_LIMIT: i64 = i64::MAX / 4;

/// The place of the cost in the list of sums.
const COST: usize = 0;

/// What is known of two slices: together or not, or a literal that they are.
enum Known {
    Is(bool),
    Open(Lit),
}

/// The truths about places.
struct Truths {
    choices: Choices,
    takes: Vec<Vec<Lit>>,
    together: HashMap<(u32, u32), Lit>,
}

impl Truths {
    /// Each slice takes one place; no more places than there may be; places that are alike are taken in order.
    fn new(split: &Split) -> Self {
        let mut choices = Choices::default();
        choices.sums.push(Sum { terms: Vec::new(), most: i64::MAX });
        let takes: Vec<Vec<Lit>> =
            split.allowed.iter().map(|a| a.iter().map(|_| choices.variable()).collect()).collect();
        for lits in &takes {
            choices.clauses.push(lits.clone());
            for (i, &l) in lits.iter().enumerate() {
                choices.clauses.extend(lits[..i].iter().map(|&k| vec![negated(l), negated(k)]));
            }
        }
        // Single places come first, so that only choices are decided.
        choices.groups = takes.iter().filter(|lits| !lits.is_empty()).cloned().collect();
        let mut truths = Truths { choices, takes, together: HashMap::new() };
        truths.limit_places(split);
        for &(a, b) in &split.never {
            for &place in &split.allowed[a as usize] {
                let both = (truths.take(split, a as usize, place), truths.take(split, b as usize, place));
                if let (Some(x), Some(y)) = both {
                    truths.choices.clauses.push(vec![negated(x), negated(y)]);
                }
            }
        }
        for &((a, b), (c, d)) in &split.alike_pairs {
            let (one, other) = (truths.known(split, a, b), truths.known(split, c, d));
            match (one, other) {
                (Known::Open(x), Known::Open(y)) => {
                    truths.choices.clauses.push(vec![negated(x), y]);
                    truths.choices.clauses.push(vec![x, negated(y)]);
                }
                (Known::Open(x), Known::Is(is)) | (Known::Is(is), Known::Open(x)) => {
                    truths.choices.clauses.push(vec![if is { x } else { negated(x) }]);
                }
                (Known::Is(x), Known::Is(y)) if x != y => truths.choices.clauses.push(Vec::new()),
                _ => {}
            }
        }
        truths
    }

    /// The literal that a slice takes a place.
    fn take(&self, split: &Split, slice: usize, place: u32) -> Option<Lit> {
        let at = split.allowed[slice].iter().position(|&p| p == place)?;
        self.takes[slice].get(at).copied()
    }

    fn limit_places(&mut self, split: &Split) {
        let used: Vec<Lit> = split.places.iter().map(|_| self.choices.variable()).collect();
        for (place, &used) in (0u32..).zip(&used) {
            let takers: Vec<(usize, Lit)> =
                (0..split.allowed.len()).filter_map(|s| Some((s, self.take(split, s, place)?))).collect();
            for &(_, lit) in &takers {
                self.choices.clauses.push(vec![negated(lit), used]);
            }
            let before = place.checked_sub(1).filter(|&b| {
                split.alike && split.places[b as usize].class == split.places[place as usize].class
            });
            // Slice s takes this place only where an earlier slice takes the one before.
            if let Some(before) = before {
                for &(s, lit) in &takers {
                    let mut clause = vec![negated(lit)];
                    clause.extend((0..s).filter_map(|t| self.take(split, t, before)));
                    self.choices.clauses.push(clause);
                }
            }
        }
        let warps = used.iter().zip(&split.places).map(|(&lit, p)| (lit, p.warps as i64)).collect();
        self.choices.sums.push(Sum { terms: warps, most: split.most_warps as i64 });
        let each = used.iter().map(|&lit| (lit, 1)).collect();
        self.choices.sums.push(Sum { terms: each, most: split.most_places as i64 });
    }

    /// No stream is held for longer than an II, no place holds more registers than it has.
    fn load(&mut self, split: &Split, span: Span) {
        let mut issue = vec![0i64; split.allowed.len()];
        for (&slice, &cycles) in split.slice_of.iter().zip(&split.issue) {
            issue[slice as usize] = issue[slice as usize].saturating_add(cycles);
        }
        for (place, limits) in (0u32..).zip(&split.places) {
            let terms = |weight: &dyn Fn(usize) -> i64| -> Vec<(Lit, i64)> {
                let takes = (0..issue.len()).filter_map(|s| Some((self.take(split, s, place)?, weight(s))));
                takes.filter(|(_, w)| *w > 0).collect()
            };
            let streams = Sum { terms: terms(&|s| issue[s]), most: span.high };
            let bytes = |s: usize| i64::try_from(split.reg_bytes[s]).unwrap_or(i64::MAX / 4096);
            let registers = Sum { terms: terms(&bytes), most: limits.reg_bytes as i64 };
            self.choices.sums.extend([streams, registers]);
        }
    }

    /// The cost of crossings, which may be limited later.
    fn costs(&mut self, split: &Split) {
        let (mut terms, mut always) = (Vec::new(), 0i64);
        for &((a, b), cost) in &split.costs {
            match self.known(split, a, b) {
                Known::Is(true) => {}
                Known::Is(false) => always = always.saturating_add(cost),
                Known::Open(lit) => terms.push((negated(lit), cost)),
            }
        }
        if always > 0 {
            // What is always paid is a term that always holds.
            let paid = self.choices.variable();
            self.choices.clauses.push(vec![paid]);
            terms.push((paid, always));
        }
        self.choices.sums[COST].terms = terms;
    }

    /// Whether two slices are together; a variable for it where that is open.
    fn known(&mut self, split: &Split, a: u32, b: u32) -> Known {
        match split.together(a, b) {
            Together::Always => return Known::Is(true),
            Together::Never => return Known::Is(false),
            Together::Open => {}
        }
        let key = (a.min(b), a.max(b));
        if let Some(&lit) = self.together.get(&key) {
            return Known::Open(lit);
        }
        let same = self.choices.variable();
        self.together.insert(key, same);
        for &place in &split.allowed[a as usize] {
            let Some(x) = self.take(split, a as usize, place) else { continue };
            match self.take(split, b as usize, place) {
                Some(y) => self.choices.clauses.extend([
                    vec![negated(x), negated(y), same],
                    vec![negated(same), negated(x), y],
                    vec![negated(same), x, negated(y)],
                ]),
                None => self.choices.clauses.push(vec![negated(same), negated(x)]),
            }
        }
        for &place in &split.allowed[b as usize] {
            if let (Some(y), None) =
                (self.take(split, b as usize, place), self.take(split, a as usize, place))
            {
                self.choices.clauses.push(vec![negated(same), negated(y)]);
            }
        }
        Known::Open(same)
    }

    /// Operations that may share an issue stream: their pairs.
    fn streams(&mut self, split: &Split, active: &Active, span: Span, pairs: &mut Pairs) {
        let m = active.nodes.len() + 1;
        let begins = |v: u32| split.offset.get(v as usize).copied().unwrap_or(0);
        // The pair of two nodes whose uses of a unit start as their holds of the stream do.
        let mut aligned: Vec<Option<u32>> = vec![None; m * m];
        for (i, p) in (0u32..).zip(&pairs.list) {
            let (v, w) = (active.nodes[p.a as usize - 1], active.nodes[p.b as usize - 1]);
            if !p.shared && p.offset == begins(w) - begins(v) {
                aligned[p.a as usize * m + p.b as usize] = Some(i);
            }
        }
        for (b, &w) in (1u32..).zip(&active.nodes) {
            for (a, &v) in (1u32..b).zip(&active.nodes) {
                let (first, second) = (split.issue[v as usize], split.issue[w as usize]);
                if first == 0 || second == 0 {
                    continue;
                }
                let offset = begins(w) - begins(v);
                let at = aligned[a as usize * m + b as usize];
                let longer = |p: &Pair| p.first >= first && p.second >= second;
                if at.is_some_and(|i| longer(&pairs.list[i as usize])) {
                    continue;
                }
                let same = match self.known(split, split.slice_of[v as usize], split.slice_of[w as usize]) {
                    Known::Is(false) => continue,
                    Known::Is(true) => None,
                    Known::Open(lit) => Some(lit),
                };
                match (same, at) {
                    (None, Some(i)) => {
                        let p = &mut pairs.list[i as usize];
                        (p.first, p.second) = (p.first.max(first), p.second.max(second));
                    }
                    (None, None) => {
                        let shared = false;
                        pairs.list.push(Pair { a, b, offset, first, second, branch: true, shared });
                    }
                    (Some(lit), _) if first + second > span.high => {
                        self.choices.clauses.push(vec![negated(lit)])
                    }
                    // Between the two bounds they overlap in more than one way at once: nothing is said.
                    (Some(_), _) if first + second > span.low => {}
                    (Some(lit), _) => {
                        self.choices.apart.push((pairs.list.len() as u32, lit));
                        let shared = true;
                        pairs.list.push(Pair { a, b, offset, first, second, branch: true, shared });
                    }
                }
            }
        }
    }
}
