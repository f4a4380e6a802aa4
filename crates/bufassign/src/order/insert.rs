//! One more wait in a graph that stays as it is otherwise.
//!
//! A wait makes some nodes precede more than before; all others keep their places. So only what changes is
//! visited, and noted, to be taken back where a merge fails after all.

use super::{NEVER, Order, Queue, STEP, Undo};
use std::cmp::Reverse;

impl Order {
    /// Adds C(from) -> I(to) at distance d, which must be [`insertable`](Order::insertable); gives how many
    /// places changed. It holds until [`Order::take_back`] unless [`Order::keep`] comes first.
    pub fn insert(&mut self, from: usize, to: usize, d: i64) -> u64 {
        let (Some(from), Some(to)) = (self.graph.op(from), self.graph.op(to)) else { return 0 };
        let (x, y, before) = (STEP * from + 1, STEP * to, self.log.len());
        self.graph.edge(x, y, d, None);
        self.log.push(Undo::Edge);
        for partition in 0..self.graph.partitions.len() {
            let mut best = std::mem::take(&mut self.reach[partition]);
            let size = i128::from(self.graph.size(partition));
            let through = best[y].saturating_add(i128::from(d) * size);
            if best[y] != NEVER && through < best[x] {
                let mut log = std::mem::take(&mut self.log);
                log.push(Undo::Reach(partition, x, best[x]));
                best[x] = through;
                let queue = Queue::from([Reverse((self.graph.reduced(partition, x, through), x))]);
                self.spread(partition, &mut best, queue, |x, was| log.push(Undo::Reach(partition, x, was)));
                self.log = log;
            }
            self.reach[partition] = best;
        }
        let mut windows = self.windows.take();
        let mut log = std::mem::take(&mut self.log);
        for (&turns, run) in &mut windows {
            run.insert(&self.graph, (x, y, d), |partition, event, was| {
                log.push(Undo::Event(turns, partition, event, was))
            });
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
                Undo::Edge => {
                    // Runs laid out since know of the edge.
                    windows.retain(|_, run| run.edges < self.graph.edges());
                    self.graph.pop_edge();
                }
                Undo::Reach(partition, node, was) => self.reach[partition][node] = was,
                Undo::Event(turns, partition, event, was) => {
                    if let Some(run) = windows.get_mut(&turns) {
                        run.restore(partition, event, was);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Order, Window};
    use crate::generated::problem;
    use crate::{lifetime, model};
    use warploom_testing::bufassign::Choices;

    /// Runs as long as this are compared.
    const TURNS: [i64; 4] = [1, 2, 3, 4];

    fn same(kept: &Order, anew: &Order) -> bool {
        let run =
            |turns: i64| Window::new(&anew.graph, turns).places() == kept.windows.borrow()[&turns].places();
        kept.reach == anew.reach && TURNS.into_iter().all(run)
    }

    fn lay_out(g: &Order, which: impl FnMut(&i64) -> bool) {
        for turns in TURNS.into_iter().filter(which) {
            let run = Window::new(&g.graph, turns);
            g.windows.borrow_mut().entry(turns).or_insert(run);
        }
    }

    /// After any waits, kept or taken back, the tables are those of the graph built anew.
    #[test]
    fn insertion_agrees_with_a_new_graph() {
        let (mut kept, mut dropped) = (0, 0);
        for seed in 0u64..120 {
            let p = problem(seed);
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
