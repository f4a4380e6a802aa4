//! Contraction: a network over the operations that need searching, and the rest by longest paths (S30-S32).

use super::Verdict;
use super::span::Span;
use crate::bounds::repeats_resource;
use crate::paths::{heads, tails};
use crate::problem::Problem;
use crate::table::Table;

/// The operations a search decides on, with the least distances between them.
pub(crate) struct Active {
    /// Operations; node `i + 1` of the network is `nodes[i]`, node 0 the origin.
    pub nodes: Vec<u32>,
    /// Closed distances, row by row, the origin first.
    pub dist: Vec<i64>,
}

/// Path lengths stay below this, so that sums of a few of them cannot overflow.
const MOST_PATH: i128 = 1 << 58;
const ABSENT: i64 = i64::MIN / 4;

fn magnitudes_fit(problem: &Problem, ii: i64, extra: i64) -> bool {
    let arcs = &problem.dependences.arcs;
    let latency: i128 = arcs.iter().map(|a| i128::from(a.latency.unsigned_abs())).sum();
    let distance: i128 = arcs.iter().map(|a| i128::from(a.distance.unsigned_abs())).sum();
    let results: i128 = problem.latency.iter().map(|&l| i128::from(l)).sum();
    latency + results + i128::from(ii) * (distance + problem.n as i128) + i128::from(extra) < MOST_PATH
}

impl Active {
    /// The question without a length bound: operations with a use in components with a circuit, and others whose
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
            // A component with one use of one unit is free to turn (S32), like an operation on no circuit.
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
fn close_through_origin(dist: &mut [i64], m: usize) {
    for x in 1..m {
        for y in 1..m {
            if x != y {
                dist[x * m + y] = dist[x * m + y].max(dist[x * m] + dist[y]);
            }
        }
    }
}

/// Longest paths from single operations (S19).
struct PathRuns<'p> {
    problem: &'p Problem,
    span: Span,
    reach: Vec<i64>,
}

impl<'p> PathRuns<'p> {
    fn new(problem: &'p Problem, span: Span) -> Self {
        PathRuns { problem, span, reach: vec![ABSENT; problem.n] }
    }

    /// From `v` to the members of its component; elsewhere meaningless.
    fn within_component(&mut self, v: u32) -> &[i64] {
        let g = &self.problem.dependences;
        let comp = g.comp[v as usize];
        if let Some(members) = g.component(comp) {
            members.iter().for_each(|&w| self.reach[w as usize] = ABSENT);
            self.reach[v as usize] = 0;
            self.settle(members);
        }
        &self.reach
    }

    /// From `v` to every operation.
    fn everywhere(&mut self, v: u32) -> &[i64] {
        self.reach.fill(ABSENT);
        self.reach[v as usize] = 0;
        let g = &self.problem.dependences;
        for members in g.components_from(g.comp[v as usize]) {
            if let [w] = *members {
                let from = self.reach[w as usize];
                if from > ABSENT {
                    self.relax(w as usize);
                }
            } else if members.iter().any(|&w| self.reach[w as usize] > ABSENT) {
                self.settle(members);
            }
        }
        &self.reach
    }

    fn settle(&mut self, members: &[u32]) {
        // The caller knows that no circuit is positive, so this ends after at most one round per member.
        for _ in 0..=members.len() {
            let mut moved = false;
            for &w in members {
                if self.reach[w as usize] > ABSENT {
                    moved |= self.relax(w as usize);
                }
            }
            if !moved {
                break;
            }
        }
    }

    fn relax(&mut self, w: usize) -> bool {
        let g = &self.problem.dependences;
        let from = self.reach[w];
        let mut moved = false;
        for a in g.out(w) {
            let to = from + a.latency - self.span.most(a.distance);
            let slot = &mut self.reach[a.dst as usize];
            if to > *slot {
                *slot = to;
                moved |= g.comp[a.dst as usize] == g.comp[w];
            }
        }
        moved
    }
}

/// Longest paths from one operation to all others at this II; `None` where there is none.
pub(crate) fn path_lengths(problem: &Problem, ii: i64, from: u32) -> Vec<Option<i64>> {
    let mut runs = PathRuns::new(problem, Span::one(ii));
    runs.everywhere(from).iter().map(|&d| (d > ABSENT).then_some(d)).collect()
}

/// The other operations at their earliest, given the times of the active ones; `None` if that does not hold,
/// which a correct search excludes.
pub(crate) fn fill(problem: &Problem, ii: i64, active: &Active, times: &[i64]) -> Option<Vec<i64>> {
    let mut fixed = vec![false; problem.n];
    let mut time = vec![0i64; problem.n];
    for (&v, &t) in active.nodes.iter().zip(times) {
        fixed[v as usize] = true;
        time[v as usize] = t;
    }
    settle_times(problem, ii, &mut time, |v, at| if fixed[v] { None } else { Some(at) })?;
    Some(time)
}

/// Residues for the operations no search was needed for, then the earliest times that keep all residues.
pub(crate) fn complete(problem: &Problem, ii: i64, active: &Active, times: &[i64]) -> Option<Vec<i64>> {
    let mut residue: Vec<Option<i64>> = vec![None; problem.n];
    let mut table = Table::new(problem, ii);
    for (&v, &t) in active.nodes.iter().zip(times) {
        residue[v as usize] = Some(t.rem_euclid(ii));
        table.place(v as usize, t);
    }
    let mut touched = vec![false; problem.count.len()];
    active
        .nodes
        .iter()
        .flat_map(|&v| problem.uses(v as usize))
        .for_each(|u| touched[u.resource as usize] = true);
    // McNaughton's wrap-around rule on resources without other users; free cells for single cycles elsewhere.
    let mut filled = vec![0i64; problem.count.len()];
    let open: Vec<usize> = (0..problem.n).filter(|&v| residue[v].is_none()).collect();
    for v in open {
        let [u] = *problem.uses(v) else { continue };
        let r = u.resource as usize;
        let at = if touched[r] {
            table.first_fit(v, filled[r] - u.start, filled[r] - u.start + ii - 1)?
        } else {
            filled[r] - u.start
        };
        table.place(v, at);
        // First fit goes on where it stopped: the cells before are full.
        filled[r] = at + u.start + u.duration;
        residue[v] = Some(at.rem_euclid(ii));
    }
    let mut time: Vec<i64> = residue.iter().map(|r| r.unwrap_or(0)).collect();
    settle_times(problem, ii, &mut time, |v, at| {
        Some(residue[v].map_or(at, |r| at + (r - at).rem_euclid(ii)))
    })?;
    Some(time)
}

/// The earliest times from 0 on with the residues of these times.
pub(crate) fn earliest_at_residues(problem: &Problem, ii: i64, times: &[i64]) -> Option<Vec<i64>> {
    let first = times.iter().copied().min().unwrap_or(0);
    let held = |v: usize| !problem.uses(v).is_empty();
    let residue: Vec<i64> = times.iter().map(|t| (t - first).rem_euclid(ii)).collect();
    let mut time: Vec<i64> = (0..problem.n).map(|v| if held(v) { residue[v] } else { 0 }).collect();
    settle_times(problem, ii, &mut time, |v, at| {
        Some(if held(v) { at + (residue[v] - at).rem_euclid(ii) } else { at })
    })?;
    Some(time)
}

/// Raises times until all dependences hold. `place(v, t)` is the first allowed start of `v` from `t` on.
fn settle_times(
    problem: &Problem,
    ii: i64,
    time: &mut [i64],
    place: impl Fn(usize, i64) -> Option<i64>,
) -> Option<()> {
    let g = &problem.dependences;
    // Every round settles one operation more of a component, and an operation moves by whole laps at most as
    // often as there are members.
    for members in g.components_in_order() {
        let rounds = 2 + members.len().saturating_mul(members.len());
        let mut settled = false;
        for _ in 0..rounds {
            let mut moved = false;
            for &w in members {
                let from = time[w as usize];
                for a in g.out(w as usize) {
                    let d = a.dst as usize;
                    let to = from + a.latency - ii * a.distance;
                    if to > time[d] {
                        time[d] = place(d, to)?;
                        moved |= g.comp[d] == g.comp[w as usize];
                    }
                }
            }
            if !moved {
                settled = true;
                break;
            }
        }
        if !settled {
            return None;
        }
    }
    Some(())
}

/// Whether folding the uses of one operation needs a look at each residue.
pub(crate) fn is_complex(problem: &Problem, v: usize) -> bool {
    repeats_resource(problem.uses(v))
}
