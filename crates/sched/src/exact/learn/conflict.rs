//! What a contradiction teaches: the first truth of the last decision that all of it goes through.

use super::learner::{Conflict, Learner, MOST_WEIGHT, Reason};
use crate::exact::clauses::{Lit, negated};

impl Learner {
    /// Learns why there is a conflict and goes back to where that tells something new; false when nothing is left.
    pub(super) fn learn(&mut self, conflict: Conflict) -> bool {
        let level = conflict.iter().map(|l| self.level_of[*l as usize / 2]).max().unwrap_or(0);
        if level == 0 {
            return false;
        }
        let mut clause: Vec<Lit> = vec![0];
        let mut open = 0;
        let mut marked: Vec<Lit> = Vec::new();
        let mut because = conflict;
        let mut at = self.trail.len();
        let first = loop {
            for &lit in &because {
                let variable = lit as usize / 2;
                if self.seen[variable] || self.level_of[variable] == 0 {
                    continue;
                }
                self.seen[variable] = true;
                marked.push(lit);
                if self.level_of[variable] == level {
                    open += 1;
                } else {
                    clause.push(negated(lit));
                }
            }
            let lit = loop {
                at -= 1;
                if self.seen[self.trail[at] as usize / 2]
                    && self.level_of[self.trail[at] as usize / 2] == level
                {
                    break self.trail[at];
                }
            };
            open -= 1;
            if open == 0 {
                break lit;
            }
            self.write_reason(lit, &mut because);
        };
        clause[0] = negated(first);
        self.shorten(&mut clause);
        for &lit in &marked {
            self.seen[lit as usize / 2] = false;
            let owner = self.owner[lit as usize / 2];
            if (owner as usize) < self.wraps.len() {
                self.weigh(owner, self.step);
            } else {
                self.places.weigh(lit, self.step);
            }
        }
        self.step += self.step / 16;
        if self.step > MOST_WEIGHT {
            self.step = (self.step >> 20).max(16);
            self.truths.iter_mut().for_each(|t| t.weight = (t.weight >> 20).max(1));
            (0..self.wraps.len() as u32).for_each(|pair| self.weigh(pair, 0));
            self.places.scale_weights(20);
        }
        self.back_jump(clause);
        true
    }

    /// What made a truth follow, into a list that is there already.
    fn write_reason(&self, lit: Lit, because: &mut Conflict) {
        because.clear();
        match self.reasons[lit as usize / 2] {
            Reason::Decision => {}
            Reason::Clause(c) => {
                because.extend(self.clauses.lits(c).iter().filter(|&&l| l != lit).map(|&l| negated(l)));
            }
            Reason::Theory { at, len } => because.extend(&self.arena[at as usize..(at + len) as usize]),
        }
    }

    /// Drops what follows from the rest of the clause.
    fn shorten(&self, clause: &mut Vec<Lit>) {
        let follows = |lit: Lit| {
            let known = |l: &Lit| self.seen[*l as usize / 2] || self.level_of[*l as usize / 2] == 0;
            match self.reasons[lit as usize / 2] {
                Reason::Decision => false,
                Reason::Clause(c) => self.clauses.lits(c).iter().filter(|&&l| l / 2 != lit / 2).all(known),
                Reason::Theory { at, len } => self.arena[at as usize..(at + len) as usize].iter().all(known),
            }
        };
        let first = clause[0];
        clause.retain(|&lit| lit == first || !follows(lit));
    }

    fn back_jump(&mut self, mut clause: Vec<Lit>) {
        let level = |lit: Lit| self.level_of[lit as usize / 2];
        let mut levels: Vec<u32> = clause.iter().map(|&l| level(l)).collect();
        levels.sort_unstable();
        levels.dedup();
        if let Some(second) = (1..clause.len()).max_by_key(|&i| level(clause[i])) {
            clause.swap(1, second);
        }
        let to = clause.get(1).map_or(0, |&l| level(l));
        self.back_to(to as usize);
        let lit = clause[0];
        if clause.len() == 1 {
            self.assign(lit, Reason::Decision);
        } else {
            let id = self.clauses.add(clause, levels.len() as u32);
            self.assign(lit, Reason::Clause(id));
        }
    }
}
