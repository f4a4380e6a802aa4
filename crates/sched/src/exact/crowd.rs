//! Longer paths where many uses must fit between two operations.
//!
//! Uses that all come at least `h` cycles after an operation `a`, and after each of which it takes at least `q` cycles to
//! an operation `b`, of any iterations, hold their units between the two: so `b` follows `a` by `h + q` and the cycles they
//! hold, shared evenly by the units. Paths that are longer for this bring more uses together, until nothing moves. Pairs of
//! uses cannot see it: a search that fixes one use after the other tries all their orders.

use super::reach::ABSENT;
use super::steps::StepBudget;
use crate::bounds::jackson::Jackson;
use crate::model::digraph::Arc;
use crate::model::problem::Problem;

/// Components of more operations are left alone.
const MOST_NODES: usize = 400;
/// Looks at all paths of a component.
const MOST_ROUNDS: usize = 16;
/// Paths through one more operation that cost as much as a search's elementary operation.
const AT_ONCE: u64 = 8;

/// The longest paths between the operations of a component, uses counted.
pub(super) struct Paths {
    pub members: Vec<u32>,
    /// Row by row.
    pub dist: Vec<i64>,
}

/// The paths of all components with a recurrence that crowds have made longer; `Err` where no schedule is left, `None`
/// where the budget does not suffice to know.
pub(super) fn crowded(problem: &Problem, ii: i64, budget: &mut StepBudget) -> Option<Result<Vec<Paths>, ()>> {
    let g = &problem.dependences;
    let mut all = Vec::new();
    for members in g.components_in_order().filter(|m| g.is_cyclic(m) && m.len() <= MOST_NODES) {
        let Some(mut crowd) = Crowd::new(problem, ii, members) else { continue };
        let mut moved = false;
        for _ in 0..MOST_ROUNDS {
            let more = crowd.lengthen();
            if !budget.take(std::mem::take(&mut crowd.work)) {
                return None;
            }
            match more {
                Some(true) => moved = true,
                Some(false) => break,
                None => return Some(Err(())),
            }
        }
        if moved {
            all.push(Paths { members: members.to_vec(), dist: crowd.dist });
        }
    }
    Some(Ok(all))
}

/// A use of the component: operation, start and duration.
#[derive(Clone, Copy)]
struct Held {
    node: usize,
    start: i64,
    duration: i64,
}

/// A use in the iteration in which it first comes after some operation: cycles from that to its start, and the iteration.
#[derive(Clone, Copy)]
struct After {
    head: i64,
    turn: i64,
    held: Held,
}

struct Crowd {
    ii: i64,
    m: usize,
    dist: Vec<i64>,
    /// The same column by column: all paths to an operation are read together.
    onward: Vec<i64>,
    /// The uses of each resource with more than one, and its units.
    rooms: Vec<(i64, Vec<Held>)>,
    work: u64,
}

impl Crowd {
    /// `None` where no two uses meet, or a path has no end.
    fn new(problem: &Problem, ii: i64, members: &[u32]) -> Option<Self> {
        let m = members.len();
        let mut uses: Vec<Vec<Held>> = vec![Vec::new(); problem.count.len()];
        for (node, &v) in members.iter().enumerate() {
            for u in problem.uses(v as usize) {
                uses[u.resource as usize].push(Held { node, start: u.start, duration: u.duration });
            }
        }
        let rooms: Vec<(i64, Vec<Held>)> =
            problem.count.iter().copied().zip(uses).filter(|(_, uses)| uses.len() > 1).collect();
        if rooms.is_empty() {
            return None;
        }
        let mut place = vec![usize::MAX; problem.n];
        members.iter().enumerate().for_each(|(i, &v)| place[v as usize] = i);
        let mut dist = vec![ABSENT; m * m];
        (0..m).for_each(|i| dist[i * m + i] = 0);
        for (i, &v) in members.iter().enumerate() {
            for a in problem.dependences.out(v as usize) {
                let j = place[a.dst as usize];
                if j < m {
                    dist[i * m + j] = dist[i * m + j].max(Arc::weight(a, ii));
                }
            }
        }
        let mut crowd = Crowd { ii, m, onward: dist.clone(), dist, rooms, work: 0 };
        crowd.close().then_some(crowd)
    }

    /// Adds up paths; false where one that comes back is positive.
    fn close(&mut self) -> bool {
        let m = self.m;
        for k in 0..m {
            let through: Vec<i64> = self.dist[k * m..][..m].to_vec();
            for row in self.dist.chunks_exact_mut(m) {
                let to = row[k];
                if to > ABSENT {
                    row.iter_mut().zip(&through).for_each(|(d, t)| *d = (*d).max(to + t));
                }
            }
        }
        for (i, row) in self.dist.chunks_exact(m).enumerate() {
            row.iter().enumerate().for_each(|(j, &far)| self.onward[j * m + i] = far);
        }
        self.work += (m * m * m) as u64 / AT_ONCE;
        (0..m).all(|i| self.dist[i * m + i] <= 0)
    }

    /// One look at all pairs: whether a path has become longer; `None` where that leaves no schedule.
    fn lengthen(&mut self) -> Option<bool> {
        let (m, mut moved) = (self.m, false);
        let (mut jackson, mut between) = (Jackson::default(), Vec::new());
        for a in 0..m {
            let after: Vec<(i64, Vec<After>)> = self.rooms.iter().map(|room| self.after(a, room)).collect();
            self.work += (m * after.iter().map(|(_, uses)| uses.len()).sum::<usize>()) as u64;
            for b in 0..m {
                // Around the circle once, or from `a` to the next `b`.
                let turn = if a == b { 1 } else { -self.dist[a * m + b].div_euclid(self.ii) };
                let known = self.dist[a * m + b] + turn * self.ii;
                let mut least = known;
                for (units, uses) in &after {
                    let most = self.between(b, turn, (*units, uses), &mut between);
                    if most > least {
                        least = least.max(jackson.least(*units, between.iter().copied()));
                    }
                }
                if least > known {
                    if a == b {
                        return None;
                    }
                    self.dist[a * m + b] = least - turn * self.ii;
                    self.onward[b * m + a] = least - turn * self.ii;
                    moved = true;
                }
            }
        }
        if moved && !self.close() {
            return None;
        }
        Some(moved)
    }

    /// The uses of a resource as they come after `a`, and its units.
    fn after(&self, a: usize, (units, uses): &(i64, Vec<Held>)) -> (i64, Vec<After>) {
        let mut after: Vec<After> = uses
            .iter()
            .map(|&held| {
                let apart = self.dist[a * self.m + held.node] + held.start;
                After { head: apart.rem_euclid(self.ii), turn: -apart.div_euclid(self.ii), held }
            })
            .collect();
        after.sort_by_key(|u| u.head);
        (*units, after)
    }

    /// The uses between `a` and `b`, so many iterations later, and what they take at most from the one to the other: of
    /// several that do so together each has no more before and after it than the one with most.
    fn between(
        &self,
        b: usize,
        turn: i64,
        (units, after): (i64, &[After]),
        between: &mut Vec<(i64, i64, i64)>,
    ) -> i64 {
        between.clear();
        let onward = &self.onward[b * self.m..][..self.m];
        let (mut around, mut held) = (0, 0);
        for u in after {
            let tail = onward[u.held.node] + (turn - u.turn) * self.ii - u.held.start - u.held.duration;
            if tail >= 0 {
                (around, held) = (around.max(u.head + tail), held + u.held.duration);
                between.push((u.head, tail, u.held.duration));
            }
        }
        around + (held + units - 1) / units.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::crowds::crowd_ratio;
    use crate::driver::schedule::schedule;
    use crate::model::graph::LoopGraph;
    use crate::model::guard::Guard;
    use crate::model::options::ScheduleOptions;
    use crate::model::random::Random;
    use crate::model::validate::validate;

    /// One operation, so many writes that all follow it, and one that follows all of them; from there around.
    fn writes(many: usize, units: u64) -> LoopGraph {
        let mut g = LoopGraph::new("writes");
        g.add_resource("W", units);
        let first = g.add_node("first", 1, &[]);
        let last = g.add_node("last", 1, &[]);
        for i in 0..many {
            let v = g.add_node(format!("write {i}"), 1, &[("W", 0, 1)]);
            g.add_edge(first, v, 3, 0);
            g.add_edge(v, last, 1, 0);
        }
        g.add_edge(last, first, 2, 1);
        g
    }

    fn refuted_at(g: &LoopGraph, ii: i64) -> Option<bool> {
        let valid = validate(g).ok()?;
        Some(crowded(&valid.problem, ii, &mut StepBudget::new(1_000))?.is_err())
    }

    fn ratio(g: &LoopGraph) -> Option<(i64, i64)> {
        crowd_ratio(&validate(g).ok()?.problem, &mut Guard::new(&ScheduleOptions::default()))
    }

    #[test]
    fn writes_between_two_operations_of_a_recurrence() {
        // 3 cycles before, 7 writes, and 2 after.
        let g = writes(7, 1);
        assert_eq!((refuted_at(&g, 11), refuted_at(&g, 12)), (Some(true), Some(false)));
        assert_eq!(ratio(&g), Some((12, 1)));
        // On two units 4 cycles.
        let g = writes(7, 2);
        assert_eq!((refuted_at(&g, 8), refuted_at(&g, 9)), (Some(true), Some(false)));
        // Twice as many iterations on the way: half as often.
        let mut g = writes(7, 1);
        g.edges.iter_mut().filter(|e| e.distance == 1).for_each(|e| e.distance = 2);
        assert_eq!(ratio(&g), Some((6, 1)));
    }

    #[test]
    fn keeps_every_schedule() {
        let mut random = Random::new(7);
        let (mut refutations, mut raised) = (0, 0);
        for _ in 0..400 {
            let mut g = LoopGraph::new("random");
            g.add_resource("U", 1 + random.below(2)).add_resource("V", 1);
            let n = 4 + random.below(8) as usize;
            for i in 0..n {
                let unit = ["U", "V"][random.below(2) as usize];
                g.add_node(format!("{i}"), 1, &[(unit, random.below(2), 1 + random.below(3))]);
            }
            for i in 1..n {
                let from = random.below(i as u64) as usize;
                g.add_edge(from, i, 1 + random.below(4) as i64, i64::from(random.below(6) == 0));
                if random.below(2) == 0 {
                    g.add_edge(i, 0, 1, 1 + random.below(2) as i64);
                }
            }
            let Ok(valid) = validate(&g) else { continue };
            let Ok(found) = schedule(&valid, &ScheduleOptions::default()) else { continue };
            let problem = &valid.problem;
            let (ii, at) = (found.ii, |v: u32| found.nodes[v as usize].time);
            let Some(Ok(all)) = crowded(problem, ii, &mut StepBudget::new(10_000)) else {
                panic!("a schedule at {ii} is refuted: {g:?}");
            };
            for paths in all {
                for (&v, row) in paths.members.iter().zip(paths.dist.chunks_exact(paths.members.len())) {
                    let broken = paths.members.iter().zip(row).find(|(w, far)| at(**w) - at(v) < **far);
                    assert_eq!(broken, None, "from {v}, II {ii}: {g:?}");
                }
            }
            let (cycles, iterations) = ratio(&g).unwrap_or((0, 1));
            assert!(cycles <= ii * iterations, "{cycles}/{iterations}, II {ii}: {g:?}");
            raised += u32::from(cycles > found.mii * iterations);
            refutations += u32::from(ii > found.mii && refuted_at(&g, ii - 1) == Some(true));
        }
        assert!(refutations > 10 && raised > 10, "{refutations} refuted, {raised} raised");
    }
}
