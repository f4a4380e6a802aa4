//! Choices in the search: how they enter it, what their sums say, and what was chosen.

use super::learner::{Conflict, Learner, Reason};
use super::places::{NEVER, Places};
use crate::exact::choices::Choices;
use crate::exact::clauses::{Lit, negated};
use crate::exact::wrap::is_overlap;

/// Clauses that the question itself brings are never forgotten.
const RANK: u32 = 1;

impl Learner {
    /// Takes the choices in. Their variables have been added, and all pairs.
    pub(super) fn add_choices(&mut self, choices: Choices) {
        if choices.variables == 0 {
            return;
        }
        let Choices { variables, groups, clauses, sums, bounds, apart } = choices;
        self.places = Places::new(variables, groups, sums, bounds);
        self.places.apart = vec![NEVER; self.wraps.len()];
        for clause in clauses {
            self.add_root(clause);
        }
        for (pair, lit) in apart {
            self.places.apart[pair as usize] = lit;
            let truths = self.truths[pair as usize];
            for k in (truths.first..=truths.last).filter(|&k| is_overlap(k)) {
                let mut clause = vec![negated(lit)];
                if k > truths.first {
                    clause.push(negated(truths.at_least(k)));
                }
                if k < truths.last {
                    clause.push(truths.at_least(k + 1));
                }
                self.add_root(clause);
            }
        }
        for sum in 0..self.places.sums.len() {
            self.narrow_sum(sum);
        }
        self.most_clauses += self.clauses.len();
    }

    /// Adds a clause before anything is decided.
    fn add_root(&mut self, mut clause: Vec<Lit>) {
        clause.sort_unstable();
        clause.dedup();
        if clause.iter().any(|&l| self.values.of(l) > 0) {
            return;
        }
        clause.retain(|&l| self.values.of(l) == 0);
        match *clause {
            [] => self.refuted = true,
            [lit] => self.assign(lit, Reason::Decision),
            _ => _ = self.clauses.add(clause, RANK),
        }
    }

    /// What a sum says before anything is decided.
    fn narrow_sum(&mut self, sum: usize) {
        let tally = &self.places.sums[sum];
        let true_now: i64 = tally.terms.iter().filter(|(l, _)| self.values.of(*l) > 0).map(|(_, w)| w).sum();
        if true_now > tally.most {
            self.refuted = true;
            return;
        }
        let room = tally.most - true_now;
        let heavy = tally.terms.iter().filter(|(l, w)| *w > room && self.values.of(*l) == 0);
        let heavy: Vec<Lit> = heavy.map(|(l, _)| negated(*l)).collect();
        heavy.into_iter().for_each(|lit| self.assign(lit, Reason::Decision));
    }

    /// A literal has become true: counts it, and lets follow what the sums say.
    pub(super) fn count(&mut self, lit: Lit) -> Result<(), Conflict> {
        let sums = self.places.sums_of(lit);
        for &(sum, weight) in &sums {
            self.places.sums[sum as usize].now += weight;
        }
        for (sum, _) in sums {
            let tally = &self.places.sums[sum as usize];
            self.net.work += 1;
            if tally.now > tally.most {
                return Err(tally.reasons(&self.values, tally.most));
            }
            let room = tally.most - tally.now;
            let heavy = tally.terms.iter().take_while(|(_, w)| *w > room);
            let heavy: Vec<(Lit, i64)> = heavy.filter(|(l, _)| self.values.of(*l) == 0).copied().collect();
            for (term, weight) in heavy {
                let tally = &self.places.sums[sum as usize];
                let because = tally.reasons(&self.values, tally.most - weight);
                let at = self.arena.len() as u32;
                self.arena.extend(&because);
                self.assign(negated(term), Reason::Theory { at, len: because.len() as u32 });
            }
        }
        Ok(())
    }

    /// From now on this sum is at most that, which must not be more than before.
    pub fn limit_sum(&mut self, sum: usize, most: i64) {
        self.back_to(0);
        if let Some(tally) = self.places.sums.get_mut(sum) {
            debug_assert!(most <= tally.most, "what was learnt would not hold");
            tally.most = most;
            self.narrow_sum(sum);
        }
    }

    /// Forbids a choice once and for all.
    pub fn exclude(&mut self, chosen: &[Lit]) {
        self.back_to(0);
        self.add_root(chosen.iter().map(|&l| negated(l)).collect());
    }

    /// Tries these choices first.
    pub fn prefer_choices(&mut self, lits: &[Lit]) {
        self.places.prefer(lits);
    }

    /// What is chosen in each group, after times were found.
    pub fn chosen(&self) -> Vec<Lit> {
        self.places.chosen(&self.values)
    }
}
