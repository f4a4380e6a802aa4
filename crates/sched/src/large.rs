//! Large loops of short uses: slots laid out beforehand, then filled in order (S40).
//!
//! McNaughton's wrap-around rule lays the uses of a resource end to end around the table, so that ResMII is
//! attained; here the durations are interleaved evenly, so that a slot of each is never far. Every operation
//! then takes the next free slot of its duration, found by union-find. Operations on circuits choose first,
//! near the times of the last round; whole laps settle the dependences between components (S31).

use crate::normal::length;
use crate::paths::heads;
use crate::problem::Problem;
use crate::search::earliest_at_residues;

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
        if best.as_ref().is_none_or(|b| length(problem, &time) < length(problem, b)) {
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
        let (on_circuits, others): (Vec<&[u32]>, Vec<&[u32]>) =
            g.components_in_order().partition(|members| members.len() > 1);
        for members in on_circuits {
            for &v in members {
                self.take(v as usize, true)?;
            }
            self.circuits_hold(members)?;
        }
        for &v in others.into_iter().flatten() {
            self.take(v as usize, false)?;
        }
        earliest_at_residues(self.problem, self.ii, &self.time)
    }

    /// Takes the next free slot from the time that the placed predecessors allow.
    fn take(&mut self, v: usize, inside: bool) -> Option<()> {
        let g = &self.problem.dependences;
        let counts = |a: &&crate::digraph::Arc| {
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

    fn circuits_hold(&self, members: &[u32]) -> Option<()> {
        let g = &self.problem.dependences;
        let time = |v: u32| self.time[v as usize];
        let inside = |a: &crate::digraph::Arc| g.comp[a.src as usize] == g.comp[a.dst as usize];
        let holds = |a: &crate::digraph::Arc| !inside(a) || time(a.dst) >= time(a.src) + a.weight(self.ii);
        members.iter().all(|&v| g.out(v as usize).iter().all(holds)).then_some(())
    }
}

/// Free slots per resource and duration.
struct Slots {
    ii: i64,
    /// Sorted start residues and, beside each, the next free one (union-find).
    classes: std::collections::BTreeMap<(u32, i64), (Vec<i64>, Vec<u32>)>,
}

impl Slots {
    fn new(problem: &Problem, ii: i64) -> Self {
        let mut counts: std::collections::BTreeMap<(u32, i64), i64> = std::collections::BTreeMap::new();
        problem.all_uses().iter().for_each(|u| *counts.entry((u.resource, u.duration)).or_default() += 1);
        let mut classes = std::collections::BTreeMap::new();
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
                let class: &mut (Vec<i64>, Vec<u32>) = classes.entry((r, d)).or_default();
                class.0.push(at % ii);
                at += d;
            }
        }
        for (starts, next) in classes.values_mut() {
            starts.sort_unstable();
            *next = (0..=starts.len() as u32).collect();
        }
        Slots { ii, classes }
    }

    /// Takes the first free slot at or after `from`, around the table; how long after.
    fn take(&mut self, resource: u32, duration: i64, from: i64) -> Option<i64> {
        let (starts, next) = self.classes.get_mut(&(resource, duration))?;
        let residue = from.rem_euclid(self.ii);
        let first = first_from(starts, residue);
        let mut slot = find(next, first);
        if slot == starts.len() {
            slot = find(next, 0);
        }
        let start = *starts.get(slot)?;
        next[slot] = slot as u32 + 1;
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

/// The next free index at or after `i`; the number of slots when there is none.
fn find(next: &mut [u32], i: usize) -> usize {
    let mut root = i;
    while next[root] as usize != root {
        root = next[root] as usize;
    }
    let mut at = i;
    while next[at] as usize != root && at != root {
        at = std::mem::replace(&mut next[at], root as u32) as usize;
    }
    root
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
