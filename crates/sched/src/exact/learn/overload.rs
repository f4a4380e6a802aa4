//! Resources of several units: what too many uses at one time teach.
//!
//! Uses of such a resource may overlap, but of `units + 1` that all overlap each other some two must not: intervals on a
//! line that meet two by two have a cycle in common. The wraps of a shared pair tell whether, and how, it overlaps. The
//! search leaves these wraps open and looks at the resource where everything else holds at the earliest times; only
//! overloads that come up there become clauses.

use super::learner::{Learner, Reason};
use crate::exact::clauses::{Lit, negated};
use crate::exact::wrap::{Pool, PoolUse, is_overlap};

/// Clauses of overloads rank as if they spanned so many levels.
const RANK: u32 = 3;

impl Learner {
    /// Where the earliest times hold more units than there are: that not all of these uses overlap so. The best way out
    /// comes first.
    pub(super) fn overload(&mut self) -> Option<Vec<Lit>> {
        // A span has no single table.
        if self.span.low != self.span.high {
            return None;
        }
        let pools = std::mem::take(&mut self.pools);
        let clause = pools.iter().find_map(|pool| self.overload_of(pool));
        self.pools = pools;
        clause
    }

    fn overload_of(&mut self, pool: &Pool) -> Option<Vec<Lit>> {
        let ii = self.span.low;
        let n = pool.uses.len();
        self.net.work += (n * n) as u64;
        let start = |u: &PoolUse| (self.net.dist(0, u.node as usize) + u.start).rem_euclid(ii);
        let starts: Vec<i64> = pool.uses.iter().map(start).collect();
        // The load is greatest where some use starts.
        let holding = |cycle: i64| -> Vec<usize> {
            let holds = |&u: &usize| (cycle - starts[u]).rem_euclid(ii) < pool.uses[u].duration;
            (0..n).filter(holds).collect()
        };
        let worst = starts.iter().map(|&cycle| holding(cycle)).max_by_key(Vec::len)?;
        if worst.len() <= pool.units {
            return None;
        }
        let mut ways: Vec<(i128, Lit)> = Vec::new();
        for (k, &i) in worst.iter().enumerate().take(pool.units + 1) {
            for pair in worst[..k].iter().filter_map(|&j| pool.pairs[i * (i - 1) / 2 + j]) {
                self.ways_out(pair as usize, &mut ways);
            }
        }
        ways.sort_unstable();
        Some(ways.into_iter().map(|(_, lit)| lit).collect())
    }

    /// The truths that would part an overlapping pair, each with the cycles one of the two would have to give way, per
    /// failure.
    fn ways_out(&self, pair: usize, ways: &mut Vec<(i128, Lit)>) {
        let (pair, truths) = (self.wraps[pair].pair, &self.truths[pair]);
        let x = pair.at_earliest(&self.net);
        let k = pair.wrap_to(x, self.span);
        debug_assert!(is_overlap(k), "the uses do not overlap");
        let cost = |least: i64| i128::from(least) * (1 << 20) / i128::from(truths.weight);
        if k < truths.last {
            ways.push((cost(pair.from(k + 1, self.span).least - pair.offset - x), truths.at_least(k + 1)));
        }
        if k > truths.first {
            let before = pair.offset - pair.before(k - 1, self.span).least;
            ways.push((cost(x - before), negated(truths.at_least(k))));
        }
    }

    /// Adds a clause that nothing true satisfies yet, and goes on from it: back where it leaves one way or none, else by
    /// its first open literal. False when nothing is left.
    pub(super) fn forbid(&mut self, mut clause: Vec<Lit>) -> bool {
        debug_assert!(clause.iter().all(|&l| self.values.of(l) <= 0), "a true literal");
        let Some(open) = clause.iter().position(|&l| self.values.of(l) == 0) else {
            self.conflicts += 1;
            return self.learn(clause.into_iter().map(negated).collect());
        };
        let way = clause.remove(open);
        clause.insert(0, way);
        // The second watch: open, too, or false the latest.
        let level =
            |lit: Lit| if self.values.of(lit) == 0 { u32::MAX } else { self.level_of[lit as usize / 2] };
        let Some(second) = (1..clause.len()).max_by_key(|&i| (level(clause[i]), std::cmp::Reverse(i))) else {
            self.back_to(0);
            self.assign(way, Reason::Decision);
            return true;
        };
        clause.swap(1, second);
        let to = level(clause[1]);
        let id = self.clauses.add(clause, RANK);
        if to == u32::MAX {
            self.decide(way);
        } else {
            self.back_to(to as usize);
            self.assign(way, Reason::Clause(id));
        }
        true
    }
}
