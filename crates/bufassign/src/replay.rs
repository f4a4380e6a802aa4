//! Brute-force oracles (B76): who owns which byte when, from input and output alone.
//!
//! [`steady`] lays out the scheduled instances of every value and looks for two that own one byte at
//! one cycle, for every trip count from 0 to twice the stages, so prologue and epilogue included.
//! [`delayed`] runs the agents with random delays that obey only what the answer promises: program
//! order, handshakes, the caller's edges and the inserted waits. It finds rewrites before the last
//! read and loops of waiting. [`every_timing`] decides the same for all delays at once.

mod timings;

pub use timings::every_timing;

use crate::fuzzing::Choices;
use crate::input::{Op, Problem, RegionKind, Role, Value};
use crate::output::{Assignment, Class, Lanes, Record};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// One version of a value in its slot.
struct Version {
    value: u64,
    class: u64,
    iteration: u64,
    /// Cells: space and lane set, then first and end.
    space: u8,
    from: u64,
    to: u64,
    start: u64,
    end: u64,
}

impl Version {
    fn meets(&self, other: &Version) -> bool {
        self.space & other.space != 0
            && self.from < other.to
            && other.from < self.to
            && self.start < other.end
            && other.start < self.end
    }
}

/// Values that update each other in place are one lifetime and may meet (B19).
struct InPlace {
    /// Values that some op overwrites in place.
    overwritten: BTreeSet<u64>,
    /// What such ops write.
    written: BTreeSet<u64>,
}

impl InPlace {
    fn new(p: &Problem) -> InPlace {
        let (mut overwritten, mut written) = (BTreeSet::new(), BTreeSet::new());
        for v in &p.values {
            for c in v.consumers.iter().filter(|c| c.in_place) {
                overwritten.insert(v.id);
                let by = |w: &&Value| w.producer.is_some_and(|q| q.op == c.op);
                written.extend(p.values.iter().filter(by).map(|w| w.id));
            }
        }
        InPlace { overwritten, written }
    }

    /// Whether two versions, each of a value in a class, are one storage by the author's word.
    fn one(&self, x: (u64, u64), y: (u64, u64)) -> bool {
        let part = |v: u64| self.overwritten.contains(&v) || self.written.contains(&v);
        x.1 == y.1 && if x.0 == y.0 { self.overwritten.contains(&x.0) } else { part(x.0) && part(y.0) }
    }
}

/// The bytes or columns of slot `iteration` of a value, if it is stored.
fn cells(r: &Record, iteration: u64) -> Option<(u8, u64, u64)> {
    let slot = (iteration + r.slot_shift.unwrap_or(0)) % r.depth.max(1);
    match r.class {
        Class::Smem => {
            let at = r.offset? + slot * r.stride?;
            Some((1, at, at + r.stage_bytes?))
        }
        Class::Tmem => {
            let t = r.tmem?;
            let lanes = match t.lanes {
                Lanes::All => 2 | 4,
                Lanes::H0 => 2,
                Lanes::H1 => 4,
            };
            let at = t.column + slot * t.stride;
            Some((lanes, at, at + t.columns))
        }
        Class::Desc | Class::BarrierOnly => None,
    }
}

/// Owners of storage in a region: values with a producer there, no views.
fn stored<'a>(p: &'a Problem, a: &'a Assignment, region: u64) -> Vec<(&'a Value, &'a Record)> {
    let records: BTreeMap<u64, &Record> = a.records.iter().map(|r| (r.value, r)).collect();
    let own = p.values.iter().filter(|v| v.view_of.is_none() && v.producer.is_some());
    own.filter_map(|v| Some((v, *records.get(&v.id)?))).filter(|(_, r)| r.region == region).collect()
}

/// No two versions meet; versions come grouped by value.
fn clash(groups: &[Vec<Version>], together: &InPlace) -> Result<(), String> {
    // Most values have no cell in common at all.
    let hull = |g: &Vec<Version>| {
        let space = g.iter().fold(0, |s, v| s | v.space);
        let from = g.iter().map(|v| v.from).min().unwrap_or(0);
        (space, from, g.iter().map(|v| v.to).max().unwrap_or(0))
    };
    let hulls: Vec<(u8, u64, u64)> = groups.iter().map(hull).collect();
    for (n, a) in groups.iter().enumerate() {
        for (m, b) in groups.iter().enumerate().take(n + 1) {
            let (x, y) = (hulls[n], hulls[m]);
            if x.0 & y.0 == 0 || x.1 >= y.2 || y.1 >= x.2 {
                continue;
            }
            for x in a {
                for y in b {
                    let same = n == m && x.iteration <= y.iteration;
                    let one = together.one((x.value, x.class), (y.value, y.class));
                    if !same && !one && x.meets(y) {
                        return Err(format!(
                            "value {} of turn {} and value {} of turn {} own one cell at one cycle",
                            x.value, x.iteration, y.value, y.iteration
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}

/// Scheduled times: no two versions own one cell at one cycle (B76a).
///
/// # Errors
/// The first two that do.
pub fn steady(p: &Problem, a: &Assignment) -> Result<(), String> {
    let together = InPlace::new(p);
    for region in &p.regions {
        let Some(ii) = region.ii else { continue };
        let here = stored(p, a, region.id);
        let deepest = here.iter().map(|(_, r)| r.depth + r.length / ii).max().unwrap_or(1);
        let long = (2 * deepest + 2).min(40);
        let short = 0..=2 * region.stages.unwrap_or(1) + 1;
        for turns in short.chain([long]) {
            let mut groups = Vec::new();
            for &(_, r) in &here {
                let mut versions = Vec::new();
                let start = r.start[0] * ii + r.start[1];
                for i in 0..turns {
                    let Some((space, from, to)) = cells(r, i) else { continue };
                    let start = start + i * ii;
                    let end = start + r.length;
                    let (value, class) = (r.value, r.parent);
                    versions.push(Version { value, class, iteration: i, space, from, to, start, end });
                }
                groups.push(versions);
            }
            clash(&groups, &together)?;
        }
    }
    Ok(())
}

/// A run of one loop as a graph of events, two per instance: issue and completion.
struct Run {
    turns: u64,
    index: BTreeMap<u64, usize>,
    /// Out-edges of events.
    out: Vec<Vec<usize>>,
}

impl Run {
    fn new(ops: &[&Op], turns: u64) -> Run {
        let index: BTreeMap<u64, usize> = ops.iter().enumerate().map(|(k, o)| (o.id, k)).collect();
        let mut run = Run { turns, out: vec![Vec::new(); 2 * ops.len() * turns as usize], index };
        for o in ops {
            for i in 0..turns {
                run.link((o.id, false, i), (o.id, true, i as i64));
            }
        }
        let mut agents: BTreeMap<u64, Vec<&Op>> = BTreeMap::new();
        ops.iter().for_each(|o| agents.entry(o.agent).or_default().push(o));
        for own in agents.values() {
            let mut sequence: Vec<(u64, u64, &Op)> = Vec::new();
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

    fn event(&self, op: u64, done: bool, iteration: u64) -> Option<usize> {
        let k = self.index.get(&op)?;
        (iteration < self.turns)
            .then(|| 2 * (k * self.turns as usize + iteration as usize) + usize::from(done))
    }

    fn link(&mut self, from: (u64, bool, u64), to: (u64, bool, i64)) {
        let Ok(i) = u64::try_from(to.2) else { return };
        if let (Some(x), Some(y)) = (self.event(from.0, from.1, from.2), self.event(to.0, to.1, i)) {
            self.out[x].push(y);
        }
    }

    /// `from` of every turn i before the issue of `to` in turn i + distance.
    fn every(&mut self, from: (u64, bool), to: u64, distance: i64) {
        for i in 0..self.turns {
            self.link((from.0, from.1, i), (to, false, i as i64 + distance));
        }
    }

    /// Times under random delays; `None` if somebody waits for ever.
    fn times(&self, c: &mut Choices<'_>) -> Option<Vec<u64>> {
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

/// Random delays: no slot is rewritten before its last read and nobody waits for ever (B76b), in
/// `rounds` runs of every loop.
///
/// # Errors
/// What went wrong.
pub fn delayed(p: &Problem, a: &Assignment, rounds: u64, c: &mut Choices<'_>) -> Result<(), String> {
    let together = InPlace::new(p);
    for region in p.regions.iter().filter(|r| r.kind == RegionKind::Loop) {
        let ops: Vec<&Op> = p.ops.iter().filter(|o| o.region == Some(region.id)).collect();
        let here = stored(p, a, region.id);
        let deepest = here.iter().map(|(_, r)| r.depth).max().unwrap_or(1);
        for _ in 0..rounds {
            let turns = c.below((2 * deepest + 4).min(24));
            let mut run = Run::new(&ops, turns);
            handshakes(p, a, region.id, &mut run);
            let Some(at) = run.times(c) else {
                return Err(format!("region {}: somebody waits for ever", region.id));
            };
            let mut groups = Vec::new();
            for &(v, r) in &here {
                let mut versions = Vec::new();
                let Some(producer) = v.producer else { continue };
                for i in 0..turns {
                    let Some((space, from, to)) = cells(r, i) else { continue };
                    let Some(begin) = run.event(producer.op, false, i) else { continue };
                    let done = run.event(producer.op, true, i).map_or(0, |e| at[e]);
                    // A version that is read behind the last turn is handed over there, not in this run.
                    let beyond =
                        |(_, d, _): (u64, i64, Role)| i.checked_add_signed(d).is_none_or(|t| t >= turns);
                    if uses(p, v).any(beyond) {
                        continue;
                    }
                    let reads = uses(p, v).filter_map(|(op, d, _)| {
                        let turn = i.checked_add_signed(d)?;
                        run.event(op, true, turn).map(|e| at[e])
                    });
                    let end = reads.max().unwrap_or(0).max(done);
                    // The issue stands at the start of its step, its end at the completion.
                    let (value, class, start) = (v.id, r.parent, at[begin]);
                    versions.push(Version { value, class, iteration: i, space, from, to, start, end });
                }
                groups.push(versions);
            }
            clash(&groups, &together).map_err(|e| format!("{e}, with delays"))?;
        }
    }
    Ok(())
}

/// Uses of a value and of its views: op, distance, role.
fn uses<'a>(p: &'a Problem, v: &'a Value) -> impl Iterator<Item = (u64, i64, Role)> + 'a {
    let resolves = |w: &Value| {
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

/// Data and release orders of every value, the caller's edges and the inserted waits.
fn handshakes(p: &Problem, a: &Assignment, region: u64, run: &mut Run) {
    for v in p.values.iter().filter(|v| v.view_of.is_none()) {
        let Some(producer) = v.producer else { continue };
        let Some(r) = a.records.iter().find(|r| r.value == v.id && r.region == region) else { continue };
        let in_place: Vec<(u64, i64)> =
            v.consumers.iter().filter(|c| c.in_place).map(|c| (c.op, c.distance)).collect();
        for (op, d, role) in uses(p, v) {
            // Accumulating MMAs hand over inside the unit, in issue order.
            let agent = |op: u64| p.ops.iter().find(|o| o.id == op).map(|o| o.agent);
            let forwarded = in_place.contains(&(op, d))
                && (producer.role, role) == (Role::Tcgen05D, Role::Tcgen05D)
                && agent(op) == agent(producer.op);
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
        let reads: Vec<(u64, i64, Role)> = uses(p, from).collect();
        for (op, d, _) in reads {
            run.every((op, true), producer.op, e.distance - d);
        }
    }
}

fn find(p: &Problem, id: u64) -> Option<&Value> {
    p.values.iter().find(|v| v.id == id)
}
