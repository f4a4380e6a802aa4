//! Runs of loops in loops (B79): every interleaving that the promised orders allow, at random trip counts.
//!
//! A run lists the instances of all ops of a nest in each partition's program, each by the iterations of the loops around
//! it. Beside them stand two marks for every turn of a region in a loop's body and each partition with ops in it: it
//! comes to the region, it has left it. A value of an outer loop that is written or read in there is acquired at the
//! first mark and released behind the second, whether or not the region has an iteration in that turn.

use super::choices::Choices;
use super::storage::cells;
use super::timings::Reach;
use std::collections::{BTreeMap, BTreeSet};
use warploom_bufassign::{AccessRole, Assignment, BufferValue, Problem, Record, RegionKind, ScheduledOp};

/// Iterations of the loops around an instance, outermost first.
type At = Vec<u64>;

/// Where a partition stands in its program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Step {
    Op(u64, At),
    /// Comes to a region of a loop's body (partition, region).
    Enter(u64, u64, At),
    /// Has left it.
    Leave(u64, u64, At),
}

/// A run of one nest.
struct Nest<'a> {
    p: &'a Problem,
    parent: BTreeMap<u64, u64>,
    trips: BTreeMap<(u64, At), u64>,
    most: u64,
    /// The first of the two nodes of each step: issue and completion.
    node: BTreeMap<Step, usize>,
    /// Iterations of each region in the order of the program; a line has one in each iteration around it.
    turns: BTreeMap<u64, Vec<At>>,
    program: BTreeMap<u64, Vec<Step>>,
    out: Vec<Vec<usize>>,
}

/// Most events of a run.
const MOST: usize = 3000;

/// In no interleaving that keeps the promised orders do two versions own one cell, and nobody waits for ever, in every
/// nest of the problem with 0 to 7 turns of its outermost loop and random trip counts inside.
///
/// # Errors
/// The first two versions that nothing orders.
pub fn nested(p: &Problem, a: &Assignment, c: &mut Choices<'_>) -> Result<(), String> {
    for top in p.regions.iter().filter(|r| r.inside.is_none() && r.kind == RegionKind::Loop) {
        for turns in 0..8 {
            let mut nest = Nest {
                p,
                parent: p.regions.iter().filter_map(|r| Some((r.id, r.inside?.region))).collect(),
                trips: BTreeMap::new(),
                most: turns,
                node: BTreeMap::new(),
                turns: BTreeMap::new(),
                program: BTreeMap::new(),
                out: Vec::new(),
            };
            nest.emit(top.id, &Vec::new(), c);
            if 2 * nest.program.values().map(Vec::len).sum::<usize>() > MOST {
                break;
            }
            nest.orders(a);
            nest.judge(a).map_err(|e| format!("nest of region {}, {turns} turns: {e}", top.id))?;
        }
    }
    Ok(())
}

impl<'a> Nest<'a> {
    fn op(&self, id: u64) -> Option<&'a ScheduledOp> {
        self.p.ops.iter().find(|o| o.id == id)
    }

    /// Lists what a region does, for the iterations around it.
    fn emit(&mut self, region: u64, around: &At, c: &mut Choices<'_>) {
        let Some(r) = self.p.regions.iter().find(|r| r.id == region) else { return };
        let mut items: Vec<(u64, u64, Result<u64, u64>)> = Vec::new();
        for o in self.p.ops.iter().filter(|o| o.region == Some(region)) {
            items.push((o.order.unwrap_or(0), o.stage, Ok(o.id)));
        }
        for x in &self.p.regions {
            if let Some(i) = x.inside.filter(|i| i.region == region) {
                items.push((i.order, i.stage, Err(x.id)));
            }
        }
        items.sort_unstable();
        let is_loop = r.kind == RegionKind::Loop;
        let count = match () {
            () if !is_loop => 1,
            () if r.inside.is_none() => self.most,
            () => c.below(4),
        };
        self.trips.insert((region, around.clone()), count);
        let last = items.iter().map(|i| i.1).max().unwrap_or(0);
        for turn in 0..count {
            let mut at = around.clone();
            if is_loop {
                at.push(turn);
            }
            self.turns.entry(region).or_default().push(at);
        }
        for row in 0..count + last {
            for &(_, stage, item) in &items {
                let Some(turn) = row.checked_sub(stage).filter(|t| *t < count) else { continue };
                let mut at = around.clone();
                if is_loop {
                    at.push(turn);
                }
                match item {
                    Ok(op) => {
                        let partition = self.op(op).map_or(0, |o| o.partition);
                        self.program.entry(partition).or_default().push(Step::Op(op, at));
                    }
                    Err(body) => {
                        let there = self.partitions(body);
                        for &q in &there {
                            self.program.entry(q).or_default().push(Step::Enter(q, body, at.clone()));
                        }
                        self.emit(body, &at, c);
                        for &q in &there {
                            self.program.entry(q).or_default().push(Step::Leave(q, body, at.clone()));
                        }
                    }
                }
            }
        }
    }

    /// Partitions with ops in a region or deeper.
    fn partitions(&self, region: u64) -> BTreeSet<u64> {
        let within = |o: &&ScheduledOp| o.region.is_some_and(|r| self.body(r, Some(region)).is_some());
        self.p.ops.iter().filter(within).map(|o| o.partition).collect()
    }

    /// The region on the way from `home` down to `region`: `region` itself if that is the home. `None` if it is not in it.
    fn body(&self, region: u64, home: Option<u64>) -> Option<u64> {
        let mut at = region;
        let mut below = region;
        while Some(at) != home {
            below = at;
            at = *self.parent.get(&at)?;
        }
        Some(below)
    }

    fn link(&mut self, from: (&Step, bool), to: &Step) {
        if let (Some(&x), Some(&y)) = (self.node.get(from.0), self.node.get(to)) {
            self.out[x + usize::from(from.1)].push(y);
        }
    }

    /// Program order, handshakes, the caller's edges and the inserted waits.
    fn orders(&mut self, a: &Assignment) {
        let program = std::mem::take(&mut self.program);
        for step in program.values().flatten() {
            self.node.insert(step.clone(), self.out.len());
            self.out.extend([vec![self.out.len() + 1], Vec::new()]);
        }
        for steps in program.values() {
            for w in steps.windows(2) {
                self.link((&w[0], false), &w[1]);
                let waits = match &w[0] {
                    Step::Op(op, _) => self.op(*op).is_some_and(|o| !o.is_async),
                    _ => true,
                };
                if waits {
                    self.link((&w[0], true), &w[1]);
                }
            }
        }
        self.program = program;
        for v in self.p.values.iter().filter(|v| v.view_of.is_none()) {
            if let Some(r) = a.records.iter().find(|r| r.value == v.id) {
                self.handshake(v, r);
            }
        }
        for e in &self.p.edges {
            let steps: Vec<Step> = self.node.keys().cloned().collect();
            for x in steps.iter().filter(|s| matches!(s, Step::Op(op, _) if *op == e.src)) {
                for y in steps.iter().filter(|s| matches!(s, Step::Op(op, _) if *op == e.dst)) {
                    let (Step::Op(_, i), Step::Op(_, j)) = (x, y) else { continue };
                    let common = self.common(e.src, e.dst);
                    let same = i.iter().zip(j).take(common.saturating_sub(1)).all(|(x, y)| x == y);
                    let k = common.wrapping_sub(1);
                    let apart = match (i.get(k), j.get(k)) {
                        (Some(&x), Some(&y)) if common > 0 => y as i64 - x as i64,
                        _ => 0,
                    };
                    if same && apart == e.distance {
                        self.link((x, true), y);
                    }
                }
            }
        }
        for e in a.merge.iter().flat_map(|m| &m.edges).filter(|e| !e.implied) {
            let find = |id: u64| {
                Some((self.p.values.iter().find(|v| v.id == id)?, a.records.iter().find(|r| r.value == id)?))
            };
            let (Some((from, r)), Some((to, s))) = (find(e.from), find(e.to)) else { continue };
            for n in 0..self.turns.get(&r.region).map_or(0, Vec::len) as i64 {
                // The wait stands before the region, also in a turn in which that has no iteration.
                let mut first = self.writes(to, s, n + e.distance).begin;
                first.extend(
                    to.producer.iter().flat_map(|w| self.edge_of(w.op, s.region, n + e.distance, true)),
                );
                for x in self.version(from, r, n).ends {
                    first.iter().for_each(|y| self.link((&x.0, x.1), y));
                }
            }
        }
    }

    /// Loops around both of two ops.
    fn common(&self, x: u64, y: u64) -> usize {
        let around = |op: u64| {
            let own = self.op(op).and_then(|o| o.region);
            let mut all: Vec<u64> = std::iter::successors(own, |r| self.parent.get(r).copied()).collect();
            all.retain(|r| self.p.regions.iter().any(|x| x.id == *r && x.kind == RegionKind::Loop));
            all.reverse();
            all
        };
        around(x).iter().zip(around(y)).take_while(|(x, y)| **x == *y).count()
    }

    /// Uses of a value and of its views in its home, as (op, turns later, in place). Updates within one turn of the home
    /// are no uses, but writes of the same version.
    fn uses(&self, v: &BufferValue, home: u64) -> Vec<(u64, i64, bool)> {
        let own = |w: &&BufferValue| w.id == v.id || w.view_of == Some(v.id);
        let all = self.p.values.iter().filter(own).flat_map(|w| &w.consumers);
        let region = |op: u64| self.op(op).and_then(|o| o.region);
        let update = |op: u64| v.producer.is_some_and(|w| w.op == op) && region(op) != Some(home);
        let here = all.filter(|c| region(c.op).is_some_and(|r| self.body(r, Some(home)).is_some()));
        here.filter(|c| !(c.in_place && update(c.op))).map(|c| (c.op, c.distance, c.in_place)).collect()
    }

    /// The instances of an op in the `n`-th iteration of a region.
    fn instances(&self, op: u64, region: u64, n: i64) -> Vec<Step> {
        let at = usize::try_from(n).ok().and_then(|n| self.turns.get(&region)?.get(n));
        let Some(at) = at else { return Vec::new() };
        let from = Step::Op(op, at.clone());
        let own = |s: &&Step| matches!(s, Step::Op(o, i) if *o == op && i.starts_with(at));
        self.node
            .range(from..)
            .map(|x| x.0)
            .take_while(|s| matches!(s, Step::Op(o, _) if *o == op))
            .filter(own)
            .cloned()
            .collect()
    }

    /// What stands for the start (or the end) of an op in an iteration of a value's home.
    fn edge_of(&self, op: u64, home: u64, n: i64, enter: bool) -> Vec<Step> {
        let Some(o) = self.op(op) else { return Vec::new() };
        let body = o.region.and_then(|r| self.body(r, Some(home)));
        let at = usize::try_from(n).ok().and_then(|n| self.turns.get(&home)?.get(n));
        match (body, at) {
            (Some(body), Some(at)) if body != home => {
                let (q, at) = (o.partition, at.clone());
                vec![if enter { Step::Enter(q, body, at) } else { Step::Leave(q, body, at) }]
            }
            _ => self.instances(op, home, n),
        }
    }

    fn handshake(&mut self, v: &BufferValue, r: &Record) {
        let Some(w) = v.producer else { return };
        let home = r.region;
        for n in 0..self.turns.get(&home).map_or(0, Vec::len) as i64 {
            let written = self.instances(w.op, home, n);
            let again = self.edge_of(w.op, home, n + r.depth as i64, true);
            for (op, d, in_place) in self.uses(v, home) {
                let forwarded = in_place && w.role == AccessRole::Tcgen05D;
                for y in self.edge_of(op, home, n + d, true) {
                    for x in &written {
                        self.link((x, !forwarded), &y);
                    }
                    // The producer says that it is done, iterations or none.
                    for x in
                        self.edge_of(w.op, home, n, false).iter().filter(|s| matches!(s, Step::Leave(..)))
                    {
                        self.link((x, false), &y);
                    }
                }
                if in_place {
                    continue;
                }
                let back = self.edge_of(w.op, home, n + r.depth as i64 - d, true);
                let left = self.edge_of(op, home, n, false);
                for y in if d == 0 { &again } else { &back } {
                    for x in self.instances(op, home, n) {
                        self.link((&x, true), y);
                    }
                    for x in left.iter().filter(|s| matches!(s, Step::Leave(..))) {
                        self.link((x, false), y);
                    }
                }
            }
        }
    }

    fn writes(&self, v: &BufferValue, r: &Record, n: i64) -> Version {
        let begin = v.producer.map(|w| self.instances(w.op, r.region, n)).unwrap_or_default();
        Version { value: v.id, n, begin, ends: Vec::new() }
    }

    /// A version: the issues of its writes, and all that ends it.
    fn version(&self, v: &BufferValue, r: &Record, n: i64) -> Version {
        let mut version = self.writes(v, r, n);
        version.ends.extend(version.begin.iter().map(|s| (s.clone(), true)));
        for (op, d, _) in self.uses(v, r.region) {
            version.ends.extend(self.instances(op, r.region, n + d).into_iter().map(|s| (s, true)));
        }
        version
    }

    fn judge(&self, a: &Assignment) -> Result<(), String> {
        let reach = Reach::of(&self.out).ok_or("somebody waits for ever")?;
        let carried = |v: &BufferValue, r: &Record| {
            v.consumers.iter().any(|c| c.in_place && self.op(c.op).and_then(|o| o.region) == Some(r.region))
        };
        let mut versions: Vec<(Version, (u8, u64, u64), bool)> = Vec::new();
        for v in self.p.values.iter().filter(|v| v.view_of.is_none() && v.producer.is_some()) {
            let Some(r) = a.records.iter().find(|r| r.value == v.id) else { continue };
            for n in 0..self.turns.get(&r.region).map_or(0, Vec::len) as i64 {
                let Some(cells) = cells(r, n) else { continue };
                let version = self.version(v, r, n);
                if !version.begin.is_empty() {
                    versions.push((version, cells, carried(v, r)));
                }
            }
        }
        for (k, (x, p, carried)) in versions.iter().enumerate() {
            for (y, q, _) in &versions[..k] {
                let common = p.0 & q.0 != 0 && p.1 < q.2 && q.1 < p.2;
                if !common || *carried && x.value == y.value {
                    continue;
                }
                let before = |a: &Version, b: &Version| {
                    a.ends.iter().all(|(e, done)| {
                        b.begin.iter().all(|s| reach.leads(self.node[e] + usize::from(*done), self.node[s]))
                    })
                };
                if !before(x, y) && !before(y, x) {
                    return Err(format!(
                        "nothing orders value {} of turn {} and value {} of turn {} on one cell",
                        x.value, x.n, y.value, y.n
                    ));
                }
            }
        }
        Ok(())
    }
}

/// A version of a value.
struct Version {
    value: u64,
    n: i64,
    begin: Vec<Step>,
    ends: Vec<(Step, bool)>,
}
