//! Learnt clauses with two watched literals each (Moskewicz et al. 2001).

/// A truth: variable `lit / 2`, negated when odd.
pub(crate) type Lit = u32;

pub(crate) fn negated(lit: Lit) -> Lit {
    lit ^ 1
}

/// Truth values of all variables.
#[derive(Default)]
pub(crate) struct Values(Vec<i8>);

impl Values {
    pub fn grow(&mut self, variables: usize) {
        self.0.resize(variables, 0);
    }

    /// 1 true, -1 false, 0 open.
    pub fn of(&self, lit: Lit) -> i8 {
        let value = self.0[lit as usize / 2];
        if lit & 1 == 0 { value } else { -value }
    }

    pub fn set(&mut self, lit: Lit) {
        self.0[lit as usize / 2] = if lit & 1 == 0 { 1 } else { -1 };
    }

    pub fn clear(&mut self, lit: Lit) {
        self.0[lit as usize / 2] = 0;
    }
}

#[derive(Clone, Copy)]
struct Watch {
    clause: u32,
    /// Another literal of the clause: when it is true, the clause need not be read.
    blocker: Lit,
}

struct Clause {
    lits: Vec<Lit>,
    /// Number of decision levels it spans: the fewer, the more useful.
    levels: u32,
}

/// The clauses.
#[derive(Default)]
pub(crate) struct Clauses {
    all: Vec<Clause>,
    watches: Vec<Vec<Watch>>,
    pub work: u64,
}

impl Clauses {
    pub fn grow(&mut self, variables: usize) {
        self.watches.resize(2 * variables, Vec::new());
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn lits(&self, clause: u32) -> &[Lit] {
        &self.all[clause as usize].lits
    }

    /// Adds a clause of at least two literals; the first two are watched.
    pub fn add(&mut self, lits: Vec<Lit>, levels: u32) -> u32 {
        let clause = self.all.len() as u32;
        self.watch(clause, &lits);
        self.all.push(Clause { lits, levels });
        clause
    }

    fn watch(&mut self, clause: u32, lits: &[Lit]) {
        self.watches[lits[0] as usize].push(Watch { clause, blocker: lits[1] });
        self.watches[lits[1] as usize].push(Watch { clause, blocker: lits[0] });
    }

    /// `lit` has become true: calls `imply` for every clause that leaves one literal, and returns a clause all of
    /// whose literals are false.
    pub fn propagate(
        &mut self,
        lit: Lit,
        values: &mut Values,
        mut imply: impl FnMut(&mut Values, Lit, u32),
    ) -> Option<u32> {
        let lost = negated(lit);
        let mut watching = std::mem::take(&mut self.watches[lost as usize]);
        let mut kept = 0;
        let mut broken = None;
        let mut i = 0;
        self.work += watching.len() as u64;
        'clauses: while i < watching.len() {
            let watch = watching[i];
            i += 1;
            watching[kept] = watch;
            if values.of(watch.blocker) > 0 {
                kept += 1;
                continue;
            }
            let lits = &mut self.all[watch.clause as usize].lits;
            if lits[0] == lost {
                lits.swap(0, 1);
            }
            let first = lits[0];
            if values.of(first) <= 0 {
                for k in 2..lits.len() {
                    if values.of(lits[k]) >= 0 {
                        lits.swap(1, k);
                        self.watches[lits[1] as usize].push(Watch { clause: watch.clause, blocker: first });
                        continue 'clauses;
                    }
                }
                if values.of(first) < 0 {
                    broken = Some(watch.clause);
                } else {
                    imply(values, first, watch.clause);
                }
            }
            watching[kept] = Watch { clause: watch.clause, blocker: first };
            kept += 1;
            if broken.is_some() {
                while i < watching.len() {
                    watching[kept] = watching[i];
                    (kept, i) = (kept + 1, i + 1);
                }
            }
        }
        watching.truncate(kept);
        self.watches[lost as usize] = watching;
        broken
    }

    /// Forgets the less useful half of the clauses. Only to be called when no clause is the reason of anything.
    pub fn forget(&mut self) {
        let mut order: Vec<u32> = (0..self.all.len() as u32).collect();
        order.sort_by_key(|&c| {
            let clause = &self.all[c as usize];
            (clause.levels, clause.lits.len(), std::cmp::Reverse(c))
        });
        let mut keep = vec![false; self.all.len()];
        order.iter().take(self.all.len() / 2).for_each(|&c| keep[c as usize] = true);
        let old = std::mem::take(&mut self.all);
        self.watches.iter_mut().for_each(Vec::clear);
        for (clause, keep) in old.into_iter().zip(keep) {
            if keep || clause.levels <= 2 {
                self.watch(self.all.len() as u32, &clause.lits);
                self.all.push(clause);
            }
        }
    }
}
