//! Loops that are several copies of a smaller one, as unrolling makes them, or rows of a tile with something around them.

use crate::model::digraph::{Arc, Digraph};
use crate::model::problem::Problem;

/// More copies are not looked for.
const MOST_COPIES: usize = 64;
/// Copies with something around them are at least so large, and are such a part of the loop; in larger loops they are not
/// looked for.
const LEAST_ROW: usize = 8;
const PART: (usize, usize) = (3, 4);
const MOST_OPERATIONS: usize = 1_000;

/// A smaller loop, several iterations of which are one of the loop.
pub(crate) struct Folded {
    pub copies: usize,
    pub problem: Problem,
    shape: Shape,
}

/// Where copies are among the operations: so many come before them, and each has so many. What comes before belongs to the
/// first of them, what comes after to the last.
#[derive(Clone, Copy)]
struct Shape {
    before: usize,
    size: usize,
    copies: usize,
}

/// A dependence of the smaller loop: source, target, latency, distance.
type Further = (u32, u32, i64, i64);

impl Shape {
    fn end(self) -> usize {
        self.before + self.size * self.copies
    }

    /// The operation of the smaller loop that this one is, and in which copy.
    fn place(self, v: usize) -> (usize, usize) {
        if v < self.before {
            (v, 0)
        } else if v < self.end() {
            (self.before + (v - self.before) % self.size, (v - self.before) / self.size)
        } else {
            (v - self.size * (self.copies - 1), self.copies - 1)
        }
    }

    /// The copy that a dependence leads from, and the dependence between operations of copies so far apart.
    fn further(self, a: &Arc) -> (usize, Further) {
        let ((src, from), (dst, to)) = (self.place(a.src as usize), self.place(a.dst as usize));
        let distance = to as i64 - from as i64 + self.copies as i64 * a.distance;
        (from, (src as u32, dst as u32, a.latency, distance))
    }

    fn folded(self, problem: &Problem, arcs: &[Further]) -> Folded {
        let arc = |&(src, dst, latency, distance): &Further| Arc { src, dst, latency, distance };
        let operations: Vec<usize> = (0..self.before + self.size).chain(self.end()..problem.n).collect();
        let dependences = Digraph::new(operations.len(), arcs.iter().map(arc).collect());
        Folded { copies: self.copies, problem: problem.only(&operations, dependences), shape: self }
    }
}

impl Folded {
    /// The smallest loop of which `problem` is copies.
    pub fn of(problem: &Problem) -> Option<Self> {
        let n = problem.n;
        let all = (2..=n.min(MOST_COPIES)).rev().filter(|k| n.is_multiple_of(*k));
        all.map(|copies| Shape { before: 0, size: n / copies, copies })
            .find_map(|shape| Self::into(problem, shape))
    }

    /// Copies one after the other: operation `v` of copy `c` is `c * m + v`, and a dependence of `d` iterations leads from a
    /// copy to that `d` further on.
    fn into(problem: &Problem, shape: Shape) -> Option<Self> {
        if !(shape.size..problem.n).all(|v| alike(problem, v, v % shape.size)) {
            return None;
        }
        let mut arcs: Vec<Vec<Further>> = vec![Vec::new(); shape.copies];
        for (copy, further) in problem.dependences.arcs.iter().map(|a| shape.further(a)) {
            arcs[copy].push(further);
        }
        arcs.iter_mut().for_each(|list| list.sort_unstable());
        let first = arcs.first()?;
        arcs.iter().all(|list| list == first).then(|| shape.folded(problem, first))
    }

    /// The loop of which most of `problem` is copies, with something around them, and that may depend on each other in different
    /// ways. Each copy of the smaller
    /// loop has all of that: its schedules keep more than they need to.
    pub fn around(problem: &Problem) -> Option<Self> {
        let shape = rows(problem)?;
        let mut arcs: Vec<Further> = problem.dependences.arcs.iter().map(|a| shape.further(a).1).collect();
        // The nearest says what those further on say.
        arcs.sort_unstable();
        arcs.dedup_by_key(|a| (a.0, a.1, a.2));
        Some(shape.folded(problem, &arcs))
    }

    /// The schedule of the smaller loop, copy after copy, as one of the loop.
    pub fn unfold(&self, ii: i64, time: &[i64]) -> Option<(i64, Vec<i64>)> {
        let whole = ii.checked_mul(self.copies as i64)?;
        let shape = self.shape;
        let operations = self.problem.n + shape.size * (shape.copies - 1);
        let places = (0..operations).map(|v| shape.place(v));
        Some((whole, places.map(|(v, copy)| time[v] + copy as i64 * ii).collect()))
    }
}

fn alike(problem: &Problem, v: usize, w: usize) -> bool {
    problem.latency[v] == problem.latency[w]
        && problem.uses(v) == problem.uses(w)
        && problem.taken(v) == problem.taken(w)
}

/// The copies that cover the most of a loop, the smallest of them, where that is enough.
fn rows(problem: &Problem) -> Option<Shape> {
    let n = problem.n;
    if n > MOST_OPERATIONS {
        return None;
    }
    let kinds = kinds(problem);
    let mut best: Option<Shape> = None;
    let mut least = (n * PART.0).div_ceil(PART.1);
    for size in LEAST_ROW..=n / 2 {
        let (start, run) = longest_run(&kinds, size);
        let copies = run / size + 1;
        if copies == 1 || copies > MOST_COPIES || size * copies < least {
            continue;
        }
        let shapes = (start..=start + run % size).map(|before| Shape { before, size, copies });
        if let Some(shape) = shapes.into_iter().find(|shape| depend_alike(problem, *shape)) {
            (best, least) = (Some(shape), size * copies + 1);
        }
    }
    best
}

/// For each operation the first that is like it.
fn kinds(problem: &Problem) -> Vec<usize> {
    let mut firsts: Vec<usize> = Vec::new();
    let kind = |v| match firsts.iter().find(|&&w| alike(problem, v, w)) {
        Some(&w) => w,
        None => {
            firsts.push(v);
            v
        }
    };
    (0..problem.n).map(kind).collect()
}

/// The first of the longest runs of operations each of which is like the one `size` further on, and how long it is.
fn longest_run(kinds: &[usize], size: usize) -> (usize, usize) {
    let (mut best, mut run) = ((0, 0), 0);
    for (v, (here, further)) in kinds.iter().zip(&kinds[size..]).enumerate() {
        run = if here == further { run + 1 } else { 0 };
        if run > best.1 {
            best = (v + 1 - run, run);
        }
    }
    best
}

/// Whether all copies have the same dependences within them, and at least one.
fn depend_alike(problem: &Problem, shape: Shape) -> bool {
    let mut inner: Vec<Vec<Further>> = vec![Vec::new(); shape.copies];
    let among = |v: u32| (shape.before..shape.end()).contains(&(v as usize));
    for a in problem.dependences.arcs.iter().filter(|a| among(a.src) && among(a.dst)) {
        if shape.place(a.src as usize).1 == shape.place(a.dst as usize).1 {
            let (copy, further) = shape.further(a);
            inner[copy].push(further);
        }
    }
    inner.iter_mut().for_each(|list| list.sort_unstable());
    !inner[0].is_empty() && inner.iter().all(|list| *list == inner[0])
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

    /// A load for three rows of two chains each that hand on to the next row, and a store after them.
    fn tiles() -> LoopGraph {
        let mut g = LoopGraph::new("tiles");
        g.add_resource("U", 1).add_resource("V", 2);
        let load = g.add_node("load", 9, &[("V", 0, 1)]);
        let mut last = None;
        for row in 0..3 {
            let first = g.nodes.len();
            for step in 0..8 {
                let v = g.add_node(format!("{row}.{step}"), 1 + step, &[("U", 0, 1)]);
                if step > 0 {
                    g.add_edge(v - 1, v, step, 0);
                }
            }
            g.add_edge(load, first, 9, 0).add_edge(first + 7, first, 8, 1);
            last.into_iter().for_each(|last| _ = g.add_edge(last, first + 7, 8, 0));
            last = Some(first + 7);
        }
        let store = g.add_node("store", 5, &[("V", 0, 1)]);
        g.add_edge(store - 1, store, 8, 0);
        g
    }

    #[test]
    fn copies_with_something_around_them_are_found() {
        let whole = Problem::new(&tiles(), &[]);
        let folded = Folded::around(&whole);
        assert_eq!(folded.as_ref().map(|f| (f.copies, f.problem.n)), Some((3, 10)));
        // All of the smaller loop one cycle after the other, on units of their own: what it keeps the loop keeps.
        let time: Vec<i64> = (0..10).map(|v| 40 * v).collect();
        let unfolded = folded.and_then(|f| f.unfold(400, &time)).unwrap_or_default();
        assert_eq!((unfolded.0, unfolded.1.len()), (1_200, whole.n));
        let at = |v: u32| unfolded.1[v as usize];
        assert!(whole.dependences.arcs.iter().all(|a| at(a.dst) - at(a.src) >= a.weight(unfolded.0)));
    }

    #[test]
    fn rows_that_depend_in_other_ways_are_no_copies() {
        let mut g = tiles();
        g.edges[3].latency += 1;
        assert!(Folded::around(&Problem::new(&g, &[])).is_none_or(|f| f.copies < 3));
    }
}
