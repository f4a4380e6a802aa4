//! What the network says about laps, and why.

use super::super::clauses::{Lit, negated};
use super::super::wrap::Bound;
use super::{Conflict, LENGTH, Learner, Reason};

impl Learner {
    /// The difference constraint of a truth about a pair.
    fn bound(&self, lit: Lit) -> Option<Bound> {
        let laps = self.laps.get(*self.owner.get(lit as usize / 2)? as usize)?;
        let j = laps.first + 1 + i64::from(lit / 2 - laps.base);
        Some(if lit & 1 == 0 { laps.pair.from(j, self.ii) } else { laps.pair.before(j - 1, self.ii) })
    }

    pub(super) fn impose(&mut self, lit: Lit) -> Result<(), Conflict> {
        if let Some(Bound { a, b, least }) = self.bound(lit) {
            return self.impose_bound(a as usize, b as usize, least, lit, lit);
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

    /// The truths that make the distance from `a` to `b` what it is.
    fn path(&self, a: usize, b: usize) -> Vec<Lit> {
        let end = |why: u32| self.ends.get((why & !LENGTH) as usize).filter(|_| why & LENGTH != 0);
        let ends = |why: u32| match (end(why), self.bound(why & !LENGTH)) {
            (Some(&(v, _)), _) => (v as usize, 0),
            (None, Some(bound)) => (bound.a as usize, bound.b as usize),
            (None, None) => (0, 0),
        };
        let mut lits = Vec::new();
        self.net.explain(a, b, ends, |why| lits.push(end(why).map_or(why, |&(_, lit)| lit)));
        lits.sort_unstable();
        lits.dedup();
        lits
    }

    /// Makes true what the network says about a pair's lap.
    pub(super) fn narrow(&mut self, pair: usize) -> Result<(), Conflict> {
        let laps = &self.laps[pair];
        let (first, last, base) = (laps.first, laps.last, laps.base);
        let (a, b) = (laps.pair.a as usize, laps.pair.b as usize);
        let (least, most) = laps.pair.laps(&self.net, self.ii);
        self.net.work += 2;
        if least > most {
            let mut conflict = self.path(a, b);
            conflict.extend(self.path(b, a));
            return Err(conflict);
        }
        let truth = |j: i64| 2 * (base + (j - first - 1) as u32);
        if least > first && last > first {
            self.imply_all(&mut (first + 1..=least.min(last)).rev().map(truth), a, b)?;
        }
        if most < last {
            self.imply_all(&mut (most.max(first) + 1..=last).map(|j| negated(truth(j))), b, a)?;
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
                    let because = before.map_or_else(|| self.path(a, b), |b| vec![b]);
                    if value < 0 {
                        let mut conflict = because;
                        conflict.push(negated(lit));
                        return Err(conflict);
                    }
                    let at = self.arena.len() as u32;
                    self.arena.extend(&because);
                    self.assign(lit, Reason::Theory { at, len: because.len() as u32 });
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
