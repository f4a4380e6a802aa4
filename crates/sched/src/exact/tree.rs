//! Depth-first search with learnt weights and restarts (S33-S35).

use super::contract::Active;
use super::kinds::{pairs, residue_resources};
use super::network::Network;
use super::residue::residues::{Mark, Residues};
use super::span::Span;
use super::steps::StepBudget;
use super::verdict::Verdict;
use super::wrap::{Bound, Pair};
use crate::model::guard::Guard;
use crate::model::problem::Problem;
use crate::model::random::Random;

/// Residues are only enumerated up to this II.
const MOST_RESIDUES: i64 = 1 << 13;
/// Failures before the first restart.
const FIRST_LIMIT: u64 = 60;

pub(crate) struct Tree {
    ii: i64,
    net: Network,
    pairs: Vec<Pair>,
    /// The pairs of each watcher of the network.
    watchers: Vec<Vec<u32>>,
    residues: Option<Residues>,
    weight: Vec<u64>,
    pair_weight: Vec<u64>,
    frames: Vec<Frame>,
    random: Random,
}

struct Frame {
    net: usize,
    residues: Mark,
    decision: Decision,
}

#[derive(Clone, Copy)]
enum Decision {
    Residue { node: u32, residue: i64 },
    Wraps { pair: u32, take: Bound, otherwise: Bound },
}

impl Tree {
    /// `None` when the loop is of a kind that is not searched: units with count above 1 at a very large II.
    pub fn new(problem: &Problem, ii: i64, active: &Active, seed: u64) -> Option<Self> {
        let m = active.nodes.len() + 1;
        let by_residue = residue_resources(problem, ii, active);
        let wanted: Vec<u32> = (1u32..)
            .zip(&active.nodes)
            .filter(|(_, v)| {
                let uses = problem.uses(**v as usize);
                uses.iter().any(|u| by_residue[u.resource as usize])
            })
            .map(|(i, _)| i)
            .collect();
        if !wanted.is_empty() && ii > MOST_RESIDUES {
            return None;
        }
        let pairs = pairs(problem, active, &by_residue).list;
        let residues = (!wanted.is_empty()).then(|| Residues::new(problem, ii, &active.nodes, wanted));
        let mut net = active.network();
        let mut watchers: Vec<Vec<u32>> = Vec::new();
        for (i, pair) in (0u32..).zip(&pairs) {
            let watcher = net.watch(pair.a as usize, pair.b as usize) as usize;
            if watcher == watchers.len() {
                watchers.push(Vec::new());
            }
            watchers[watcher].push(i);
        }
        Some(Tree {
            ii,
            net,
            watchers,
            pair_weight: vec![1; pairs.len()],
            pairs,
            residues,
            weight: vec![1; m],
            frames: Vec::new(),
            random: Random::new(seed),
        })
    }

    /// The times of the active operations, a proof that there are none, or neither, after about so many failures.
    pub fn solve(&mut self, most: u64, budget: &mut StepBudget, guard: &mut Guard) -> Verdict {
        if self.pairs.iter().any(|p| p.first + p.second > self.ii) {
            return Verdict::Refuted;
        }
        let (mut limit, mut failures) = (FIRST_LIMIT, 0);
        for round in 0u64.. {
            match self.dive(limit, round, budget, guard) {
                Some(verdict) => return verdict,
                None => failures += limit,
            }
            limit += limit / 2;
            if let Some(root) = self.frames.first() {
                let (net, residues) = (root.net, root.residues);
                self.undo(net, residues);
                self.frames.clear();
            }
            if failures >= most {
                break;
            }
        }
        Verdict::Undecided
    }

    /// One run; `None` after `limit` failures.
    fn dive(
        &mut self,
        limit: u64,
        round: u64,
        budget: &mut StepBudget,
        guard: &mut Guard,
    ) -> Option<Verdict> {
        let mut failures = 0;
        let mut consistent = self.propagate();
        loop {
            while !consistent {
                failures += 1;
                let Some(frame) = self.frames.pop() else { return Some(Verdict::Refuted) };
                self.undo(frame.net, frame.residues);
                consistent = self.refute(frame.decision) && self.propagate();
                if !consistent {
                    self.net.all_asleep();
                }
            }
            let work = std::mem::take(&mut self.net.work)
                + self.residues.as_mut().map_or(0, |r| std::mem::take(&mut r.work))
                + self.net.m as u64;
            if !budget.take(work) || (budget.nodes.is_multiple_of(64) && guard.expired()) {
                return Some(Verdict::Undecided);
            }
            if failures > limit {
                return None;
            }
            let Some(decision) = self.choose(round) else {
                return Some(Verdict::Found((1..self.net.m).map(|v| self.net.dist(0, v)).collect()));
            };
            let residues = self.residues.as_ref().map_or((0, 0), Residues::mark);
            self.frames.push(Frame { net: self.net.mark(), residues, decision });
            consistent = self.take(decision) && self.propagate();
            if !consistent {
                self.net.all_asleep();
            }
        }
    }

    fn undo(&mut self, net: usize, residues: Mark) {
        self.net.undo(net);
        if let Some(r) = &mut self.residues {
            r.undo(residues);
        }
    }

    fn take(&mut self, decision: Decision) -> bool {
        match decision {
            Decision::Residue { node, residue } => {
                let Some(residues) = &mut self.residues else { return false };
                residues.fix(&mut self.net, node, residue)
            }
            Decision::Wraps { take, .. } => self.net.impose(take.a as usize, take.b as usize, take.least),
        }
    }

    /// The decision led nowhere: its opposite holds, and what it was about weighs more from now on.
    fn refute(&mut self, decision: Decision) -> bool {
        match decision {
            Decision::Residue { node, residue } => {
                self.weight[node as usize] += 1;
                self.net.changed = true;
                self.residues.as_mut().is_some_and(|r| r.remove(node, residue))
            }
            Decision::Wraps { pair, otherwise, .. } => {
                self.pair_weight[pair as usize] += 1;
                self.net.impose(otherwise.a as usize, otherwise.b as usize, otherwise.least)
            }
        }
    }

    fn propagate(&mut self) -> bool {
        let consistent = self.narrow();
        if !consistent {
            self.net.all_asleep();
        }
        consistent
    }

    fn narrow(&mut self) -> bool {
        let span = Span::one(self.ii);
        let mut news = true;
        loop {
            self.net.changed = false;
            while let Some(watcher) = self.net.next_awake() {
                for &i in &self.watchers[watcher as usize] {
                    if !self.pairs[i as usize].tighten(&mut self.net, span) {
                        return false;
                    }
                    self.net.work += 1;
                }
            }
            if let Some(residues) = &mut self.residues {
                let fixed = residues.fixed_nodes.len();
                if !residues.propagate(&mut self.net) {
                    return false;
                }
                news |= fixed != residues.fixed_nodes.len();
                if news && self.pairs.iter().any(|p| clash(p, residues, self.ii)) {
                    return false;
                }
                news = false;
            }
            if !self.net.changed {
                return true;
            }
        }
    }

    fn choose(&mut self, round: u64) -> Option<Decision> {
        self.choose_residue(round).or_else(|| self.choose_wrap(round))
    }

    /// The node with the fewest open residues per failure, its earliest residue.
    fn choose_residue(&mut self, round: u64) -> Option<Decision> {
        let residues = self.residues.as_ref()?;
        let mut best: Option<(u64, u64, u32)> = None;
        for &node in residues.wanted.iter().filter(|&&v| residues.residue(v).is_none()) {
            let (size, weight) = (u64::from(residues.size(node)), self.weight[node as usize]);
            // size / weight < best_size / best_weight, without division
            if best
                .is_none_or(|(s, w, _)| u128::from(size) * u128::from(w) < u128::from(s) * u128::from(weight))
            {
                best = Some((size, weight, node));
            }
        }
        let (_, _, node) = best?;
        let mut residue = residues.earliest(&self.net, node)?;
        if round % 2 == 1 && self.random.below(4) == 0 {
            // Every other restart strays from the earliest now and then.
            residue = residues.any(node, &mut self.random)?;
        }
        Some(Decision::Residue { node, residue })
    }

    /// The undecided pair with the least slack per failure, its wrap with the most room.
    fn choose_wrap(&mut self, round: u64) -> Option<Decision> {
        let mut best: Option<(i64, u64, usize)> = None;
        for (i, pair) in self.pairs.iter().enumerate().filter(|(_, p)| p.branch) {
            if let Some(residues) = &self.residues
                && residues.residue(pair.a).is_some()
                && residues.residue(pair.b).is_some()
            {
                continue;
            }
            let Some(slack) = pair.slack(&self.net, Span::one(self.ii)) else { continue };
            let weight = self.pair_weight[i];
            let less = |(s, w, _): (i64, u64, usize)| {
                i128::from(slack) * i128::from(w) < i128::from(s) * i128::from(weight)
            };
            if best.is_none_or(less) {
                best = Some((slack, weight, i));
            }
        }
        let (_, _, i) = best?;
        let (mut take, mut otherwise) = self.pairs[i].split(&self.net, Span::one(self.ii));
        if round % 2 == 1 && self.random.below(4) == 0 {
            std::mem::swap(&mut take, &mut otherwise);
        }
        Some(Decision::Wraps { pair: i as u32, take, otherwise })
    }
}

/// Whether the fixed residues of a pair overlap on their unit.
fn clash(pair: &Pair, residues: &Residues, ii: i64) -> bool {
    match (residues.residue(pair.a), residues.residue(pair.b)) {
        (Some(a), Some(b)) => pair.clash(a, b, ii),
        _ => false,
    }
}
