//! Residues: which cycles of the table are still open to an operation (S33).

use super::domains::Domains;
use super::matching::{Matching, matchings};
use crate::exact::network::Network;
use crate::model::problem::{Problem, UnitUse};
use crate::model::random::Random;

/// Open residues per node of the network, fixed ones, and what they hold. Node 0, the origin, has residue 0.
pub(crate) struct Residues {
    ii: i64,
    domains: Domains,
    /// Fixed nodes in the order of fixing.
    pub fixed_nodes: Vec<u32>,
    /// Nodes that must be fixed.
    pub wanted: Vec<u32>,
    uses: Vec<Vec<UnitUse>>,
    users: Vec<Vec<(u32, UnitUse)>>,
    count: Vec<i64>,
    load: Vec<Vec<i64>>,
    matchings: Vec<Matching>,
    pub work: u64,
}

/// A point to return to: what was closed, and what was fixed.
pub(crate) type Mark = (usize, usize);

impl Residues {
    /// `nodes` are the operations of nodes 1.. of the network.
    pub fn new(problem: &Problem, ii: i64, nodes: &[u32], wanted: Vec<u32>) -> Self {
        let uses: Vec<Vec<UnitUse>> = std::iter::once(Vec::new())
            .chain(nodes.iter().map(|&v| problem.uses(v as usize).to_vec()))
            .collect();
        let mut users = vec![Vec::new(); problem.count.len()];
        for (node, list) in (0u32..).zip(&uses) {
            list.iter().for_each(|u| users[u.resource as usize].push((node, *u)));
        }
        let matchings = matchings(&users, &wanted);
        let load = users.iter().map(|u| vec![0; if u.is_empty() { 0 } else { ii as usize }]).collect();
        Residues {
            ii,
            domains: Domains::new(nodes.len() + 1, ii),
            fixed_nodes: vec![0],
            wanted,
            uses,
            users,
            count: problem.count.clone(),
            load,
            matchings,
            work: 0,
        }
    }

    pub fn residue(&self, node: u32) -> Option<i64> {
        self.domains.residue(node as usize)
    }

    pub fn mark(&self) -> Mark {
        (self.domains.mark(), self.fixed_nodes.len())
    }

    pub fn undo(&mut self, (closed, fixed): Mark) {
        self.domains.undo(closed);
        while self.fixed_nodes.len() > fixed {
            let Some(node) = self.fixed_nodes.pop() else { break };
            if let Some(residue) = self.domains.residue(node as usize) {
                self.hold(node as usize, residue, -1);
            }
            self.domains.let_go(node as usize);
        }
    }

    fn hold(&mut self, node: usize, residue: i64, step: i64) {
        for u in &self.uses[node] {
            let load = &mut self.load[u.resource as usize];
            if u.duration >= self.ii {
                load.iter_mut().for_each(|l| *l += step * (u.duration / self.ii));
            }
            let from = residue + u.start;
            for cell in from..from + u.duration % self.ii {
                load[cell.rem_euclid(self.ii) as usize] += step;
            }
        }
    }

    /// Number of open residues.
    pub fn size(&self, node: u32) -> u32 {
        self.domains.size(node as usize)
    }

    /// Takes one residue away; false when none is left.
    pub fn remove(&mut self, node: u32, residue: i64) -> bool {
        self.domains.close(node as usize, residue, residue + 1);
        self.size(node) > 0
    }

    /// Takes `len` residues from `from` on away.
    fn remove_arc(&mut self, node: usize, from: i64, len: i64) {
        let from = from.rem_euclid(self.ii);
        let len = len.min(self.ii);
        self.domains.close(node, from, (from + len).min(self.ii));
        if from + len > self.ii {
            self.domains.close(node, 0, from + len - self.ii);
        }
    }

    /// The earliest open residue of a node.
    pub fn earliest(&self, net: &Network, node: u32) -> Option<i64> {
        let low = net.dist(0, node as usize);
        Some((low + self.domains.next_open(node as usize, low)?).rem_euclid(self.ii))
    }

    /// Any open residue of a node.
    pub fn any(&self, node: u32, random: &mut Random) -> Option<i64> {
        let from = random.below(self.ii as u64) as i64;
        Some((from + self.domains.next_open(node as usize, from)?).rem_euclid(self.ii))
    }

    /// Fixes a residue: distances to fixed nodes become congruent, full cells close for the others.
    pub fn fix(&mut self, net: &mut Network, node: u32, residue: i64) -> bool {
        let n = node as usize;
        if !self.domains.is_open(n, residue) {
            return false;
        }
        self.domains.fix(n, residue);
        self.fixed_nodes.push(node);
        self.hold(n, residue, 1);
        net.changed = true;
        for &f in &self.fixed_nodes {
            let apart = residue - self.domains.residue(f as usize).unwrap_or(0);
            if f != node && !round_pair(net, f as usize, n, apart, self.ii) {
                return false;
            }
        }
        let uses = std::mem::take(&mut self.uses[n]);
        let fits = uses.iter().all(|u| self.close_full(u, residue));
        self.uses[n] = uses;
        fits
    }

    /// Closes the cells that a new hold has filled; false when they are overfull.
    fn close_full(&mut self, u: &UnitUse, residue: i64) -> bool {
        let r = u.resource as usize;
        let (count, ii) = (self.count[r], self.ii);
        let (from, len) = if u.duration >= ii { (0, ii) } else { (residue + u.start, u.duration) };
        let mut run: Option<i64> = None;
        for cell in from..=from + len {
            let load = if cell == from + len { i64::MIN } else { self.load[r][cell.rem_euclid(ii) as usize] };
            if load > count {
                return false;
            }
            match (load == count, run) {
                (true, None) => run = Some(cell),
                (false, Some(start)) => {
                    self.close_run(r, start, cell - start);
                    run = None;
                }
                _ => {}
            }
        }
        true
    }

    fn close_run(&mut self, r: usize, start: i64, len: i64) {
        let users = std::mem::take(&mut self.users[r]);
        for (node, u) in &users {
            let node = *node as usize;
            let part = u.duration.min(self.ii);
            if !self.domains.is_fixed(node) {
                self.remove_arc(node, start - u.start - part + 1, len + part - 1);
                self.work += 2;
            }
        }
        self.users[r] = users;
    }

    /// Whether the open operations of every resource of one-cycle uses find free cells.
    fn matchings_hold(&mut self) -> bool {
        let (domains, load, count) = (&self.domains, &self.load, &self.count);
        let work = &mut self.work;
        self.matchings.iter_mut().all(|matching| {
            let r = matching.resource;
            let (holds, spent) = matching.repair(domains, &load[r], count[r]);
            *work += spent;
            holds
        })
    }

    /// Narrows domains by the network and the network by domains; false on contradiction.
    pub fn propagate(&mut self, net: &mut Network) -> bool {
        self.work += (self.fixed_nodes.len() * self.wanted.len()) as u64;
        let at = |node: usize| self.domains.residue(node).unwrap_or(0);
        for i in 1..self.fixed_nodes.len() {
            for j in 0..i {
                let (f, g) = (self.fixed_nodes[i] as usize, self.fixed_nodes[j] as usize);
                if !round_pair(net, f, g, at(g) - at(f), self.ii) {
                    return false;
                }
            }
        }
        for i in 0..self.wanted.len() {
            let node = self.wanted[i];
            if !self.domains.is_fixed(node as usize) && !self.narrow(net, node) {
                return false;
            }
        }
        net.changed || self.matchings_hold()
    }

    fn narrow(&mut self, net: &mut Network, node: u32) -> bool {
        let n = node as usize;
        for i in 0..self.fixed_nodes.len() {
            let f = self.fixed_nodes[i] as usize;
            let residue = self.domains.residue(f).unwrap_or(0);
            let (low, high) = (net.dist(f, n), -net.dist(n, f));
            if high - low < self.ii - 1 {
                // The arc of residues that the window leaves; all others go.
                self.remove_arc(n, residue + high + 1, self.ii - 1 - (high - low));
            }
        }
        let (low, high) = (net.dist(0, n), -net.dist(n, 0));
        let (Some(up), Some(down)) = (self.domains.next_open(n, low), self.domains.previous_open(n, high))
        else {
            return false;
        };
        if !net.impose(0, n, low + up) || !net.impose(n, 0, down - high) {
            return false;
        }
        if self.size(node) == 1 {
            return self.fix(net, node, (low + up).rem_euclid(self.ii));
        }
        true
    }
}

/// Rounds the distances between two fixed nodes up to the next congruent ones; `apart` is `r_b - r_a`.
fn round_pair(net: &mut Network, a: usize, b: usize, apart: i64, ii: i64) -> bool {
    let up = net.dist(a, b);
    let back = net.dist(b, a);
    net.impose(a, b, up + (apart - up).rem_euclid(ii))
        && net.impose(b, a, back + (-apart - back).rem_euclid(ii))
}
