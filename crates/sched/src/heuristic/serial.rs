//! The serial fallback: one iteration after the other (S26).

use crate::bounds::self_fit::next_self_fit;
use crate::model::int::div_ceil;
use crate::model::problem::Problem;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// List scheduling on unfolded reservations in topological order of the arcs within an iteration, ties by
/// program order, and the least II at which iterations do not overlap. `None` with windows.
pub(crate) fn serial(problem: &Problem) -> Option<(i64, Vec<i64>)> {
    let g = &problem.dependences;
    if g.windows {
        return None;
    }
    let mut waits = vec![0u32; problem.n];
    for a in g.arcs.iter().filter(|a| a.distance <= 0) {
        waits[a.dst as usize] += 1;
    }
    let mut ready: BinaryHeap<Reverse<usize>> =
        (0..problem.n).filter(|&v| waits[v] == 0).map(Reverse).collect();
    let mut time = vec![0i64; problem.n];
    let mut units: Vec<Units> = problem.count.iter().map(|&count| Units::new(count)).collect();
    while let Some(Reverse(v)) = ready.pop() {
        let blocks = blocks(problem, v);
        for b in &blocks {
            let free = units[b.resource].take(b.units);
            time[v] = time[v].max(free - b.start);
        }
        for b in &blocks {
            units[b.resource].give(b.units, time[v] + b.end);
        }
        for a in g.out(v).iter().filter(|a| a.distance <= 0) {
            let d = a.dst as usize;
            time[d] = time[d].max(time[v] + a.latency);
            waits[d] -= 1;
            if waits[d] == 0 {
                ready.push(Reverse(d));
            }
        }
    }
    let least = time.iter().copied().min().unwrap_or(0);
    time.iter_mut().for_each(|t| *t -= least);
    let ii = serial_ii(problem, &time)?;
    Some((ii, time))
}

/// The least II at which every reservation of one iteration ends before that resource's first of the next, all
/// operations are in stage 0, and the carried arcs hold.
fn serial_ii(problem: &Problem, time: &[i64]) -> Option<i64> {
    let mut ii = 1 + time.iter().copied().max().unwrap_or(0);
    let mut span = vec![(i64::MAX, i64::MIN); problem.count.len()];
    for (v, t) in time.iter().enumerate() {
        for u in problem.uses(v) {
            let (first, last) = &mut span[u.resource as usize];
            *first = (*first).min(t + u.start);
            *last = (*last).max(t + u.start + u.duration);
        }
    }
    for (first, last) in span.into_iter().filter(|(first, last)| first < last) {
        ii = ii.max(last - first);
    }
    let late = |a: &crate::model::digraph::Arc| time[a.src as usize] + a.latency - time[a.dst as usize];
    for a in problem.dependences.arcs.iter().filter(|a| a.distance > 0) {
        ii = ii.max(div_ceil(late(a), a.distance));
    }
    let ii = next_self_fit(problem, ii);
    // Arcs of negative distance bound II from above (S55).
    let holds = problem.dependences.arcs.iter().all(|a| late(a) <= ii.saturating_mul(a.distance));
    holds.then_some(ii)
}

/// What an operation takes of one resource: as many units as it has uses, for as long as any of them lasts.
struct Block {
    resource: usize,
    start: i64,
    end: i64,
    units: i64,
}

fn blocks(problem: &Problem, v: usize) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for u in problem.uses(v) {
        let (resource, start, end) = (u.resource as usize, u.start, u.start + u.duration);
        match blocks.iter_mut().find(|b| b.resource == resource) {
            Some(b) => {
                b.start = b.start.min(start);
                b.end = b.end.max(end);
                b.units = (b.units + 1).min(problem.count[resource]);
            }
            None => blocks.push(Block { resource, start, end, units: 1 }),
        }
    }
    blocks
}

/// When the units of one resource are free again.
struct Units {
    unused: i64,
    busy: BinaryHeap<Reverse<i64>>,
}

impl Units {
    fn new(count: i64) -> Self {
        Units { unused: count, busy: BinaryHeap::new() }
    }

    /// Takes units; the cycle from which on all of them are free.
    fn take(&mut self, units: i64) -> i64 {
        let fresh = units.min(self.unused);
        self.unused -= fresh;
        let reused = (fresh..units).filter_map(|_| self.busy.pop());
        reused.map(|r| r.0).max().unwrap_or(i64::MIN / 2)
    }

    fn give(&mut self, units: i64, free_from: i64) {
        self.busy.extend((0..units).map(|_| Reverse(free_from)));
    }
}
