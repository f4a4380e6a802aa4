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
        let mut crowd = Crowd { ii, m, dist, rooms, work: 0 };
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
        self.work += (m * m * m) as u64 / AT_ONCE;
        (0..m).all(|i| self.dist[i * m + i] <= 0)
    }

    /// One look at all pairs: whether a path has become longer; `None` where that leaves no schedule.
    fn lengthen(&mut self) -> Option<bool> {
        let (m, mut moved) = (self.m, false);
        let mut jackson = Jackson::default();
        for a in 0..m {
            let after: Vec<(i64, Vec<After>)> = self.rooms.iter().map(|room| self.after(a, room)).collect();
            self.work += (m * after.iter().map(|(_, uses)| uses.len()).sum::<usize>()) as u64;
            for b in 0..m {
                // Around the circle once, or from `a` to the next `b`.
                let turn = if a == b { 1 } else { -self.dist[a * m + b].div_euclid(self.ii) };
                let known = self.dist[a * m + b] + turn * self.ii;
                let least = after.iter().map(|uses| self.between(b, turn, uses, &mut jackson)).max().unwrap_or(0);
                if least > known {
                    if a == b {
                        return None;
                    }
                    self.dist[a * m + b] = least - turn * self.ii;
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

    /// How long it takes from `a` to `b`, so many iterations later, for what these uses hold in between.
    fn between(&self, b: usize, turn: i64, (units, after): &(i64, Vec<After>), jackson: &mut Jackson) -> i64 {
        let between = after.iter().filter_map(|u| {
            let onward = self.dist[u.held.node * self.m + b] + (turn - u.turn) * self.ii;
            let tail = onward - u.held.start - u.held.duration;
            (tail >= 0).then_some((u.head, tail, u.held.duration))
        });
        jackson.least(*units, between)
    }
}
