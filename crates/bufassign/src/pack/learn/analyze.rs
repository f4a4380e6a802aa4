//! From a conflict to a clause: the first point that everything on the last level goes through.

use super::{Learner, Literal, Why};

/// Each conflict counts so much more than the one before.
const GROWTH: f64 = 1.0 / 0.95;
/// Activities are scaled down when they get there.
const HUGE: f64 = 1e100;

impl Learner<'_> {
    /// Learns from the conflict and goes back to where that says something new; false where there is no plan.
    pub(super) fn learn(&mut self) -> bool {
        let level = |s: &Self, l: Literal| s.level[l as usize / 2];
        let first = std::mem::take(&mut self.conflict);
        let top = first.iter().map(|&l| level(self, l)).max().unwrap_or(0);
        if top == 0 {
            return false;
        }
        self.back(top as usize);
        let (mut clause, mut open): (Vec<Literal>, usize) = (vec![0], 0);
        let mut marked: Vec<Literal> = Vec::new();
        let mut at = self.trail.len();
        let mut some = first;
        loop {
            for l in some.drain(..) {
                let v = l as usize / 2;
                if self.level[v] == 0 || std::mem::replace(&mut self.seen[v], true) {
                    continue;
                }
                marked.push(l);
                self.bump(v);
                if self.level[v] == top {
                    open += 1;
                } else {
                    clause.push(l ^ 1);
                }
            }
            while at > 0 && !self.seen[self.trail[at - 1] as usize / 2] {
                at -= 1;
            }
            let Some(&l) = at.checked_sub(1).and_then(|k| self.trail.get(k)) else { break };
            at -= 1;
            open -= 1;
            if open == 0 {
                clause[0] = l ^ 1;
                break;
            }
            self.conflict = some;
            self.reasons(l, self.why[l as usize / 2]);
            some = std::mem::take(&mut self.conflict);
        }
        self.shorten(&mut clause);
        marked.iter().for_each(|&l| self.seen[l as usize / 2] = false);
        self.step *= GROWTH;
        if let Some(most) = (1..clause.len()).max_by_key(|&k| level(self, clause[k])) {
            clause.swap(1, most);
        }
        let target = clause.get(1).map_or(0, |&l| level(self, l));
        let mut levels: Vec<u32> = clause.iter().map(|&l| level(self, l)).collect();
        levels.sort_unstable();
        levels.dedup();
        self.back(target as usize);
        let why = match clause.len() {
            1 => Why::Decision,
            _ => Why::Clause(self.clauses.add(&clause, levels.len() as u32)),
        };
        self.hold(clause[0], why)
    }

    /// Leaves out what follows from the rest by one clause or one block between.
    fn shorten(&mut self, clause: &mut Vec<Literal>) {
        let mut k = 1;
        while k < clause.len() {
            let l = clause[k] ^ 1;
            let why = self.why[l as usize / 2];
            let cheap = matches!(why, Why::Clause(_) | Why::Between(_));
            if cheap {
                self.conflict.clear();
                self.reasons(l, why);
                let known = |&x: &Literal| self.seen[x as usize / 2] || self.level[x as usize / 2] == 0;
                if self.conflict.iter().all(known) {
                    clause.swap_remove(k);
                    continue;
                }
            }
            k += 1;
        }
        self.conflict.clear();
    }

    fn bump(&mut self, v: usize) {
        self.activity[v] += self.step;
        if self.activity[v] > HUGE {
            self.activity.iter_mut().chain(&mut self.open).for_each(|a| *a /= HUGE);
            self.step /= HUGE;
        }
    }
}
