//! Smaller loops.

use proptest::strategy::ValueTree;
use warploom_sched::LoopGraph;

/// A loop that failed, and the smaller ones to try: without an operation, an edge, a value, a use or a unit, with a
/// number halved.
#[derive(Clone, Debug)]
pub struct LoopTree {
    best: LoopGraph,
    tried: Option<LoopGraph>,
    /// The next reduction to try.
    next: usize,
}

impl LoopTree {
    /// Starts from this loop, wherever it comes from.
    pub fn new(graph: LoopGraph) -> Self {
        LoopTree { best: graph, tried: None, next: 0 }
    }
}

impl ValueTree for LoopTree {
    type Value = LoopGraph;

    fn current(&self) -> LoopGraph {
        self.tried.as_ref().unwrap_or(&self.best).clone()
    }

    fn simplify(&mut self) -> bool {
        if let Some(smaller) = self.tried.take() {
            // It still failed; what took the place of the part taken away is tried next.
            self.best = smaller;
            self.next -= 1;
        }
        while let Some(candidate) = reduction(&self.best, self.next) {
            self.next += 1;
            if let Some(smaller) = candidate {
                self.tried = Some(smaller);
                return true;
            }
        }
        false
    }

    fn complicate(&mut self) -> bool {
        self.tried.take().is_some()
    }
}

/// The `i`-th way to make a loop smaller: outer `None` when there are no more, inner where it changes nothing.
fn reduction(graph: &LoopGraph, i: usize) -> Option<Option<LoopGraph>> {
    let mut g = graph.clone();
    let mut at = i;
    let mut within = |count: usize| {
        let found = (at < count).then_some(at);
        at = at.saturating_sub(count);
        found
    };
    if let Some(v) = within(graph.nodes.len()) {
        return Some((graph.nodes.len() > 1).then(|| without_node(g, v)));
    }
    if let Some(v) = within(graph.values.len()) {
        g.values.remove(v);
        return Some(Some(g));
    }
    if let Some(e) = within(graph.edges.len()) {
        g.edges.remove(e);
        return Some(Some(g));
    }
    if let Some(r) = within(graph.resources.len()) {
        let name = g.resources.remove(r).name;
        g.nodes.iter_mut().for_each(|v| v.uses.retain(|u| u.resource != name));
        return Some(Some(g));
    }
    let uses = graph.nodes.iter().map(|v| v.uses.len()).sum();
    if let Some(mut u) = within(uses) {
        for node in &mut g.nodes {
            if u < node.uses.len() {
                node.uses.remove(u);
                break;
            }
            u -= node.uses.len();
        }
        return Some(Some(g));
    }
    let mut numbers = numbers(&mut g);
    let number = numbers.get_mut(at)?;
    let smaller = number.get() / 2;
    let changed = smaller != number.get();
    number.set(smaller);
    Some(changed.then_some(g))
}

/// The loop without an operation, its edges and values; the others move up.
fn without_node(mut g: LoopGraph, v: usize) -> LoopGraph {
    g.nodes.remove(v);
    g.nodes.iter_mut().enumerate().for_each(|(id, node)| node.id = id);
    g.edges.retain(|e| e.src != v && e.dst != v);
    let up = |node: &mut usize| *node -= usize::from(*node > v);
    for e in &mut g.edges {
        up(&mut e.src);
        up(&mut e.dst);
    }
    g.values.retain(|value| value.def != v);
    for value in &mut g.values {
        up(&mut value.def);
        value.uses.retain(|u| u.node != v);
        value.uses.iter_mut().for_each(|u| up(&mut u.node));
    }
    g.values.retain(|value| !value.uses.is_empty());
    g
}

/// A number of the loop that may be halved.
enum Number<'a> {
    Signed(&'a mut i64),
    Unsigned(&'a mut u64),
}

impl Number<'_> {
    fn get(&self) -> i64 {
        match self {
            Self::Signed(n) => **n,
            Self::Unsigned(n) => i64::try_from(**n).unwrap_or(i64::MAX),
        }
    }

    fn set(&mut self, value: i64) {
        match self {
            Self::Signed(n) => **n = value,
            Self::Unsigned(n) => **n = value.unsigned_abs(),
        }
    }
}

fn numbers(g: &mut LoopGraph) -> Vec<Number<'_>> {
    let mut all: Vec<Number<'_>> = Vec::new();
    for node in &mut g.nodes {
        all.push(Number::Signed(&mut node.latency));
        for u in &mut node.uses {
            all.push(Number::Unsigned(&mut u.start));
            all.push(Number::Unsigned(&mut u.duration));
        }
    }
    for e in &mut g.edges {
        all.push(Number::Signed(&mut e.latency));
        all.push(Number::Signed(&mut e.distance));
    }
    for value in &mut g.values {
        all.push(Number::Unsigned(&mut value.bytes));
        all.push(Number::Signed(&mut value.start));
        for u in &mut value.uses {
            all.push(Number::Signed(&mut u.distance));
            all.push(Number::Signed(&mut u.end));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::{LoopShape, Source, loop_graph};

    /// Shrinks as a test runner does: `fails` decides.
    fn shrunk(graph: LoopGraph, fails: impl Fn(&LoopGraph) -> bool) -> LoopGraph {
        let mut tree = LoopTree::new(graph);
        while tree.simplify() {
            if !fails(&tree.current()) {
                tree.complicate();
            }
        }
        tree.current()
    }

    #[test]
    fn what_fails_shrinks_to_the_part_that_fails() {
        let long = |g: &LoopGraph| g.nodes.iter().flat_map(|v| &v.uses).any(|u| u.duration >= 5);
        let mut seen = 0;
        for seed in 0..40 {
            let graph = loop_graph(&mut Source::seed(seed), LoopShape::WIDE);
            if !long(&graph) {
                continue;
            }
            seen += 1;
            let small = shrunk(graph, long);
            assert_eq!((small.nodes.len(), small.edges.len(), small.values.len()), (1, 0, 0), "{small:?}");
            assert_eq!(small.nodes[0].uses.len(), 1);
            assert!((5..10).contains(&small.nodes[0].uses[0].duration), "{small:?}");
        }
        assert!(seen > 10);
    }
}
