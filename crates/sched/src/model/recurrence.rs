//! Recurrences of positive weight (S16).
//!
//! The relaxation is that of Bellman and Ford, on whole numbers and from all operations at once: `petgraph`'s starts at
//! one node and asks for floating-point weights, in which ratios of latencies are not exact.

use crate::model::digraph::{Arc, Digraph};
use std::ops::Add;

/// Finds recurrences of positive weight inside one component by longest-path relaxation; a loop in the tree of
/// parents is such a recurrence.
pub(crate) struct RecurrenceFinder<T> {
    potential: Vec<T>,
    parent: Vec<u32>,
    mark: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl<T: Copy + Ord + Default + Add<Output = T>> RecurrenceFinder<T> {
    pub fn new(n: usize) -> Self {
        RecurrenceFinder { potential: vec![T::default(); n], parent: vec![NONE; n], mark: vec![NONE; n] }
    }

    /// The arcs of a recurrence of positive weight through `members`, in order, or `None` if there is none.
    pub fn find(&mut self, g: &Digraph, members: &[u32], weight: impl Fn(&Arc) -> T) -> Option<Vec<Arc>> {
        for &v in members {
            self.potential[v as usize] = T::default();
            self.parent[v as usize] = NONE;
        }
        loop {
            let mut moved = false;
            for &v in members {
                let v = v as usize;
                for (i, a) in (g.first_out(v)..).zip(g.out(v)) {
                    let d = a.dst as usize;
                    if g.comp[d] != g.comp[v] {
                        continue;
                    }
                    let reach = self.potential[v] + weight(a);
                    if reach > self.potential[d] {
                        self.potential[d] = reach;
                        self.parent[d] = i;
                        moved = true;
                    }
                }
            }
            if !moved {
                return None;
            }
            if let Some(recurrence) = self.parent_loop(g, members) {
                return Some(recurrence);
            }
        }
    }

    fn parent_loop(&mut self, g: &Digraph, members: &[u32]) -> Option<Vec<Arc>> {
        for &v in members {
            self.mark[v as usize] = NONE;
        }
        for &root in members {
            let mut v = root;
            while self.mark[v as usize] == NONE {
                self.mark[v as usize] = root;
                match self.parent[v as usize] {
                    NONE => break,
                    arc => v = g.arcs[arc as usize].src,
                }
            }
            if self.mark[v as usize] == root && self.parent[v as usize] != NONE && self.closes(g, v) {
                return Some(self.recurrence_through(g, v));
            }
        }
        None
    }

    /// Whether following parents from `v` leads back to `v`.
    fn closes(&self, g: &Digraph, v: u32) -> bool {
        let mut w = v;
        for _ in 0..self.parent.len() {
            match self.parent[w as usize] {
                NONE => return false,
                arc => w = g.arcs[arc as usize].src,
            }
            if w == v {
                return true;
            }
        }
        false
    }

    fn recurrence_through(&self, g: &Digraph, v: u32) -> Vec<Arc> {
        let mut recurrence = Vec::new();
        let mut w = v;
        while let Some(&arc) = g.arcs.get(self.parent[w as usize] as usize) {
            recurrence.push(arc);
            w = arc.src;
            if w == v {
                break;
            }
        }
        recurrence.reverse();
        recurrence
    }
}
