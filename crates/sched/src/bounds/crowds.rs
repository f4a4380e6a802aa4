//! A bound on the cycles for an iteration, however many are scheduled at once, that sees dependences and units together.
//!
//! Uses that come at least `h` cycles after an operation `a`, and after each of which it takes at least `q` cycles to an
//! operation `b` some iterations later, hold their units in between: so `b` follows `a` by `h + q` and the cycles they hold,
//! shared by the units. That is a dependence of every schedule, and recurrences of such dependences bound it as others do.

use crate::bounds::jackson::Jackson;
use crate::bounds::ratio::recurrence_bound;
use crate::model::digraph::{Arc, Digraph};
use crate::model::guard::Guard;
use crate::model::problem::Problem;
use std::collections::BTreeMap;

/// Iterations that `b` may come after `a`.
const MOST_DISTANCE: usize = 2;
/// Components of more operations are left alone.
const MOST_NODES: usize = 300;
/// Looks at all paths of a component.
const MOST_ROUNDS: usize = 8;
/// The length of a path that there is not.
const ABSENT: i64 = i64::MIN / 4;

/// A ratio of cycles to iterations that no schedule falls below; `None` where crowds make no dependence.
pub(crate) fn crowd_ratio(problem: &Problem, guard: &mut Guard) -> Option<(i64, i64)> {
    let g = &problem.dependences;
    if g.arcs.iter().any(|a| a.distance < 0) {
        return None;
    }
    let mut arcs = Vec::new();
    for members in g.components_in_order().filter(|m| g.is_cyclic(m) && m.len() <= MOST_NODES) {
        let mut crowds = Crowds::new(problem, members);
        for _ in 0..MOST_ROUNDS {
            if guard.expired() || !crowds.lengthen() {
                break;
            }
        }
        arcs.extend(crowds.found.iter().map(|(&(a, b, distance), &latency)| Arc {
            src: members[a],
            dst: members[b],
            latency,
            distance: distance as i64,
        }));
    }
    if arcs.is_empty() {
        return None;
    }
    arcs.extend(&g.arcs);
    recurrence_bound(&Digraph::new(g.n, arcs), true)?.ratio
}

/// A use: operation, start and duration.
#[derive(Clone, Copy)]
struct Held {
    node: usize,
    start: i64,
    duration: i64,
}

struct Crowds {
    m: usize,
    /// Longest paths of each distance, row by row.
    dist: Vec<Vec<i64>>,
    /// The uses of each resource with more than one, and its units.
    rooms: Vec<(i64, Vec<Held>)>,
    /// Dependences that crowds make: from, to, distance, and latency.
    found: BTreeMap<(usize, usize, usize), i64>,
}

impl Crowds {
    fn new(problem: &Problem, members: &[u32]) -> Self {
        let m = members.len();
        let mut uses: Vec<Vec<Held>> = vec![Vec::new(); problem.count.len()];
        let mut place = vec![m; problem.n];
        let mut dist = vec![vec![ABSENT; m * m]; MOST_DISTANCE + 1];
        for (node, &v) in members.iter().enumerate() {
            place[v as usize] = node;
            dist[0][node * m + node] = 0;
            for u in problem.uses(v as usize) {
                uses[u.resource as usize].push(Held { node, start: u.start, duration: u.duration });
            }
        }
        for (i, &v) in members.iter().enumerate() {
            for a in problem.dependences.out(v as usize) {
                let j = place[a.dst as usize];
                if let Some(paths) = dist.get_mut(a.distance as usize).filter(|_| j < m) {
                    paths[i * m + j] = paths[i * m + j].max(a.latency);
                }
            }
        }
        let rooms = problem.count.iter().copied().zip(uses).filter(|(_, uses)| uses.len() > 1).collect();
        let mut crowds = Crowds { m, dist, rooms, found: BTreeMap::new() };
        crowds.close();
        crowds
    }

    /// Adds up paths of every distance.
    fn close(&mut self) {
        let m = self.m;
        for k in 0..m {
            let through = self.dist[0][k * m..][..m].to_vec();
            for row in self.dist[0].chunks_exact_mut(m) {
                let to = row[k];
                if to > ABSENT {
                    row.iter_mut().zip(&through).for_each(|(d, t)| *d = (*d).max(to + t));
                }
            }
        }
        for total in 1..=MOST_DISTANCE {
            for first in 0..=total {
                // What has been found of this distance is followed by paths of distance 0 in the last of these.
                let (one, other) = (self.dist[first].clone(), self.dist[total - first].clone());
                for (row, of) in self.dist[total].chunks_exact_mut(m).zip(one.chunks_exact(m)) {
                    for (&to, through) in of.iter().zip(other.chunks_exact(m)).filter(|(to, _)| **to > ABSENT)
                    {
                        row.iter_mut().zip(through).for_each(|(d, t)| *d = (*d).max(to + t));
                    }
                }
            }
        }
    }

    /// One look at all pairs: whether a path has become longer.
    fn lengthen(&mut self) -> bool {
        let (m, mut moved, mut jackson) = (self.m, false, Jackson::default());
        for a in 0..m {
            let after: Vec<Vec<(i64, usize, Held)>> =
                self.rooms.iter().map(|(_, uses)| self.after(a, uses)).collect();
            for b in 0..m {
                for distance in 0..=MOST_DISTANCE {
                    let least = self.rooms.iter().zip(&after).map(|((units, _), uses)| {
                        let between = uses.iter().filter_map(|(head, turn, held)| {
                            let onward = self.dist.get(distance.checked_sub(*turn)?)?[held.node * m + b];
                            let tail = onward - held.start - held.duration;
                            (onward > ABSENT && tail >= 0).then_some((*head, tail, held.duration))
                        });
                        jackson.least(*units, between)
                    });
                    let least = least.max().unwrap_or(0);
                    if least > self.dist[distance][a * m + b].max(0) {
                        self.dist[distance][a * m + b] = least;
                        self.found.insert((a, b, distance), least);
                        moved = true;
                    }
                }
            }
        }
        if moved {
            self.close();
        }
        moved
    }

    /// The uses that come after `a`, in each iteration in which they do: cycles from it to their start, and the iteration.
    fn after(&self, a: usize, uses: &[Held]) -> Vec<(i64, usize, Held)> {
        let paths = self.dist.iter().enumerate();
        let mut after: Vec<(i64, usize, Held)> = paths
            .flat_map(|(turn, dist)| {
                uses.iter().map(move |u| (dist[a * self.m + u.node] + u.start, turn, *u))
            })
            .filter(|(head, ..)| *head >= 0)
            .collect();
        after.sort_by_key(|(head, ..)| *head);
        after
    }
}
