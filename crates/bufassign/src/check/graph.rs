//! The order graph, by plain relaxation (B24..B26).

use super::facts::Facts;
use crate::output::{Assignment, Handshake};
use std::collections::{BTreeMap, VecDeque};

/// Issue and completion nodes of one region's ops, and every edge with its distance.
pub(super) struct Graph {
    index: BTreeMap<u64, usize>,
    edges: Vec<Vec<(usize, i128)>>,
    rows: std::cell::RefCell<BTreeMap<usize, Vec<Option<i128>>>>,
}

impl Graph {
    /// The graph at the depths of the records, with the listed edges that are not implied;
    /// `without` leaves out the release edges of one life.
    pub fn new(f: &Facts<'_>, a: &Assignment, region: usize, without: Option<usize>) -> Graph {
        let here: Vec<u64> = f.at.iter().filter(|(_, at)| at.region == region).map(|(&o, _)| o).collect();
        let index: BTreeMap<u64, usize> = here.iter().enumerate().map(|(k, &o)| (o, k)).collect();
        let mut g = Graph { edges: vec![Vec::new(); 2 * here.len()], index, rows: Default::default() };
        g.program_order(f, region);
        for (k, life) in f.lives.iter().enumerate().filter(|(_, l)| l.region == region) {
            let depth = depth_of(f, a, k);
            for u in &life.uses {
                let owner = f.owner.get(&u.value).map_or(u.value, |o| o.0);
                if let Some(p) = f.values.get(&owner).and_then(|v| v.producer) {
                    let forwarded = u.in_place && accumulates(f, p.op, owner, u.op);
                    g.edge(p.op, !forwarded, u.op, u.distance);
                }
                let carries = u.in_place && u.distance == 1;
                if let (Some(p), false, false) = (life.producer, carries, without == Some(k)) {
                    g.edge(u.op, true, p, depth - u.distance);
                }
            }
        }
        for e in &f.problem.edges {
            g.edge(e.src, true, e.dst, e.distance.into());
        }
        for e in a.merge.iter().flat_map(|m| &m.edges).filter(|e| !e.implied) {
            for (x, y, d) in waits(f, e.from, e.to, e.distance.into()) {
                g.edge(x, true, y, d);
            }
        }
        g
    }

    fn program_order(&mut self, f: &Facts<'_>, region: usize) {
        let mut agents: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
        for &o in self.index.keys() {
            agents.entry(f.ops[&o].agent).or_default().push((f.at[&o].order, o));
        }
        for o in self.index.keys().copied().collect::<Vec<_>>() {
            let x = self.index[&o];
            self.edges[2 * x].push((2 * x + 1, 0));
        }
        for ops in agents.values_mut() {
            ops.sort_unstable();
            let successor = |k: usize| match ops.get(k + 1) {
                Some(&(_, y)) => Some((y, 0)),
                None => f.ii(region).map(|_| (ops[0].1, 1)),
            };
            for (k, &(_, x)) in ops.iter().enumerate() {
                let Some((y, turn)) = successor(k) else { continue };
                let d = f.at[&x].stage - f.at[&y].stage + turn;
                self.edge(x, false, y, d);
                if !f.ops[&x].is_async {
                    self.edge(x, true, y, d);
                }
            }
        }
    }

    fn edge(&mut self, from: u64, completed: bool, to: u64, d: i128) {
        if let (Some(&x), Some(&y)) = (self.index.get(&from), self.index.get(&to)) {
            self.edges[2 * x + usize::from(completed)].push((2 * y, d));
        }
    }

    /// Every cycle has a total distance of at least 1 (B25): with each distance scaled by more
    /// than the length of any cycle, less one per edge, none is negative.
    pub fn is_sound(&self) -> bool {
        let n = self.edges.len();
        let scale = n as i128 + 1;
        let mut best = vec![0i128; n];
        for _ in 0..=n {
            let mut changed = false;
            for x in 0..n {
                for &(y, d) in &self.edges[x] {
                    let through = best[x] + d * scale - 1;
                    if through < best[y] {
                        best[y] = through;
                        changed = true;
                    }
                }
            }
            if !changed {
                return true;
            }
        }
        n == 0
    }

    /// Whether the completion of `from` in iteration i precedes the issue of `to` in i + d. The
    /// graph must be sound.
    pub fn implied(&self, from: u64, to: u64, d: i128) -> bool {
        let (Some(&x), Some(&y)) = (self.index.get(&from), self.index.get(&to)) else { return false };
        let source = 2 * x + 1;
        if !self.rows.borrow().contains_key(&source) {
            let row = self.distances(source);
            self.rows.borrow_mut().insert(source, row);
        }
        self.rows.borrow()[&source][2 * y].is_some_and(|least| least <= d)
    }

    fn distances(&self, source: usize) -> Vec<Option<i128>> {
        let mut best = vec![None; self.edges.len()];
        best[source] = Some(0);
        let mut queue = VecDeque::from([source]);
        let mut queued = vec![false; self.edges.len()];
        while let Some(x) = queue.pop_front() {
            queued[x] = false;
            let Some(at) = best[x] else { continue };
            for &(y, d) in &self.edges[x] {
                if best[y].is_none_or(|b| at + d < b) {
                    best[y] = Some(at + d);
                    if !queued[y] {
                        queued[y] = true;
                        queue.push_back(y);
                    }
                }
            }
        }
        best
    }
}

/// An accumulator that the tensor core of one agent updates in place: the hardware keeps order.
fn accumulates(f: &Facts<'_>, p: u64, owner: u64, u: u64) -> bool {
    use crate::input::Role::Tcgen05D;
    let written = f.values.get(&owner).and_then(|v| v.producer).is_some_and(|x| x.role == Tcgen05D);
    let read =
        f.family(owner).flat_map(|v| &v.consumers).any(|c| c.op == u && c.in_place && c.role == Tcgen05D);
    let agent = |o: u64| f.ops.get(&o).map(|o| o.agent);
    written && read && agent(p) == agent(u)
}

/// Depth that a life's record claims.
pub(super) fn depth_of(f: &Facts<'_>, a: &Assignment, life: usize) -> i128 {
    f.lives[life].members.first().and_then(|v| a.record(*v)).map_or(1, |r| r.depth.into())
}

/// Completions and issues that handing storage over from one value's life to another's takes.
pub(super) fn waits(f: &Facts<'_>, from: u64, to: u64, d: i128) -> Vec<(u64, u64, i128)> {
    let (Some(u), Some(v)) = (f.life_of.get(&from), f.life_of.get(&to)) else { return Vec::new() };
    let (u, v) = (&f.lives[*u], &f.lives[*v]);
    let Some(p) = v.producer else { return Vec::new() };
    if u.region != v.region {
        return u.far.iter().filter(|x| x.0 == v.region).map(|x| (x.1, p, d)).collect();
    }
    if u.uses.is_empty() {
        return u.producer.into_iter().map(|x| (x, p, d)).collect();
    }
    u.uses.iter().map(|x| (x.op, p, d - x.distance)).collect()
}

/// Whether program order may guard the later value's bytes (B26).
pub(super) fn acquires(f: &Facts<'_>, a: &Assignment, from: u64, to: u64) -> bool {
    let (Some(u), Some(v)) = (f.life_of.get(&from), f.life_of.get(&to)) else { return false };
    let (u, v) = (&f.lives[*u], &f.lives[*v]);
    let one_warp = v.producer.and_then(|p| f.ops.get(&p)).and_then(|o| f.warps.get(&o.agent)) == Some(&1);
    let barrier = a
        .record(to)
        .is_some_and(|r| matches!(r.handshake, Handshake::Named | Handshake::Full | Handshake::Pair));
    one_warp || barrier || (u.warp_local && v.warp_local)
}
