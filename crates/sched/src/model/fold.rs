//! Loops that are several copies of a smaller one, as unrolling makes them.

use crate::model::digraph::{Arc, Digraph};
use crate::model::problem::Problem;

/// More copies are not looked for.
const MOST_COPIES: usize = 64;

/// A smaller loop, several iterations of which are one of the loop.
pub(crate) struct Folded {
    pub copies: usize,
    pub problem: Problem,
}

impl Folded {
    /// The smallest loop of which `problem` is copies, one after the other: operation `v` of copy `c` is `c * m + v`, and a
    /// dependence of `d` iterations leads from a copy to that `d` further on.
    pub fn of(problem: &Problem) -> Option<Self> {
        let n = problem.n;
        (2..=n.min(MOST_COPIES)).rev().filter(|k| n.is_multiple_of(*k)).find_map(|k| Self::into(problem, k))
    }

    fn into(problem: &Problem, copies: usize) -> Option<Self> {
        let m = problem.n / copies;
        let alike = |v: usize| {
            problem.latency[v] == problem.latency[v % m]
                && problem.uses(v) == problem.uses(v % m)
                && problem.taken(v) == problem.taken(v % m)
        };
        if !(m..problem.n).all(alike) {
            return None;
        }
        let mut arcs: Vec<Vec<(u32, u32, i64, i64)>> = vec![Vec::new(); copies];
        for a in &problem.dependences.arcs {
            let (src, dst) = (a.src as usize, a.dst as usize);
            let further = (dst / m) as i64 - (src / m) as i64 + copies as i64 * a.distance;
            arcs[src / m].push(((src % m) as u32, (dst % m) as u32, further, a.latency));
        }
        arcs.iter_mut().for_each(|list| list.sort_unstable());
        let first = arcs.first()?;
        if arcs.iter().any(|list| list != first) {
            return None;
        }
        let arc = |&(src, dst, distance, latency): &(u32, u32, i64, i64)| Arc { src, dst, latency, distance };
        let dependences = Digraph::new(m, first.iter().map(arc).collect());
        Some(Folded { copies, problem: problem.first_operations(m, dependences) })
    }

    /// The schedule of the smaller loop, copy after copy, as one of the loop.
    pub fn unfold(&self, ii: i64, time: &[i64]) -> Option<(i64, Vec<i64>)> {
        let whole = ii.checked_mul(self.copies as i64)?;
        let later = |copy: usize| time.iter().map(move |t| t + copy as i64 * ii);
        Some((whole, (0..self.copies).flat_map(later).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::graph::LoopGraph;
    use crate::model::unroll::unroll;

    fn mixed() -> LoopGraph {
        let mut g = LoopGraph::new("mixed");
        g.add_resource("U", 1).add_resource("V", 2);
        let a = g.add_node("a", 3, &[("U", 0, 2)]);
        let b = g.add_node("b", 4, &[("V", 1, 3)]);
        g.add_edge(a, b, 3, 0).add_edge(b, a, 4, 3).add_edge(a, a, 1, 1);
        g
    }

    #[test]
    fn copies_are_found_again() {
        let plain = Problem::new(&mixed(), &[]);
        for k in 2..=6 {
            let copies = unroll(&mixed(), k).unwrap_or_default();
            let folded =
                Folded::of(&Problem::new(&copies, &[])).map(|f| (f.copies, f.problem.dependences.arcs));
            assert_eq!(folded, Some((k as usize, plain.dependences.arcs.clone())));
        }
    }

    #[test]
    fn what_differs_is_no_copy() {
        let copies = unroll(&mixed(), 3).unwrap_or_default();
        let differs = |change: &dyn Fn(&mut LoopGraph)| {
            let mut g = copies.clone();
            change(&mut g);
            assert!(Folded::of(&Problem::new(&g, &[])).is_none());
        };
        differs(&|g| g.edges[2].latency += 1);
        differs(&|g| g.edges[2].distance += 1);
        differs(&|g| g.nodes[3].latency += 1);
        differs(&|g| g.nodes[4].uses[0].duration += 1);
    }
}
