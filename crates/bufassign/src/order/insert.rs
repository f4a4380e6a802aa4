//! One more wait in a graph that stays as it is otherwise.
//!
//! A wait makes some nodes precede more than before; all others keep their places. So only what changes is
//! visited, and noted, to be taken back where a merge fails after all.

use super::{Order, Queue};
use std::cmp::Reverse;

/// A change to take back.
#[derive(Clone)]
pub(super) enum Undo {
    /// An edge was added: from, to.
    Edge(usize, usize),
    /// An agent, a node and the place it had.
    Reach(usize, usize, i128),
    /// Turns of a run, an agent, an event and the place it had.
    Event(i64, usize, usize, i64),
}

impl Order {
    /// Adds C(from) -> I(to) at distance d, which must be [`insertable`](Order::insertable); gives how many
    /// places changed. It holds until [`Order::take_back`] unless [`Order::keep`] comes first.
    pub fn insert(&mut self, from: usize, to: usize, d: i64) -> u64 {
        let (Some(&from), Some(&to)) = (self.local.get(&from), self.local.get(&to)) else { return 0 };
        let (x, y, before) = (2 * from + 1, 2 * to, self.log.len());
        self.edge(x, y, d, None);
        self.log.push(Undo::Edge(x, y));
        for agent in 0..self.agents.len() {
            let mut best = std::mem::take(&mut self.reach[agent]);
            let size = self.agents[agent].len() as i128;
            let through = best[y].saturating_add(i128::from(d) * size);
            if best[y] != super::NEVER && through < best[x] {
                let mut log = std::mem::take(&mut self.log);
                log.push(Undo::Reach(agent, x, best[x]));
                best[x] = through;
                let queue = Queue::from([Reverse((self.reduced(agent, x, through), x))]);
                self.spread(agent, &mut best, queue, |x, was| log.push(Undo::Reach(agent, x, was)));
                self.log = log;
            }
            self.reach[agent] = best;
        }
        let mut windows = self.windows.take();
        let mut log = std::mem::take(&mut self.log);
        for (&turns, run) in &mut windows {
            run.insert(self, (x, y, d), |agent, event, was| log.push(Undo::Event(turns, agent, event, was)));
        }
        self.log = log;
        self.windows.replace(windows);
        (self.log.len() - before) as u64
    }

    /// Waits inserted so far are there to stay.
    pub fn keep(&mut self) {
        self.log.clear();
    }

    /// Takes back what was inserted since the last [`Order::keep`].
    pub fn take_back(&mut self) {
        let windows = self.windows.get_mut();
        while let Some(change) = self.log.pop() {
            match change {
                Undo::Edge(x, y) => {
                    self.out[x].pop();
                    self.into[y].pop();
                    // Runs laid out since know of the edge.
                    windows.retain(|_, run| run.edges < self.edges);
                    self.edges -= 1;
                }
                Undo::Reach(agent, node, was) => self.reach[agent][node] = was,
                Undo::Event(turns, agent, event, was) => {
                    if let Some(run) = windows.get_mut(&turns) {
                        run.restore(agent, event, was);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Order, Window};
    use crate::fuzzing::{Choices, problem};
    use crate::{lifetime, model};

    /// Runs as long as this are compared.
    const TURNS: [i64; 4] = [1, 2, 3, 4];

    fn same(kept: &Order, anew: &Order) -> bool {
        let run = |turns: i64| Window::new(anew, turns).places() == kept.windows.borrow()[&turns].places();
        kept.reach == anew.reach && TURNS.into_iter().all(run)
    }

    fn lay_out(g: &Order, which: impl FnMut(&i64) -> bool) {
        for turns in TURNS.into_iter().filter(which) {
            let run = Window::new(g, turns);
            g.windows.borrow_mut().entry(turns).or_insert(run);
        }
    }

    /// After any waits, kept or taken back, the tables are those of the graph built anew.
    #[test]
    fn insertion_agrees_with_a_new_graph() {
        let (mut kept, mut dropped) = (0, 0);
        for seed in 0u64..120 {
            let p = problem(&mut Choices::seeded(seed));
            let Ok(m) = model::build(&p, &p.options) else { continue };
            let Ok(life) = lifetime::resolve(&m) else { continue };
            let mut c = Choices::seeded(seed);
            for region in 0..m.regions.len() {
                let depth = |k: usize| life.units[k].depth;
                let build = |extra: &[_]| Order::build(&m, &life, region, &depth, extra);
                let Ok(mut g) = build(&[]) else { continue };
                let ops = &m.regions[region].ops;
                let mut extra = Vec::new();
                for _ in 0..12 {
                    // Some runs are laid out before the wait, all after it.
                    lay_out(&g, |_| c.below(2) == 0);
                    let mut op = || ops[c.below(ops.len() as u64) as usize];
                    let (x, y) = (op(), op());
                    // A line has one turn.
                    let d = if m.regions[region].is_loop { c.below(4).cast_signed() - 1 } else { 0 };
                    if !g.insertable(x, y, d) {
                        assert!(build(&[&extra[..], &[(x, y, d)]].concat()).is_err(), "seed {seed}");
                        continue;
                    }
                    g.insert(x, y, d);
                    lay_out(&g, |_| true);
                    let with = [&extra[..], &[(x, y, d)]].concat();
                    assert!(build(&with).is_ok_and(|anew| same(&g, &anew)), "seed {seed}");
                    if c.below(3) == 0 {
                        g.take_back();
                        dropped += 1;
                    } else {
                        g.keep();
                        extra = with;
                        kept += 1;
                    }
                    lay_out(&g, |_| true);
                    assert!(build(&extra).is_ok_and(|anew| same(&g, &anew)), "seed {seed}");
                }
            }
        }
        assert!(kept > 100 && dropped > 50, "{kept} {dropped}");
    }
}
