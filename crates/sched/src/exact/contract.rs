//! Contraction: a network over the operations that need searching (S30-S32).

use super::crowd::Paths;
use super::network::Network;
use super::reach::{ABSENT, PathRuns};
use super::span::Span;
use super::verdict::Verdict;
use crate::model::paths::{heads, tails};
use crate::model::problem::Problem;

/// The operations a search decides on, with the least distances between them.
pub(crate) struct Active {
    /// Operations; node `i + 1` of the network is `nodes[i]`, node 0 the origin.
    pub nodes: Vec<u32>,
    /// Closed distances, row by row, the origin first.
    pub dist: Vec<i64>,
}

/// Path lengths stay below this, so that sums of a few of them cannot overflow.
const MOST_PATH: i128 = 1 << 58;

pub(super) fn magnitudes_fit(problem: &Problem, ii: i64, extra: i64) -> bool {
    let arcs = &problem.dependences.arcs;
    let latency: i128 = arcs.iter().map(|a| i128::from(a.latency.unsigned_abs())).sum();
    let distance: i128 = arcs.iter().map(|a| i128::from(a.distance.unsigned_abs())).sum();
    let results: i128 = problem.latency.iter().map(|&l| i128::from(l)).sum();
    latency + results + i128::from(ii) * (distance + problem.n as i128) + i128::from(extra) < MOST_PATH
}

impl Active {
    /// The distances, to be added to.
    pub fn network(&self) -> Network {
        Network::new(self.nodes.len() + 1, self.dist.clone())
    }

    /// The question without a length bound: operations with a use in components with a recurrence, and others whose
    /// packing is not settled by counting (S31). One operation of each component, and each other one, is held
    /// in `[0, II)`; the first at 0 (S32). `None` when the numbers are too large to search.
    pub fn at_span(problem: &Problem, span: Span) -> Option<Self> {
        if !magnitudes_fit(problem, span.high, 0) {
            return None;
        }
        let g = &problem.dependences;
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut touched = vec![false; problem.count.len()];
        let mut singles = Vec::new();
        for members in g.components_in_order() {
            let used: Vec<u32> =
                members.iter().copied().filter(|&v| !problem.uses(v as usize).is_empty()).collect();
            // A component with one use of one unit is free to turn (S32), like an operation on no recurrence.
            if used.len() > 1 || used.first().is_some_and(|&v| problem.uses(v as usize).len() > 1) {
                used.iter()
                    .flat_map(|&v| problem.uses(v as usize))
                    .for_each(|u| touched[u.resource as usize] = true);
                groups.push(used);
            } else {
                singles.extend(used);
            }
        }
        let long = |v: &u32| {
            problem.uses(*v as usize).iter().any(|u| u.duration > 1 && touched[u.resource as usize])
        };
        let long_singles: Vec<u32> = singles.into_iter().filter(long).collect();
        groups.sort_by_key(|g| std::cmp::Reverse(g.len()));
        groups.extend(long_singles.into_iter().map(|v| vec![v]));
        Some(Self::assemble(problem, span, &groups))
    }

    /// The question without a length bound about all of these operations.
    pub fn of(problem: &Problem, span: Span, wanted: &[bool]) -> Option<Self> {
        if !magnitudes_fit(problem, span.high, 0) {
            return None;
        }
        let of_component =
            |members: &[u32]| members.iter().copied().filter(|&v| wanted[v as usize]).collect::<Vec<u32>>();
        let mut groups: Vec<Vec<u32>> =
            problem.dependences.components_in_order().map(of_component).filter(|g| !g.is_empty()).collect();
        groups.sort_by_key(|g| std::cmp::Reverse(g.len()));
        Some(Self::assemble(problem, span, &groups))
    }

    /// Takes over paths that are longer than those of the dependences alone; false where no schedule is left.
    pub(super) fn lengthen(&mut self, problem: &Problem, all: &[Paths]) -> bool {
        let m = self.nodes.len() + 1;
        let mut place = vec![0; problem.n];
        (1..).zip(&self.nodes).for_each(|(i, &v)| place[v as usize] = i);
        for paths in all {
            for (&v, row) in paths.members.iter().zip(paths.dist.chunks_exact(paths.members.len())) {
                let x = place[v as usize];
                for (&w, &far) in paths.members.iter().zip(row) {
                    let y = place[w as usize];
                    if x > 0 && y > 0 && x != y {
                        self.dist[x * m + y] = self.dist[x * m + y].max(far);
                    }
                }
            }
        }
        // The paths are closed; so is what they become with the ways through the origin, in the end.
        for k in 0..m {
            let through: Vec<i64> = self.dist[k * m..][..m].to_vec();
            for row in self.dist.chunks_exact_mut(m) {
                let to = row[k];
                row.iter_mut().zip(&through).for_each(|(d, t)| *d = (*d).max(to + t));
            }
        }
        (0..m).all(|x| self.dist[x * m + x] <= 0)
    }

    fn assemble(problem: &Problem, span: Span, groups: &[Vec<u32>]) -> Self {
        let nodes: Vec<u32> = groups.iter().flatten().copied().collect();
        let m = nodes.len() + 1;
        let mut dist = vec![ABSENT; m * m];
        dist[0] = 0;
        let mut paths = PathRuns::new(problem, span);
        let mut at = 1;
        for (i, group) in groups.iter().enumerate() {
            let range = at..at + group.len();
            at = range.end;
            let slack = if i == 0 { 0 } else { span.high - 1 };
            for (x, &v) in range.clone().zip(group) {
                let reach = paths.within_component(v);
                for (y, &w) in range.clone().zip(group) {
                    dist[x * m + y] = reach[w as usize];
                }
                dist[x * m + x] = 0;
            }
            for x in range.clone() {
                dist[x] = dist[range.start * m + x];
                dist[x * m] = dist[x * m + range.start] - slack;
            }
        }
        close_through_origin(&mut dist, m);
        Active { nodes, dist }
    }

    /// The question with a length bound: all operations with a use, coupled by the origin (S36).
    pub fn at_length(problem: &Problem, ii: i64, length: i64) -> Result<Self, Verdict> {
        if !magnitudes_fit(problem, ii, length) {
            return Err(Verdict::Undecided);
        }
        let (Some(head), Some(tail)) = (heads(problem, ii), tails(problem, ii)) else {
            return Err(Verdict::Refuted);
        };
        if (0..problem.n).any(|v| head[v] + tail[v] > length) {
            return Err(Verdict::Refuted);
        }
        let nodes: Vec<u32> =
            (0..problem.n as u32).filter(|&v| !problem.uses(v as usize).is_empty()).collect();
        let m = nodes.len() + 1;
        let mut dist = vec![ABSENT; m * m];
        dist[0] = 0;
        let mut paths = PathRuns::new(problem, Span::one(ii));
        for (x, &v) in (1..).zip(&nodes) {
            let reach = paths.everywhere(v);
            for (y, &w) in (1..).zip(&nodes) {
                dist[x * m + y] = reach[w as usize];
            }
            dist[x * m + x] = 0;
            dist[x] = head[v as usize];
            dist[x * m] = tail[v as usize] - length;
        }
        close_through_origin(&mut dist, m);
        Ok(Active { nodes, dist })
    }
}

/// Distances inside are closed already; only the way through the origin is new.
pub(super) fn close_through_origin(dist: &mut [i64], m: usize) {
    for x in 1..m {
        for y in 1..m {
            if x != y {
                dist[x * m + y] = dist[x * m + y].max(dist[x * m] + dist[y]);
            }
        }
    }
}
