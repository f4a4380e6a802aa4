//! What the network says about wraps, and why.

use super::learner::{CHOSEN, Conflict, DERIVED, Derived, LENGTH, Learner, Reason, Truths};
use crate::exact::clauses::{Lit, negated};
use crate::exact::wrap::Bound;

impl Learner {
    /// The difference constraint of a truth about a pair.
    fn bound(&self, lit: Lit) -> Option<Bound> {
        let owner = *self.owner.get(lit as usize / 2)? as usize;
        let (truths, pair) = (self.truths.get(owner)?, self.wraps.get(owner)?.pair);
        let j = truths.first + 1 + i64::from(lit / 2 - truths.base);
        Some(if lit & 1 == 0 { pair.from(j, self.span) } else { pair.before(j - 1, self.span) })
    }

    pub(super) fn impose(&mut self, lit: Lit) -> Result<(), Conflict> {
        if let Some(Bound { a, b, least }) = self.bound(lit) {
            return self.impose_bound(a as usize, b as usize, least, lit, lit);
        }
        for i in self.places.bounds_of(lit) {
            let (_, Bound { a, b, least }) = self.places.bounds[i as usize];
            self.impose_bound(a as usize, b as usize, least, CHOSEN | i, lit)?;
        }
        let length = self.lengths.iter().find(|(_, l)| *l == lit).map(|(length, _)| *length);
        let Some(length) = length else { return Ok(()) };
        let first = match self.ends.iter().position(|(_, l)| *l == lit) {
            Some(first) => first,
            None => {
                self.ends.extend((1..).zip(&self.tails).map(|(v, _)| (v, lit)));
                self.ends.len() - self.tails.len()
            }
        };
        for v in 0..self.tails.len() {
            let why = LENGTH | (first + v) as u32;
            self.impose_bound(v + 1, 0, self.tails[v] - length, why, lit)?;
        }
        Ok(())
    }

    fn impose_bound(&mut self, a: usize, b: usize, least: i64, why: u32, lit: Lit) -> Result<(), Conflict> {
        if self.net.impose_because(a, b, least, why) {
            return Ok(());
        }
        let mut conflict = self.path(b, a);
        conflict.push(lit);
        Err(conflict)
    }

    /// Imposes a bound that these truths make together.
    pub(super) fn impose_derived(
        &mut self,
        a: usize,
        b: usize,
        least: i64,
        because: &[Lit],
    ) -> Result<(), Conflict> {
        let why = DERIVED | self.derived.len() as u32;
        let (at, len) = (self.arena.len() as u32, because.len() as u32);
        self.derived.push(Derived { ends: (a as u32, b as u32), at, len });
        self.arena.extend(because);
        if self.net.impose_because(a, b, least, why) {
            return Ok(());
        }
        let mut conflict = self.path(b, a);
        conflict.extend(because);
        conflict.sort_unstable();
        conflict.dedup();
        Err(conflict)
    }

    /// The truths that make the distance from `a` to `b` what it is.
    pub(super) fn path(&self, a: usize, b: usize) -> Vec<Lit> {
        let mut lits = Vec::new();
        self.write_path(a, b, &mut lits);
        lits
    }

    /// The same into a list that is there already.
    fn write_path(&self, a: usize, b: usize, lits: &mut Vec<Lit>) {
        lits.clear();
        self.net.explain(a, b, |why| self.ends_of(why), |why| self.add_truths(why, lits));
        lits.sort_unstable();
        lits.dedup();
    }

    /// Between which nodes a reason was imposed.
    fn ends_of(&self, why: u32) -> (usize, usize) {
        if why & LENGTH != 0 {
            return self.ends.get((why & !LENGTH) as usize).map_or((0, 0), |&(v, _)| (v as usize, 0));
        }
        if why & DERIVED != 0 {
            let derived = self.derived.get((why & !DERIVED) as usize);
            return derived.map_or((0, 0), |d| (d.ends.0 as usize, d.ends.1 as usize));
        }
        if why & CHOSEN != 0 {
            let chosen = self.places.bounds.get((why & !CHOSEN) as usize);
            return chosen.map_or((0, 0), |(_, bound)| (bound.a as usize, bound.b as usize));
        }
        let (a, b) = self.nodes.get(why as usize / 2).copied().unwrap_or_default();
        if why & 1 == 0 { (a as usize, b as usize) } else { (b as usize, a as usize) }
    }

    /// Adds the truths that a reason stands for.
    fn add_truths(&self, why: u32, lits: &mut Vec<Lit>) {
        if why & LENGTH != 0 {
            lits.extend(self.ends.get((why & !LENGTH) as usize).map(|&(_, lit)| lit));
        } else if why & DERIVED != 0 {
            if let Some(d) = self.derived.get((why & !DERIVED) as usize) {
                lits.extend(&self.arena[d.at as usize..(d.at + d.len) as usize]);
            }
        } else if why & CHOSEN != 0 {
            lits.extend(self.places.bounds.get((why & !CHOSEN) as usize).map(|&(lit, _)| lit));
        } else {
            lits.push(why);
        }
    }

    /// Makes true what the network says about a pair's wrap.
    pub(super) fn narrow(&mut self, pair: usize) -> Result<(), Conflict> {
        let wraps = &mut self.wraps[pair];
        let before = wraps.left;
        wraps.left = wraps.pair.wraps_near(&self.net, self.span, before);
        let (a, b, (least, most)) = (wraps.pair.a as usize, wraps.pair.b as usize, wraps.left);
        self.net.work += 2;
        if wraps.left != before {
            self.narrowed.push((pair as u32, before));
        }
        let truths = self.truths[pair];
        let Truths { first, last, .. } = truths;
        if least > most {
            let mut conflict = self.path(a, b);
            conflict.extend(self.path(b, a));
            return Err(conflict);
        }
        if least == most {
            self.open.remove(pair as u32);
        }
        if least > first && last > first {
            self.imply_all(&mut (first + 1..=least.min(last)).rev().map(|j| truths.at_least(j)), a, b)?;
        }
        if most < last {
            self.imply_all(&mut (most.max(first) + 1..=last).map(|j| negated(truths.at_least(j))), b, a)?;
        }
        Ok(())
    }

    /// The first follows from the distance from `a` to `b`, each other one from the one before.
    fn imply_all(&mut self, lits: &mut dyn Iterator<Item = Lit>, a: usize, b: usize) -> Result<(), Conflict> {
        let mut before: Option<Lit> = None;
        let mut known = 0;
        for lit in lits {
            match self.values.of(lit) {
                1 => known += 1,
                value => {
                    let mut because = std::mem::take(&mut self.because);
                    match before {
                        Some(before) => {
                            because.clear();
                            because.push(before);
                        }
                        None => self.write_path(a, b, &mut because),
                    }
                    if value < 0 {
                        because.push(negated(lit));
                        return Err(because);
                    }
                    let at = self.arena.len() as u32;
                    self.arena.extend(&because);
                    self.assign(lit, Reason::Theory { at, len: because.len() as u32 });
                    self.because = because;
                }
            }
            // Below two truths known before, all are known.
            if known == 2 {
                break;
            }
            before = Some(lit);
        }
        Ok(())
    }
}
