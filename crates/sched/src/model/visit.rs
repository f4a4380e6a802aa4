//! The dependences as a graph that `petgraph`'s algorithms walk.
//!
//! None of its own graphs keeps parallel arcs sorted by source in one array, which is what longest paths go through
//! again and again.

use crate::model::digraph::{Arc, Digraph};
use petgraph::Direction;
use petgraph::graph::DiGraph;
use petgraph::visit::{
    GraphBase, IntoNeighbors, IntoNeighborsDirected, IntoNodeIdentifiers, NodeCount, NodeIndexable, VisitMap,
    Visitable,
};
use std::iter::Rev;
use std::ops::Range;
use std::slice;

/// A bit per node.
type Visited = <DiGraph<(), ()> as Visitable>::Map;

/// The other ends of a node's arcs, the last first: a walk with a stack then takes the first one first.
pub(crate) enum Neighbors<'a> {
    Out(Rev<slice::Iter<'a, Arc>>),
    In(&'a [Arc], slice::Iter<'a, u32>),
}

impl Iterator for Neighbors<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        match self {
            Self::Out(arcs) => arcs.next().map(|a| a.dst),
            Self::In(arcs, indices) => indices.next().and_then(|&i| Some(arcs.get(i as usize)?.src)),
        }
    }
}

impl GraphBase for Digraph {
    type NodeId = u32;
    type EdgeId = u32;
}

impl<'a> IntoNeighbors for &'a Digraph {
    type Neighbors = Neighbors<'a>;

    fn neighbors(self, node: u32) -> Neighbors<'a> {
        Neighbors::Out(self.out(node as usize).iter().rev())
    }
}

impl<'a> IntoNeighborsDirected for &'a Digraph {
    type NeighborsDirected = Neighbors<'a>;

    fn neighbors_directed(self, node: u32, direction: Direction) -> Neighbors<'a> {
        match direction {
            Direction::Outgoing => self.neighbors(node),
            Direction::Incoming => Neighbors::In(&self.arcs, self.incoming_indices(node as usize).iter()),
        }
    }
}

impl IntoNodeIdentifiers for &Digraph {
    type NodeIdentifiers = Range<u32>;

    fn node_identifiers(self) -> Range<u32> {
        0..self.n as u32
    }
}

impl NodeCount for Digraph {
    fn node_count(&self) -> usize {
        self.n
    }
}

impl NodeIndexable for Digraph {
    fn node_bound(&self) -> usize {
        self.n
    }

    fn to_index(&self, node: u32) -> usize {
        node as usize
    }

    fn from_index(&self, index: usize) -> u32 {
        index as u32
    }
}

impl Visitable for Digraph {
    type Map = Visited;

    fn visit_map(&self) -> Visited {
        Visited::with_capacity(self.n)
    }

    fn reset_map(&self, map: &mut Visited) {
        map.clear();
        map.grow(self.n);
    }
}

/// Whether each node can be reached from some of these; they themselves can.
pub(crate) fn reachable<G>(graph: G, from: &[u32]) -> impl Fn(u32) -> bool + use<G>
where
    G: IntoNeighbors<NodeId = u32> + Visitable,
{
    let mut walk = petgraph::visit::Dfs::empty(graph);
    for &root in from {
        walk.move_to(root);
        while walk.next(graph).is_some() {}
    }
    move |node| walk.discovered.is_visited(&node)
}
