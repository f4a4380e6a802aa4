//! A refutation by the intervals that a tight recurrence leaves idle on a unit.
//!
//! Uses of a unit whose operations lie on a tight recurrence keep their distances, but for the recurrence's slack. All other
//! uses of the unit go into the intervals between them, whole. What they fill an interval with is a sum of durations; where such
//! sums miss the lengths of the intervals by more than the cycles the unit may idle, there is no schedule. Pairs of uses
//! cannot see that, as a search that orders them would have to try every distribution.

use super::contract::Active;
use super::span::Span;
use super::wrap::{Pair, PoolUse};
use crate::model::problem::Problem;
use bitvec::bitvec;
use bitvec::order::Lsb0;
use bitvec::vec::BitVec;

/// Units with more uses, or sums beyond so many cycles, are left to the search.
const MOST_USES: usize = 64;
const MOST_CYCLES: i64 = 1 << 16;
/// Additions a look at a unit may take.
const MOST_STEPS: usize = 3_000;
/// Intervals that may be filled in more ways are no constraint.
const MOST_FILLS: usize = 100;

/// Whether the uses of some single unit cannot be distributed to the intervals between those that keep their distances, at
/// any II of the span.
pub(super) fn refuted(problem: &Problem, span: Span, active: &Active) -> bool {
    let m = active.nodes.len() + 1;
    let mut units: Vec<Vec<PoolUse>> = vec![Vec::new(); problem.count.len()];
    for (node, &v) in (1..).zip(&active.nodes) {
        for u in problem.uses(v as usize).iter().filter(|u| problem.count[u.resource as usize] == 1) {
            units[u.resource as usize].push(PoolUse { node, start: u.start, duration: u.duration });
        }
    }
    let wanted = units.into_iter().filter(|uses| (3..=MOST_USES).contains(&uses.len()));
    wanted.into_iter().any(|uses| Unit::new(uses, &active.dist, m, span).refuted())
}

/// Two uses whose order around the circle is settled.
#[derive(Clone, Copy)]
struct Order {
    /// The II between them.
    wrap: i64,
    /// The least and the greatest time from the end of the first to the start of the second, wraps aside.
    between: (i64, i64),
}

struct Unit {
    uses: Vec<PoolUse>,
    span: Span,
    /// From use i to use j at `i * n + j`.
    orders: Vec<Option<Order>>,
}

impl Unit {
    fn new(uses: Vec<PoolUse>, dist: &[i64], m: usize, span: Span) -> Self {
        let order = |i: &PoolUse, j: &PoolUse| {
            let (a, b, offset) = (i.node, j.node, j.start - i.start);
            let (first, second) = (i.duration, j.duration);
            let pair = Pair { a, b, offset, first, second, branch: true, shared: false };
            let at = |a: u32, b: u32| dist[a as usize * m + b as usize];
            let (low, high) = (at(a, b) + offset, offset - at(b, a));
            let wrap = pair.wrap_to(high, span);
            let least = (low - span.most(wrap) - first).max(0);
            (wrap == pair.wrap_from(low, span))
                .then(|| Order { wrap, between: (least, high - span.least(wrap) - first) })
        };
        let orders = uses.iter().flat_map(|i| uses.iter().map(move |j| order(i, j))).collect();
        Unit { uses, span, orders }
    }

    fn order(&self, i: usize, j: usize) -> Option<Order> {
        self.orders[i * self.uses.len() + j]
    }

    fn refuted(&self) -> bool {
        let mut seen = vec![false; self.uses.len()];
        let mut steps = MOST_STEPS;
        (0..self.uses.len()).any(|seed| {
            if seen[seed] {
                return false;
            }
            let anchors = self.anchors(seed);
            anchors.iter().for_each(|&i| seen[i] = true);
            anchors.len() > 1 && self.too_much_for(&anchors, &mut steps)
        })
    }

    /// Uses that all keep their order, those nearest in slack to this one first.
    fn anchors(&self, seed: usize) -> Vec<usize> {
        let n = self.uses.len();
        let slack = |j: usize| self.order(seed, j).map(|o| (o.between.1 - o.between.0, j));
        let mut near: Vec<(i64, usize)> = (0..n).filter(|&j| j != seed).filter_map(slack).collect();
        near.sort_unstable();
        let mut anchors = vec![seed];
        for (_, j) in near {
            if anchors.iter().all(|&i| self.order(i, j).is_some() && self.order(j, i).is_some()) {
                anchors.push(j);
            }
        }
        anchors
    }

    /// The intervals between the anchors, around the circle: least and greatest lengths. `None` where the order of the
    /// anchors is none.
    fn intervals(&self, anchors: &[usize]) -> Option<Vec<(i64, i64)>> {
        let first = anchors[0];
        let wrap = |i: usize, j: usize| self.order(i, j).map(|o| o.wrap);
        let mut around: Vec<Option<usize>> = vec![None; anchors.len()];
        for &j in anchors {
            let mut before = 0;
            for &i in anchors.iter().filter(|&&i| i != j) {
                before +=
                    usize::from(i == first || j != first && wrap(i, j)? == wrap(first, j)? - wrap(first, i)?);
            }
            around.get_mut(before)?.replace(j);
        }
        let around: Vec<usize> = around.into_iter().collect::<Option<_>>()?;
        let next = around.iter().cycle().skip(1);
        around.iter().zip(next).map(|(&i, &j)| self.order(i, j).map(|o| o.between)).collect()
    }

    /// Whether the other uses cannot go into the intervals between these; `steps` are what it may still cost.
    fn too_much_for(&self, anchors: &[usize], steps: &mut usize) -> bool {
        let held = |uses: &[usize]| uses.iter().map(|&i| self.uses[i].duration).sum::<i64>();
        let others: Vec<usize> = (0..self.uses.len()).filter(|i| !anchors.contains(i)).collect();
        let wanted = held(&others);
        // What the unit may idle.
        let idle = self.span.high - held(anchors) - wanted;
        if others.is_empty() || wanted > MOST_CYCLES {
            return false;
        }
        let Some(intervals) = self.intervals(anchors) else { return false };
        // Each interval misses a sum by less than the longest use; where there is more slack than that, no look is worth it.
        let longest = others.iter().map(|&i| self.uses[i].duration).max().unwrap_or(0);
        let slack = intervals.iter().map(|(low, high)| high - low).fold(idle, i64::saturating_add);
        if slack / longest.max(1) >= intervals.len() as i64 {
            return false;
        }
        let sums = self.sums(&others, wanted);
        let mut fills: Vec<(i64, Vec<i64>)> = Vec::with_capacity(intervals.len());
        for (low, high) in intervals {
            let (least, most) = ((low - idle).max(0), high.min(wanted));
            let within: Vec<i64> = if most < least {
                Vec::new()
            } else {
                let sums = sums[least as usize..=most as usize].iter_ones();
                sums.take(MOST_FILLS + 1).map(|off| least + off as i64).collect()
            };
            if within.len() > MOST_FILLS {
                return false;
            }
            fills.push((low, within));
        }
        fills.sort_by_key(|(_, fills)| fills.len());
        // The least idle cycles with which the intervals so far take so much.
        let mut least: Vec<(i64, i64)> = vec![(0, 0)];
        for (low, fills) in fills {
            match steps.checked_sub(least.len() * fills.len()) {
                Some(left) => *steps = left,
                None => return false,
            }
            let mut next: Vec<(i64, i64)> = Vec::with_capacity(least.len() * fills.len());
            for &(filled, idled) in &least {
                let with = fills.iter().map(|&f| (filled + f, idled + (low - f).max(0)));
                next.extend(with.filter(|&(filled, idled)| filled <= wanted && idled <= idle));
            }
            next.sort_unstable();
            next.dedup_by_key(|(filled, _)| *filled);
            least = next;
        }
        least.last().is_none_or(|&(filled, _)| filled != wanted)
    }

    /// All sums of the durations of these uses up to `most`: sum s is bit s.
    fn sums(&self, uses: &[usize], most: i64) -> BitVec<u64, Lsb0> {
        let mut sums = bitvec![u64, Lsb0; 0; most as usize + 1];
        sums.set(0, true);
        for &i in uses {
            let held = self.uses[i].duration as usize;
            if held >= sums.len() {
                continue;
            }
            let mut more = sums.clone();
            more.shift_end(held);
            sums |= &more;
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::schedule::schedule;
    use crate::exact::steps::StepBudget;
    use crate::exact::tree::Tree;
    use crate::exact::verdict::Verdict;
    use crate::model::graph::LoopGraph;
    use crate::model::guard::Guard;
    use crate::model::options::ScheduleOptions;
    use crate::model::random::Random;
    use crate::model::validate::validate;

    /// Uses of one unit on a recurrence of this latency and distance, and others of these durations.
    fn recurrence(links: &[(u64, i64)], distance: i64, others: &[u64]) -> LoopGraph {
        let mut g = LoopGraph::new("intervals");
        g.add_resource("U", 1);
        for (i, &(held, _)) in links.iter().enumerate() {
            g.add_node(format!("link {i}"), 1, &[("U", 0, held)]);
        }
        for (i, &(_, latency)) in links.iter().enumerate() {
            let last = i + 1 == links.len();
            g.add_edge(i, if last { 0 } else { i + 1 }, latency, if last { distance } else { 0 });
        }
        for (i, &held) in others.iter().enumerate() {
            g.add_node(format!("other {i}"), 1, &[("U", 0, held)]);
        }
        g
    }

    fn refuted_at(g: &LoopGraph, span: Span) -> Option<bool> {
        let valid = validate(g).ok()?;
        let active = Active::at_span(&valid.problem, span)?;
        Some(refuted(&valid.problem, span, &active))
    }

    #[test]
    fn products_between_chained_ones_of_a_gradient() {
        // Intervals of 431, 431 and 697 cycles take 3 + 3 + 5 of 12 products, until 71 cycles are added to the last.
        let g = recurrence(&[(128, 559), (128, 559), (128, 825)], 1, &[128; 12]);
        assert_eq!(refuted_at(&g, Span::one(1943)), Some(true));
        assert_eq!(refuted_at(&g, Span { low: 1950, high: 2013 }), Some(true));
        assert_eq!(refuted_at(&g, Span::one(2014)), Some(false));
        let found = validate(&g).ok().and_then(|valid| schedule(&valid, &ScheduleOptions::default()).ok());
        assert!(found.is_some_and(|a| a.optimal && a.ii == 2014 && a.mii == 1943));
        // A shorter product helps where the last interval takes it.
        let mut shorter = g.clone();
        shorter.nodes[14].uses[0].duration = 50;
        assert_eq!(refuted_at(&shorter, Span::one(1943)), Some(false));
        shorter.nodes[14].uses[0].duration = 60;
        assert_eq!(refuted_at(&shorter, Span::one(1943)), Some(true));
    }

    #[test]
    fn never_refutes_what_a_search_finds() {
        let mut random = Random::new(1);
        let (mut refutations, mut found) = (0, 0);
        for _ in 0..2_000 {
            let links: Vec<(u64, i64)> = (0..2 + random.below(3))
                .map(|_| (2 + random.below(6), 8 + random.below(12) as i64))
                .collect();
            let distance = 1 + random.below(2) as i64;
            let latency: i64 = links.iter().map(|l| l.1).sum();
            let ii = (latency + distance - 1) / distance + random.below(4) as i64;
            let mut room = ii - links.iter().map(|l| l.0 as i64).sum::<i64>() - random.below(4) as i64;
            let mut others = Vec::new();
            while room > 1 {
                let held = (2 + random.below(7) as i64).min(room);
                others.push(held as u64);
                room -= held;
            }
            let mut g = recurrence(&links, distance, &others);
            g.nodes[0].uses[0].start = random.below(3);
            let Ok(valid) = validate(&g) else { continue };
            let problem = &valid.problem;
            if crate::model::paths::heads(problem, ii).is_none() {
                continue;
            }
            let Some(active) = Active::at_span(problem, Span::one(ii)) else { continue };
            let refuted = refuted(problem, Span::one(ii), &active);
            let Some(mut tree) = Tree::new(problem, ii, &active, 0) else { continue };
            let verdict = tree.solve(
                u64::MAX,
                &mut StepBudget::new(20_000),
                &mut Guard::new(&ScheduleOptions::default()),
            );
            assert!(!refuted || !matches!(verdict, Verdict::Found(_)), "{g:?} at {ii}");
            refutations += u32::from(refuted);
            found += u32::from(matches!(verdict, Verdict::Found(_)));
        }
        assert!(refutations > 100 && found > 100, "{refutations} refuted, {found} found");
    }
}
