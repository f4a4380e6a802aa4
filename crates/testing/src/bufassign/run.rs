//! A run of one loop as a graph of events, with the orders that an answer promises.

use super::choices::Choices;
use std::collections::{BTreeMap, VecDeque};
use warploom_bufassign::{AccessRole, Assignment, BufferValue, Problem, ScheduledOp};

/// A run of one loop as a graph of events, two per instance: issue and completion.
pub(super) struct Run {
    pub turns: u64,
    index: BTreeMap<u64, usize>,
    /// Out-edges of events.
    pub out: Vec<Vec<usize>>,
}

impl Run {
    pub fn new(ops: &[&ScheduledOp], turns: u64) -> Run {
        let index: BTreeMap<u64, usize> = ops.iter().enumerate().map(|(k, o)| (o.id, k)).collect();
        let mut run = Run { turns, out: vec![Vec::new(); 2 * ops.len() * turns as usize], index };
        for o in ops {
            for i in 0..turns {
                run.link((o.id, false, i), (o.id, true, i as i64));
            }
        }
        let mut partitions: BTreeMap<u64, Vec<&ScheduledOp>> = BTreeMap::new();
        ops.iter().for_each(|o| partitions.entry(o.partition).or_default().push(o));
        for own in partitions.values() {
            let mut sequence: Vec<(u64, u64, &ScheduledOp)> = Vec::new();
            for o in own {
                sequence.extend((0..turns).map(|i| (i + o.stage, o.order.unwrap_or(0), *o)));
            }
            sequence.sort_by_key(|&(row, order, o)| (row, order, o.id));
            for w in sequence.windows(2) {
                let ((ra, _, x), (rb, _, y)) = (w[0], w[1]);
                let to = (y.id, false, (rb - y.stage) as i64);
                run.link((x.id, false, ra - x.stage), to);
                if !x.is_async {
                    run.link((x.id, true, ra - x.stage), to);
                }
            }
        }
        run
    }

    pub fn event(&self, op: u64, done: bool, iteration: u64) -> Option<usize> {
        let k = self.index.get(&op)?;
        (iteration < self.turns)
            .then(|| 2 * (k * self.turns as usize + iteration as usize) + usize::from(done))
    }

    pub fn link(&mut self, from: (u64, bool, u64), to: (u64, bool, i64)) {
        let Ok(i) = u64::try_from(to.2) else { return };
        if let (Some(x), Some(y)) = (self.event(from.0, from.1, from.2), self.event(to.0, to.1, i)) {
            self.out[x].push(y);
        }
    }

    /// `from` of every turn i before the issue of `to` in turn i + distance.
    pub fn every(&mut self, from: (u64, bool), to: u64, distance: i64) {
        for i in 0..self.turns {
            self.link((from.0, from.1, i), (to, false, i as i64 + distance));
        }
    }

    /// Times under random delays; `None` if somebody waits for ever.
    pub fn times(&self, c: &mut Choices<'_>) -> Option<Vec<u64>> {
        let n = self.out.len();
        let mut waits = vec![0u32; n];
        self.out.iter().flatten().for_each(|&y| waits[y] += 1);
        let mut ready: VecDeque<usize> = (0..n).filter(|&x| waits[x] == 0).collect();
        let mut at = vec![0u64; n];
        let mut seen = 0;
        while let Some(x) = ready.pop_front() {
            seen += 1;
            // Mostly quick, at times very slow: that is how orders turn around.
            at[x] += if c.below(8) == 0 { 1 + c.below(5000) } else { 1 + c.below(20) };
            for &y in &self.out[x] {
                at[y] = at[y].max(at[x]);
                waits[y] -= 1;
                if waits[y] == 0 {
                    ready.push_back(y);
                }
            }
        }
        (seen == n).then_some(at)
    }
}

/// Uses of a value and of its views: op, distance, role.
pub(super) fn uses<'a>(
    p: &'a Problem,
    v: &'a BufferValue,
) -> impl Iterator<Item = (u64, i64, AccessRole)> + 'a {
    let resolves = |w: &BufferValue| {
        let mut at = w.id;
        for _ in 0..=p.values.len() {
            match p.values.iter().find(|x| x.id == at).and_then(|x| x.view_of) {
                Some(of) => at = of,
                None => break,
            }
        }
        at == v.id
    };
    let all = p.values.iter().filter(move |w| resolves(w));
    all.flat_map(|w| w.consumers.iter().map(|c| (c.op, c.distance, c.role)))
}

/// Turns to the furthest use of a value: so many versions are there before the loop's first write.
pub(super) fn furthest(p: &Problem, v: &BufferValue) -> i64 {
    uses(p, v).map(|(_, distance, _)| distance).max().unwrap_or(0)
}

/// Data and release orders of every value, the caller's edges and the inserted waits.
pub(super) fn handshakes(p: &Problem, a: &Assignment, region: u64, run: &mut Run) {
    for v in p.values.iter().filter(|v| v.view_of.is_none()) {
        let Some(producer) = v.producer else { continue };
        let Some(r) = a.records.iter().find(|r| r.value == v.id && r.region == region) else { continue };
        let in_place: Vec<(u64, i64)> =
            v.consumers.iter().filter(|c| c.in_place).map(|c| (c.op, c.distance)).collect();
        for (op, d, role) in uses(p, v) {
            // Accumulating MMAs hand over inside the unit, in issue order.
            let partition = |op: u64| p.ops.iter().find(|o| o.id == op).map(|o| o.partition);
            let forwarded = in_place.contains(&(op, d))
                && (producer.role, role) == (AccessRole::Tcgen05D, AccessRole::Tcgen05D)
                && partition(op) == partition(producer.op);
            run.every((producer.op, !forwarded), op, d);
            if !in_place.contains(&(op, d)) {
                run.every((op, true), producer.op, r.depth as i64 - d);
            }
        }
    }
    for e in &p.edges {
        run.every((e.src, true), e.dst, e.distance);
    }
    for e in a.merge.iter().flat_map(|m| &m.edges).filter(|e| !e.implied) {
        let (Some(from), Some(to)) = (find(p, e.from), find(p, e.to)) else { continue };
        let Some(producer) = to.producer else { continue };
        for (op, d, _) in uses(p, from) {
            run.every((op, true), producer.op, e.distance - d);
        }
        if let Some(written) = from.producer {
            run.every((written.op, true), producer.op, e.distance);
        }
    }
}

fn find(p: &Problem, id: u64) -> Option<&BufferValue> {
    p.values.iter().find(|v| v.id == id)
}
