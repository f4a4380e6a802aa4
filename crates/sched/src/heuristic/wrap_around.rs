//! Large loops of short uses: slots laid out beforehand, then filled in order (S40).
//!
//! McNaughton's wrap-around rule lays the uses of a resource end to end around the table, so that ResMII is
//! attained; here the durations are interleaved evenly, so that a slot of each is never far. Every operation
//! then takes the next free slot of its duration, found by union-find. Operations on recurrences choose first,
//! near the times of the last round; whole wraps settle the dependences between components (S31).

use crate::heuristic::settle::earliest_at_residues;
use crate::model::paths::heads;
use crate::model::problem::Problem;
use petgraph::unionfind::UnionFind;
use std::collections::BTreeMap;

/// Rounds; each starts from the times of the one before.
const ROUNDS: usize = 2;

/// A schedule at this II for loops whose operations have at most one use, or `None`.
pub(crate) fn wrap_around(problem: &Problem, ii: i64) -> Option<Vec<i64>> {
    if (0..problem.n).any(|v| problem.uses(v).len() > 1) {
        return None;
    }
    let mut wish = heads(problem, ii)?;
    let mut best: Option<Vec<i64>> = None;
    for _ in 0..ROUNDS {
        let Some(time) = Filling::new(problem, ii, &wish).run() else { break };
        if best.as_ref().is_none_or(|b| problem.length(&time) < problem.length(b)) {
            best = Some(time.clone());
        }
        wish = time;
    }
    best
}

struct Filling<'p> {
    problem: &'p Problem,
    ii: i64,
    wish: &'p [i64],
    slots: Slots,
    /// `UNPLACED` where there is none yet.
    time: Vec<i64>,
}

const UNPLACED: i64 = i64::MIN;

impl<'p> Filling<'p> {
    fn new(problem: &'p Problem, ii: i64, wish: &'p [i64]) -> Self {
        Filling { problem, ii, wish, slots: Slots::new(problem, ii), time: vec![UNPLACED; problem.n] }
    }

    fn run(mut self) -> Option<Vec<i64>> {
        let g = &self.problem.dependences;
        let (on_recurrences, others): (Vec<&[u32]>, Vec<&[u32]>) =
            g.components_in_order().partition(|members| members.len() > 1);
        for members in on_recurrences {
            for &v in members {
                self.take(v as usize, true)?;
            }
            self.recurrences_hold(members)?;
        }
        for &v in others.into_iter().flatten() {
            self.take(v as usize, false)?;
        }
        earliest_at_residues(self.problem, self.ii, &self.time)
    }

    /// Takes the next free slot from the time that the placed predecessors allow.
    fn take(&mut self, v: usize, inside: bool) -> Option<()> {
        let g = &self.problem.dependences;
        let counts = |a: &&crate::model::digraph::Arc| {
            a.src != a.dst && (!inside || g.comp[a.src as usize] == g.comp[a.dst as usize])
        };
        let placed = g.incoming(v).filter(counts).filter(|a| self.time[a.src as usize] != UNPLACED);
        let early = placed.map(|a| self.time[a.src as usize] + a.weight(self.ii)).max();
        let from = match early {
            Some(early) if !inside => early,
            Some(early) => early.max(self.wish[v]),
            None => self.wish[v],
        };
        let wait = match self.problem.uses(v).first() {
            Some(u) => self.slots.take(u.resource, u.duration, from + u.start)?,
            None => 0,
        };
        self.time[v] = from + wait;
        Some(())
    }

    fn recurrences_hold(&self, members: &[u32]) -> Option<()> {
        let g = &self.problem.dependences;
        let time = |v: u32| self.time[v as usize];
        let inside = |a: &crate::model::digraph::Arc| g.comp[a.src as usize] == g.comp[a.dst as usize];
        let holds =
            |a: &crate::model::digraph::Arc| !inside(a) || time(a.dst) >= time(a.src) + a.weight(self.ii);
        members.iter().all(|&v| g.out(v as usize).iter().all(holds)).then_some(())
    }
}

/// Free slots per resource and duration.
struct Slots {
    ii: i64,
    classes: BTreeMap<(u32, i64), Class>,
}

/// The slots of one duration.
struct Class {
    /// Start residues, sorted.
    starts: Vec<i64>,
    /// Slots in one set with the next free one, or with the end of the list.
    taken: UnionFind<u32>,
    /// The free slot of a set, at its representative.
    free: Vec<u32>,
}

impl Class {
    fn new(mut starts: Vec<i64>) -> Self {
        starts.sort_unstable();
        let n = starts.len() + 1;
        Class { starts, taken: UnionFind::new(n), free: (0..n as u32).collect() }
    }

    /// The next free slot at or after this one; the number of slots when there is none.
    fn next_free(&mut self, slot: usize) -> usize {
        self.free[self.taken.find_mut(slot as u32) as usize] as usize
    }

    fn take(&mut self, slot: usize) {
        let next = self.next_free(slot + 1);
        self.taken.union(slot as u32, next as u32);
        self.free[self.taken.find_mut(next as u32) as usize] = next as u32;
    }
}

impl Slots {
    fn new(problem: &Problem, ii: i64) -> Self {
        let mut counts: BTreeMap<(u32, i64), i64> = BTreeMap::new();
        problem.all_uses().iter().for_each(|u| *counts.entry((u.resource, u.duration)).or_default() += 1);
        let mut starts: BTreeMap<(u32, i64), Vec<i64>> = BTreeMap::new();
        for r in 0..problem.count.len() as u32 {
            let own: Vec<(i64, i64)> = counts.range((r, 0)..(r + 1, 0)).map(|(&(_, d), &n)| (d, n)).collect();
            // The j-th of n slots of a duration comes at the share (2j + 1) / 2n of the turn.
            let mut turn: Vec<(i64, i64, i64)> = Vec::new();
            for &(d, n) in &own {
                turn.extend((0..n).map(|j| (((2 * j + 1) << 24) / (2 * n), d, j)));
            }
            turn.sort_unstable();
            let mut at = 0;
            for (_, d, _) in turn {
                starts.entry((r, d)).or_default().push(at % ii);
                at += d;
            }
        }
        Slots { ii, classes: starts.into_iter().map(|(key, starts)| (key, Class::new(starts))).collect() }
    }

    /// Takes the first free slot at or after `from`, around the table; how long after.
    fn take(&mut self, resource: u32, duration: i64, from: i64) -> Option<i64> {
        let class = self.classes.get_mut(&(resource, duration))?;
        let residue = from.rem_euclid(self.ii);
        let mut slot = class.next_free(first_from(&class.starts, residue));
        if slot == class.starts.len() {
            slot = class.next_free(0);
        }
        let start = *class.starts.get(slot)?;
        class.take(slot);
        Some((start - residue).rem_euclid(self.ii))
    }
}

/// The first of these sorted starts at or after `residue`. They are laid out evenly, so that its place is guessed and
/// looked for in growing steps: bisection would touch memory all over.
fn first_from(starts: &[i64], residue: i64) -> usize {
    let Some(&last) = starts.last() else { return 0 };
    if residue > last {
        return starts.len();
    }
    let share = i128::from(residue) * starts.len() as i128 / (i128::from(last) + 1);
    let guess = usize::try_from(share).unwrap_or(0).min(starts.len() - 1);
    let (mut low, mut high, mut step) = (guess, guess, 1);
    while low > 0 && starts[low - 1] >= residue {
        (high, low, step) = (low, low.saturating_sub(step), step * 2);
    }
    step = 1;
    while high < starts.len() && starts[high] < residue {
        (low, high, step) = (high, (high + step).min(starts.len()), step * 2);
    }
    low + starts[low..high].partition_point(|&s| s < residue)
}

#[cfg(test)]
mod tests {
    use super::first_from;

    #[test]
    fn guessing_finds_what_bisection_does() {
        let even: Vec<i64> = (0..50).map(|i| i * 3).collect();
        let crooked: Vec<i64> = (0..50).map(|i| i * i / 7).collect();
        for starts in [vec![], vec![4], vec![5; 9], even, crooked] {
            for residue in 0..400 {
                assert_eq!(first_from(&starts, residue), starts.partition_point(|&s| s < residue));
            }
        }
    }
}
