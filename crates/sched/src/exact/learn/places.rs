//! What a search keeps about choices: weights, sums, and the bounds that hold where a truth does.

use crate::exact::choices::Sum;
use crate::exact::clauses::{Lit, Values};
use crate::exact::wrap::Bound;

/// A literal that never holds.
pub(super) const NEVER: Lit = Lit::MAX;

/// A sum, and what it comes to so far.
pub(super) struct Tally {
    /// The heaviest first.
    pub(super) terms: Vec<(Lit, i64)>,
    pub(super) most: i64,
    pub(super) now: i64,
}

impl Tally {
    /// True terms that alone come to more than `limit`, the heaviest first; all of them, where they do not.
    pub(super) fn reasons(&self, values: &Values, limit: i64) -> Vec<Lit> {
        let mut sum = 0;
        let mut lits = Vec::new();
        for &(lit, weight) in self.terms.iter().filter(|(lit, _)| values.of(*lit) > 0) {
            if sum > limit {
                break;
            }
            sum += weight;
            lits.push(lit);
        }
        lits
    }
}

/// The choices of a question.
#[derive(Default)]
pub(super) struct Places {
    groups: Vec<Vec<Lit>>,
    /// The literal of each group that is tried first.
    first: Vec<Option<Lit>>,
    /// Per group; grows with failures.
    weight: Vec<u64>,
    /// The group of each variable that is in one.
    group_of: Vec<Option<u32>>,
    pub(super) sums: Vec<Tally>,
    /// Per literal, the sums it is in, with its weight.
    in_sums: Vec<Vec<(u32, i64)>>,
    pub(super) bounds: Vec<(Lit, Bound)>,
    /// Per literal, the bounds it brings.
    brings: Vec<Vec<u32>>,
    /// Per pair, the literal that keeps its uses from overlapping; `NEVER` where there is none.
    pub(super) apart: Vec<Lit>,
}

impl Places {
    pub(super) fn new(
        variables: usize,
        groups: Vec<Vec<Lit>>,
        sums: Vec<Sum>,
        bounds: Vec<(Lit, Bound)>,
    ) -> Self {
        let mut group_of = vec![None; variables];
        for (g, lits) in (0u32..).zip(&groups) {
            lits.iter().for_each(|&lit| group_of[lit as usize / 2] = Some(g));
        }
        let mut in_sums = vec![Vec::new(); 2 * variables];
        let tally = |(i, mut sum): (u32, Sum)| {
            sum.terms.sort_unstable_by_key(|&(lit, weight)| (std::cmp::Reverse(weight), lit));
            sum.terms.iter().for_each(|&(lit, weight)| in_sums[lit as usize].push((i, weight)));
            Tally { terms: sum.terms, most: sum.most, now: 0 }
        };
        let sums = (0u32..).zip(sums).map(tally).collect();
        let mut brings = vec![Vec::new(); 2 * variables];
        for (i, (lit, _)) in (0u32..).zip(&bounds) {
            brings[*lit as usize].push(i);
        }
        let (first, weight) = (vec![None; groups.len()], vec![1; groups.len()]);
        Places { groups, first, weight, group_of, sums, in_sums, bounds, brings, apart: Vec::new() }
    }

    /// The bounds that hold where this does.
    pub(super) fn bounds_of(&self, lit: Lit) -> Vec<u32> {
        self.brings.get(lit as usize).cloned().unwrap_or_default()
    }

    /// The sums that this is in.
    pub(super) fn sums_of(&self, lit: Lit) -> Vec<(u32, i64)> {
        self.in_sums.get(lit as usize).cloned().unwrap_or_default()
    }

    /// Takes a literal out of the sums it was counted in.
    pub(super) fn discount(&mut self, lit: Lit) {
        for &(sum, weight) in self.in_sums.get(lit as usize).into_iter().flatten() {
            self.sums[sum as usize].now -= weight;
        }
    }

    /// Adds to the weight of a group.
    pub(super) fn weigh(&mut self, lit: Lit, more: u64) {
        if let Some(&Some(group)) = self.group_of.get(lit as usize / 2) {
            self.weight[group as usize] += more;
        }
    }

    /// All weights, shifted down by so many bits.
    pub(super) fn scale_weights(&mut self, bits: u32) {
        self.weight.iter_mut().for_each(|w| *w = (*w >> bits).max(1));
    }

    /// Tries these first.
    pub(super) fn prefer(&mut self, lits: &[Lit]) {
        for &lit in lits {
            if let Some(&Some(group)) = self.group_of.get(lit as usize / 2) {
                self.first[group as usize] = Some(lit);
            }
        }
    }

    /// A literal of the group that is hardest to please, of those with none true.
    pub(super) fn choose(&self, values: &Values) -> Option<Lit> {
        let mut best: Option<(u64, u64, Lit)> = None;
        for ((lits, &weight), first) in self.groups.iter().zip(&self.weight).zip(&self.first) {
            if lits.iter().any(|&l| values.of(l) > 0) {
                continue;
            }
            let mut open = lits.iter().copied().filter(|&l| values.of(l) == 0);
            let Some(next) = open.next() else { continue };
            let room = 1 + open.count() as u64;
            let harder = |(r, w, _): (u64, u64, Lit)| {
                u128::from(room) * u128::from(w) < u128::from(r) * u128::from(weight)
            };
            if best.is_none_or(harder) {
                best = Some((room, weight, first.filter(|&l| values.of(l) == 0).unwrap_or(next)));
            }
        }
        best.map(|(_, _, lit)| lit)
    }

    /// The true literal of each group.
    pub(super) fn chosen(&self, values: &Values) -> Vec<Lit> {
        let of = |lits: &Vec<Lit>| lits.iter().copied().find(|&l| values.of(l) > 0);
        self.groups.iter().filter_map(of).collect()
    }
}
