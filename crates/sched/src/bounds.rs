//! Lower bounds on the II: resources, circuits, self conflicts (S13-S17).

use crate::digraph::{Arc, Digraph};
use crate::paths::CircuitFinder;
use crate::problem::{Problem, UnitUse};
use crate::validate::ValidGraph;

/// The bounds of a loop and what attains them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// `max(1, max_r ceil(sum of durations on r / count_r))` (S13).
    pub res_mii: i64,
    /// `max(0, max_C ceil(latency(C) / distance(C)))` over all circuits (S15).
    pub rec_mii: i64,
    /// The larger of the two, rounded up past IIs at which one operation conflicts with itself (S14, S17).
    pub mii: i64,
    /// Position in `resources` of the one that attains [`res_mii`](Self::res_mii); `None` when nothing is used.
    pub critical_resource: Option<usize>,
    /// The greatest circuit ratio, latency over distance in lowest terms; `None` when no circuit has a positive
    /// latency.
    pub rec_ratio: Option<(i64, i64)>,
    /// The operations of a circuit of that ratio, in order.
    pub critical_circuit: Vec<usize>,
}

/// Computes the bounds of a loop; see [`Bounds`]. Exact, no search (S15, S16).
pub fn bounds(graph: &ValidGraph<'_>) -> Bounds {
    bounds_of(&graph.problem)
}

pub(crate) fn bounds_of(problem: &Problem) -> Bounds {
    let (res_mii, critical_resource) = resource_bound(problem);
    // Validation has excluded positive circuits of distance 0, and only caps have negative distances.
    let rec = recurrence_bound(&problem.dependences, true).unwrap_or_default();
    let mii = next_self_fit(problem, res_mii.max(rec.bound));
    Bounds {
        res_mii,
        rec_mii: rec.bound,
        mii,
        critical_resource,
        rec_ratio: rec.ratio,
        critical_circuit: rec.circuit.iter().map(|a| a.src as usize).collect(),
    }
}

fn resource_bound(problem: &Problem) -> (i64, Option<usize>) {
    let mut best: (i64, Option<usize>) = (1, None);
    for (r, (&sum, &count)) in problem.held().iter().zip(&problem.count).enumerate() {
        let need = (sum + count - 1) / count.max(1);
        if need > best.0 || (best.1.is_none() && sum > 0) {
            best = (need.max(1), Some(r));
        }
    }
    best
}

/// The bound by circuits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recurrence {
    pub bound: i64,
    pub ratio: Option<(i64, i64)>,
    pub circuit: Vec<Arc>,
}

/// The least II at which no circuit is positive (S15). Starts from the best value so far and raises it to the
/// ratio of each circuit found, so every step is a proof. `None`: circuits exclude every II, which only caps on
/// depths can do (S55). `exact_ratio` asks for the greatest ratio as a fraction too.
pub(crate) fn recurrence_bound(g: &Digraph, exact_ratio: bool) -> Option<Recurrence> {
    let mut best = Recurrence::default();
    let cyclic: Vec<&[u32]> = g.components_in_order().filter(|m| g.is_cyclic(m)).collect();
    if cyclic.is_empty() {
        return Some(best);
    }
    let mut finder = CircuitFinder::<i64>::new(g.n);
    let mut tight: Vec<&[u32]> = Vec::new();
    for &members in &cyclic {
        let mut raised = false;
        while let Some(circuit) = finder.find(g, members, |a| a.weight(best.bound)) {
            let (latency, distance) = sums(&circuit);
            if distance <= 0 {
                return None;
            }
            best.bound = div_ceil(latency, distance);
            best.ratio = Some((latency, distance));
            best.circuit = circuit;
            raised = true;
        }
        if raised {
            tight.clear();
        }
        tight.push(members);
    }
    if exact_ratio && best.ratio.is_some_and(|(_, d)| d > 0) {
        // A component whose ratio lies between bound - 1 and bound may still beat the circuit found.
        let mut finder = CircuitFinder::<i128>::new(g.n);
        for members in cyclic {
            while let Some((p, q)) = best.ratio
                && let Some(circuit) = finder.find(g, members, |a| {
                    i128::from(a.latency) * i128::from(q) - i128::from(p) * i128::from(a.distance)
                })
            {
                let (latency, distance) = sums(&circuit);
                if distance <= 0 {
                    break;
                }
                best.ratio = Some((latency, distance));
                best.circuit = circuit;
            }
        }
        best.ratio = best.ratio.map(|(p, q)| {
            let common = gcd(p, q);
            (p / common, q / common)
        });
    }
    Some(best)
}

fn sums(circuit: &[Arc]) -> (i64, i64) {
    circuit.iter().fold((0, 0), |(l, d), a| (l + a.latency, d + a.distance))
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

/// `ceil(a / b)` for positive `b`.
pub(crate) fn div_ceil(a: i64, b: i64) -> i64 {
    a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0)
}

/// The least II from `from` on at which no operation conflicts with itself (S14).
pub(crate) fn next_self_fit(problem: &Problem, from: i64) -> i64 {
    let complex: Vec<&[UnitUse]> =
        (0..problem.n).map(|v| problem.uses(v)).filter(|uses| repeats_resource(uses)).collect();
    let mut ii = from;
    while !complex.iter().all(|uses| self_fits(uses, &problem.count, ii)) {
        ii += 1;
    }
    ii
}

/// Whether two of the uses are on one resource.
pub(crate) fn repeats_resource(uses: &[UnitUse]) -> bool {
    (1..uses.len()).any(|i| uses[..i].iter().any(|u| u.resource == uses[i].resource))
}

/// Whether one operation alone keeps S4 at this II.
pub(crate) fn self_fits(uses: &[UnitUse], count: &[i64], ii: i64) -> bool {
    (0..uses.len()).all(|i| {
        let resource = uses[i].resource;
        if uses[..i].iter().any(|u| u.resource == resource) {
            return true;
        }
        let mut base = 0;
        // The folded remainders as +1 / -1 events; ends sort before starts at the same residue.
        let mut events: Vec<(i64, i64)> = Vec::new();
        for u in uses.iter().filter(|u| u.resource == resource) {
            base += u.duration / ii;
            let rest = u.duration % ii;
            let from = u.start % ii;
            if rest > 0 {
                events.push((from, 1));
                if from + rest < ii {
                    events.push((from + rest, -1));
                } else if from + rest > ii {
                    events.push((0, 1));
                    events.push((from + rest - ii, -1));
                }
            }
        }
        events.sort_unstable();
        let mut load = base;
        let mut most = base;
        for (_, step) in events {
            load += step;
            most = most.max(load);
        }
        most <= count.get(resource as usize).copied().unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn self_fit_holes() {
        // S14: offsets 0 and 3 of one unit exclude II 3 and II 1, not II 2.
        let uses =
            [UnitUse { resource: 0, start: 0, duration: 1 }, UnitUse { resource: 0, start: 3, duration: 1 }];
        let fits: Vec<i64> = (1..8).filter(|&ii| self_fits(&uses, &[1], ii)).collect();
        assert_eq!(fits, [2, 4, 5, 6, 7]);
    }

    #[test]
    fn rounding() {
        assert_eq!((div_ceil(7, 2), div_ceil(-7, 2), div_ceil(8, 2)), (4, -3, 4));
    }
}
