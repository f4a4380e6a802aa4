//! Residues: which cycles of the table are still open to an operation (S33).

mod matching;

use super::network::Network;
use crate::problem::{Problem, UnitUse};
use crate::random::Random;
use matching::{Matching, matchings};

const OPEN: i64 = -1;

/// Open residues per node of the network, fixed ones, and what they hold. Node 0, the origin, has residue 0.
pub(crate) struct Residues {
    ii: i64,
    words: usize,
    /// `words` words of open residues for every node.
    domain: Vec<u64>,
    fixed: Vec<i64>,
    /// Fixed nodes in the order of fixing.
    pub fixed_nodes: Vec<u32>,
    /// Nodes that must be fixed.
    pub wanted: Vec<u32>,
    uses: Vec<Vec<UnitUse>>,
    users: Vec<Vec<(u32, UnitUse)>>,
    count: Vec<i64>,
    load: Vec<Vec<i64>>,
    trail: Vec<Undo>,
    matchings: Vec<Matching>,
    pub work: u64,
}

enum Undo {
    Word { at: u32, old: u64 },
    Fixed { node: u32 },
}

impl Residues {
    /// `nodes` are the operations of nodes 1.. of the network.
    pub fn new(problem: &Problem, ii: i64, nodes: &[u32], wanted: Vec<u32>) -> Self {
        let words = (ii as usize).div_ceil(64);
        let m = nodes.len() + 1;
        let mut full = vec![u64::MAX; words];
        if let (Some(last), rest @ 1..) = (full.last_mut(), ii % 64) {
            *last = (1u64 << rest) - 1;
        }
        let uses: Vec<Vec<UnitUse>> = std::iter::once(Vec::new())
            .chain(nodes.iter().map(|&v| problem.uses(v as usize).to_vec()))
            .collect();
        let mut users = vec![Vec::new(); problem.count.len()];
        for (node, list) in (0u32..).zip(&uses) {
            list.iter().for_each(|u| users[u.resource as usize].push((node, *u)));
        }
        let matchings = matchings(&users, &wanted);
        let load = users.iter().map(|u| vec![0; if u.is_empty() { 0 } else { ii as usize }]).collect();
        let mut fixed = vec![OPEN; m];
        fixed[0] = 0;
        Residues {
            ii,
            words,
            domain: full.repeat(m),
            fixed,
            fixed_nodes: vec![0],
            wanted,
            uses,
            users,
            count: problem.count.clone(),
            load,
            trail: Vec::new(),
            matchings,
            work: 0,
        }
    }

    pub fn residue(&self, node: u32) -> Option<i64> {
        Some(self.fixed[node as usize]).filter(|&r| r != OPEN)
    }

    pub fn mark(&self) -> usize {
        self.trail.len()
    }

    pub fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            match self.trail.pop() {
                Some(Undo::Word { at, old }) => self.domain[at as usize] = old,
                Some(Undo::Fixed { node }) => {
                    self.hold(node as usize, self.fixed[node as usize], -1);
                    self.fixed[node as usize] = OPEN;
                    self.fixed_nodes.pop();
                }
                None => {}
            }
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
        self.row(node as usize).iter().map(|w| w.count_ones()).sum()
    }

    fn row(&self, node: usize) -> &[u64] {
        &self.domain[node * self.words..(node + 1) * self.words]
    }

    fn is_open(&self, node: usize, residue: i64) -> bool {
        self.domain[node * self.words + residue as usize / 64] >> (residue % 64) & 1 == 1
    }

    fn write(&mut self, at: usize, new: u64) {
        let old = self.domain[at];
        if old != new {
            self.trail.push(Undo::Word { at: at as u32, old });
            self.domain[at] = new;
        }
    }

    /// Takes one residue away; false when none is left.
    pub fn remove(&mut self, node: u32, residue: i64) -> bool {
        let at = node as usize * self.words + residue as usize / 64;
        self.write(at, self.domain[at] & !(1 << (residue % 64)));
        self.size(node) > 0
    }

    /// Takes `len` residues from `from` on away.
    fn remove_arc(&mut self, node: usize, from: i64, len: i64) {
        let from = from.rem_euclid(self.ii);
        let len = len.min(self.ii);
        self.remove_stretch(node, from, (from + len).min(self.ii));
        if from + len > self.ii {
            self.remove_stretch(node, 0, from + len - self.ii);
        }
    }

    fn remove_stretch(&mut self, node: usize, from: i64, to: i64) {
        let mut at = from;
        while at < to {
            let word = at / 64;
            let last = to.min((word + 1) * 64);
            let (low, width) = (at % 64, last - at);
            let mask = if width == 64 { u64::MAX } else { ((1u64 << width) - 1) << low };
            let slot = node * self.words + word as usize;
            self.write(slot, self.domain[slot] & !mask);
            at = last;
        }
    }

    /// The first open residue at or after `from`, as a distance from it.
    fn next_open(&self, node: usize, from: i64) -> Option<i64> {
        (0..self.ii).find(|&d| self.is_open(node, (from + d).rem_euclid(self.ii)))
    }

    fn previous_open(&self, node: usize, from: i64) -> Option<i64> {
        (0..self.ii).find(|&d| self.is_open(node, (from - d).rem_euclid(self.ii)))
    }

    /// The earliest open residue of a node.
    pub fn earliest(&self, net: &Network, node: u32) -> Option<i64> {
        let low = net.dist(0, node as usize);
        Some((low + self.next_open(node as usize, low)?).rem_euclid(self.ii))
    }

    /// Any open residue of a node.
    pub fn any(&self, node: u32, random: &mut Random) -> Option<i64> {
        let from = random.below(self.ii as u64) as i64;
        Some((from + self.next_open(node as usize, from)?).rem_euclid(self.ii))
    }

    /// Fixes a residue: distances to fixed nodes become congruent, full cells close for the others.
    pub fn fix(&mut self, net: &mut Network, node: u32, residue: i64) -> bool {
        let n = node as usize;
        if !self.is_open(n, residue) {
            return false;
        }
        self.fixed[n] = residue;
        self.fixed_nodes.push(node);
        self.trail.push(Undo::Fixed { node });
        self.hold(n, residue, 1);
        net.changed = true;
        for &f in &self.fixed_nodes {
            let gap = residue - self.fixed[f as usize];
            if f != node && !round_pair(net, f as usize, n, gap, self.ii) {
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
            if self.fixed[node] == OPEN {
                self.remove_arc(node, start - u.start - part + 1, len + part - 1);
                self.work += 2;
            }
        }
        self.users[r] = users;
    }

    /// Narrows domains by the network and the network by domains; false on contradiction.
    pub fn propagate(&mut self, net: &mut Network) -> bool {
        self.work += (self.fixed_nodes.len() * self.wanted.len()) as u64;
        for i in 1..self.fixed_nodes.len() {
            for j in 0..i {
                let (f, g) = (self.fixed_nodes[i] as usize, self.fixed_nodes[j] as usize);
                if !round_pair(net, f, g, self.fixed[g] - self.fixed[f], self.ii) {
                    return false;
                }
            }
        }
        for i in 0..self.wanted.len() {
            let node = self.wanted[i];
            if self.fixed[node as usize] == OPEN && !self.narrow(net, node) {
                return false;
            }
        }
        net.changed || self.matchings_hold()
    }

    fn narrow(&mut self, net: &mut Network, node: u32) -> bool {
        let n = node as usize;
        for i in 0..self.fixed_nodes.len() {
            let f = self.fixed_nodes[i] as usize;
            let (low, high) = (net.dist(f, n), -net.dist(n, f));
            if high - low < self.ii - 1 {
                // The arc of residues that the window leaves; all others go.
                self.remove_arc(n, self.fixed[f] + high + 1, self.ii - 1 - (high - low));
            }
        }
        let (low, high) = (net.dist(0, n), -net.dist(n, 0));
        let (Some(up), Some(down)) = (self.next_open(n, low), self.previous_open(n, high)) else {
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

/// Rounds the distances between two fixed nodes up to the next congruent ones; `gap` is `r_b - r_a`.
fn round_pair(net: &mut Network, a: usize, b: usize, gap: i64, ii: i64) -> bool {
    let up = net.dist(a, b);
    let back = net.dist(b, a);
    net.impose(a, b, up + (gap - up).rem_euclid(ii)) && net.impose(b, a, back + (-gap - back).rem_euclid(ii))
}
