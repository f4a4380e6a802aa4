//! Longest paths at a given II (S19) and circuits of positive weight (S16).

use crate::digraph::{Arc, Digraph};
use crate::problem::Problem;
use std::ops::Add;

/// Earliest starts of all operations when none starts before 0: the longest path from a common source.
/// `None` when a circuit is positive, so that no schedule exists at this II.
pub(crate) fn heads(problem: &Problem, ii: i64) -> Option<Vec<i64>> {
    let g = &problem.dependences;
    let mut head = vec![0i64; problem.n];
    for members in g.components_in_order() {
        if let [v] = *members {
            let v = v as usize;
            let h = head[v];
            for a in g.out(v) {
                let reach = h.saturating_add(a.weight(ii));
                let slot = &mut head[a.dst as usize];
                if reach > *slot {
                    if a.dst as usize == v {
                        return None;
                    }
                    *slot = reach;
                }
            }
            continue;
        }
        settle(members, |v| {
            let h = head[v];
            let mut moved = false;
            for a in g.out(v) {
                let reach = h.saturating_add(a.weight(ii));
                let slot = &mut head[a.dst as usize];
                if reach > *slot {
                    *slot = reach;
                    moved |= g.comp[a.dst as usize] == g.comp[v];
                }
            }
            moved
        })?;
    }
    Some(head)
}

/// Longest path from every operation's start to the end of the schedule, its own latency included.
/// `None` when a circuit is positive.
pub(crate) fn tails(problem: &Problem, ii: i64) -> Option<Vec<i64>> {
    let g = &problem.dependences;
    let mut tail = problem.latency.clone();
    for members in g.components_in_order().rev() {
        if let [v] = *members {
            let v = v as usize;
            let longest = g.out(v).iter().filter(|a| a.dst as usize != v);
            let longest = longest.map(|a| tail[a.dst as usize].saturating_add(a.weight(ii))).max();
            tail[v] = tail[v].max(longest.unwrap_or(i64::MIN));
            continue;
        }
        let reversed: Vec<u32> = members.iter().rev().copied().collect();
        settle(&reversed, |v| {
            let longest = g.out(v).iter().map(|a| tail[a.dst as usize].saturating_add(a.weight(ii))).max();
            let longest = longest.unwrap_or(i64::MIN);
            let moved = longest > tail[v];
            if moved {
                tail[v] = longest;
            }
            moved
        })?;
    }
    Some(tail)
}

/// Repeats `relax` over the members until nothing moves; `None` when that does not end: a positive circuit.
fn settle(members: &[u32], mut relax: impl FnMut(usize) -> bool) -> Option<()> {
    for _ in 0..members.len() + 2 {
        let mut moved = false;
        for &v in members {
            moved |= relax(v as usize);
        }
        if !moved {
            return Some(());
        }
    }
    None
}

/// Finds circuits of positive weight inside one component by longest-path relaxation; a loop in the tree of
/// parents is such a circuit.
pub(crate) struct CircuitFinder<T> {
    potential: Vec<T>,
    parent: Vec<u32>,
    mark: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl<T: Copy + Ord + Default + Add<Output = T>> CircuitFinder<T> {
    pub fn new(n: usize) -> Self {
        CircuitFinder { potential: vec![T::default(); n], parent: vec![NONE; n], mark: vec![NONE; n] }
    }

    /// The arcs of a circuit of positive weight through `members`, in order, or `None` if there is none.
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
            if let Some(circuit) = self.parent_loop(g, members) {
                return Some(circuit);
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
                return Some(self.circuit_through(g, v));
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

    fn circuit_through(&self, g: &Digraph, v: u32) -> Vec<Arc> {
        let mut circuit = Vec::new();
        let mut w = v;
        while let Some(&arc) = g.arcs.get(self.parent[w as usize] as usize) {
            circuit.push(arc);
            w = arc.src;
            if w == v {
                break;
            }
        }
        circuit.reverse();
        circuit
    }
}
