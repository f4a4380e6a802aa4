//! Loops in loops, taken apart once more (B79): what every loop sees of the loops in its body.
//!
//! For a value, level L is the deepest loop around all of its ops and those of its root. An op that lies deeper stands,
//! at L, where the region of L's body that holds it stands: issued when its partition arrives there, completed with the
//! last of its instances there. Regions of one nest run at once, so what is live in one of them is held in all.

use crate::input::{BufferValue, CallerEdge, Exit, Problem, RegionKind, Repeat, ScheduledOp};
use std::collections::{BTreeMap, BTreeSet};

/// A problem without nesting, and the op that each op seen from outside stands for.
pub(super) struct Levels {
    pub problem: Problem,
    pub stands_for: BTreeMap<u64, u64>,
}

/// A region stands in the body of a loop.
pub(super) fn inner(p: &Problem, region: usize) -> bool {
    p.regions.get(region).is_some_and(|r| r.inside.is_some())
}

/// Whether two regions are of one nest: behind one loop at the top and before the next region there.
pub(super) fn one_nest(p: &Problem, a: usize, b: usize) -> bool {
    a != b && (a.min(b) + 1..=a.max(b)).all(|k| inner(p, k))
}

/// Parents of regions by id; `Err` where they do not nest.
fn parents(p: &Problem) -> Result<BTreeMap<u64, u64>, String> {
    let mut parent = BTreeMap::new();
    let mut open: Vec<u64> = Vec::new();
    for r in &p.regions {
        match r.inside {
            None => open.clear(),
            Some(inside) => {
                while open.last().is_some_and(|&o| o != inside.region) {
                    open.pop();
                }
                let outer = p.regions.iter().find(|o| Some(&o.id) == open.last());
                let good = outer.is_some_and(|o| {
                    let taken = p.ops.iter().any(|x| x.region == Some(o.id) && x.order == Some(inside.order))
                        || p.regions.iter().any(|x| {
                            x.id != r.id
                                && x.inside.is_some_and(|i| (i.region, i.order) == (o.id, inside.order))
                        });
                    o.kind == RegionKind::Loop
                        && o.ii.is_some_and(|ii| inside.cycle < ii)
                        && o.stages.is_some_and(|s| inside.stage < s)
                        && !taken
                });
                if !good || r.exit == Exit::Early || p.repeat != Repeat::None {
                    return Err(format!("region {} does not stand in the loop that it names", r.id));
                }
                parent.insert(r.id, inside.region);
            }
        }
        open.push(r.id);
    }
    Ok(parent)
}

/// Takes a problem apart; `None` if nothing nests.
pub(super) fn levels(p: &Problem) -> Result<Option<Levels>, String> {
    if p.regions.iter().all(|r| r.inside.is_none()) {
        return Ok(None);
    }
    let parent = parents(p)?;
    let region_of: BTreeMap<u64, u64> = p.ops.iter().filter_map(|o| Some((o.id, o.region?))).collect();
    // From the op's own region outwards.
    let outwards = |op: u64| {
        let own = region_of.get(&op).copied();
        std::iter::successors(own, |r| parent.get(r).copied()).collect::<Vec<u64>>()
    };
    let level = storage_levels(p, &outwards);
    let mut taken = Taken { seen: BTreeMap::new(), fresh: p.ops.iter().map(|o| o.id).max().unwrap_or(0) };
    let mut out = p.clone();
    for v in &mut out.values {
        let at = level.get(&v.id).copied().flatten();
        let inner = at.is_some_and(|l| parent.contains_key(&l));
        let far = v.consumers.iter().any(|c| c.distance > 0 && !c.in_place);
        if inner && (v.live_out || far) {
            return Err(format!("value {} of an inner loop leaves its iteration", v.id));
        }
        let writer = v.producer.map(|w| w.op);
        let mut kept = Vec::new();
        for c in &v.consumers {
            let around = outwards(c.op);
            let with_writer = writer.and_then(|w| {
                let others = outwards(w);
                around.iter().copied().find(|r| others.contains(r))
            });
            // Below the level of the value both are one region of its body.
            let within =
                with_writer.is_some_and(|r| Some(r) != at && (at.is_some() || parent.contains_key(&r)));
            if within && !(c.in_place && Some(c.op) == writer) {
                return Err(format!("value {} is read within the region that writes it and outside", v.id));
            }
            if !within {
                let mut c = *c;
                c.op = taken.op(c.op, at, &around);
                kept.push(c);
            }
        }
        v.consumers = kept;
        v.init &= v.consumers.iter().any(|c| c.distance > 0);
        if let Some(w) = &mut v.producer {
            w.op = taken.op(w.op, at, &outwards(w.op));
        }
    }
    alone(p, &level, &region_of, &parent)?;
    out.edges.clear();
    for e in &p.edges {
        let others = outwards(e.dst);
        let at = outwards(e.src).into_iter().find(|r| others.contains(r));
        if e.distance > 0 && at.is_some_and(|l| parent.contains_key(&l)) {
            return Err(format!("the edge from op {} leaves its iteration of an inner loop", e.src));
        }
        let src = taken.op(e.src, at, &outwards(e.src));
        let dst = taken.op(e.dst, at, &others);
        out.edges.push(CallerEdge { src, dst, distance: e.distance });
    }
    let stands_for = taken.seen.iter().map(|(k, id)| (*id, k.0)).collect();
    taken.place(p, &mut out);
    Ok(Some(Levels { problem: out, stands_for }))
}

/// The innermost loop around all ops of each value and of what shares its storage; `None` at the top.
fn storage_levels(p: &Problem, outwards: &dyn Fn(u64) -> Vec<u64>) -> BTreeMap<u64, Option<u64>> {
    let mut owner: BTreeMap<u64, u64> = p.values.iter().map(|v| (v.id, v.id)).collect();
    for _ in 0..p.values.len() {
        for v in &p.values {
            if let Some(o) = v.view_of.and_then(|o| owner.get(&o).copied()) {
                owner.insert(v.id, o);
            }
        }
    }
    let root: BTreeMap<u64, Option<u64>> = p.values.iter().map(|v| (v.id, v.root)).collect();
    let key = |v: &BufferValue| {
        let o = owner[&v.id];
        root.get(&o).copied().flatten().map_or((1, o), |r| (0, r))
    };
    let mut ops: BTreeMap<(u8, u64), Vec<u64>> = BTreeMap::new();
    let mut before: BTreeSet<(u8, u64)> = BTreeSet::new();
    for v in &p.values {
        let list = ops.entry(key(v)).or_default();
        list.extend(v.producer.map(|w| w.op));
        list.extend(v.consumers.iter().map(|c| c.op));
        if v.live_in {
            before.insert(key(v));
        }
    }
    let level = |k: (u8, u64)| {
        let all: Vec<Vec<u64>> = ops.get(&k)?.iter().map(|&op| outwards(op)).collect();
        let found = all.first()?.iter().find(|r| all.iter().all(|o| o.contains(r)));
        found.copied().filter(|_| !before.contains(&k))
    };
    p.values.iter().map(|v| (v.id, level(key(v)))).collect()
}

/// Values of one root written for a loop by a region of its body have one writer.
fn alone(
    p: &Problem,
    level: &BTreeMap<u64, Option<u64>>,
    region_of: &BTreeMap<u64, u64>,
    parent: &BTreeMap<u64, u64>,
) -> Result<(), String> {
    let mut writers: BTreeMap<u64, usize> = BTreeMap::new();
    for root in p.values.iter().filter(|v| v.producer.is_some()).filter_map(|v| v.root) {
        *writers.entry(root).or_default() += 1;
    }
    for v in &p.values {
        let (Some(w), Some(&at), Some(root)) = (v.producer, level.get(&v.id), v.root) else { continue };
        let Some(&own) = region_of.get(&w.op) else { continue };
        let inner = at.map_or(parent.contains_key(&own), |l| own != l);
        if inner && writers.get(&root).is_some_and(|n| *n > 1) {
            return Err(format!("value {} shares the root of another over a loop", v.id));
        }
    }
    Ok(())
}

/// Ops that loops see of their bodies.
struct Taken {
    /// Op, and the region of a body in which it is seen: its id there.
    seen: BTreeMap<(u64, u64), u64>,
    fresh: u64,
}

impl Taken {
    /// An op as it is seen at a level; `around` are the regions around it, its own first.
    fn op(&mut self, op: u64, level: Option<u64>, around: &[u64]) -> u64 {
        let at = match level {
            Some(l) => around.iter().position(|r| *r == l),
            None => around.len().checked_sub(1),
        };
        match at.and_then(|k| k.checked_sub(1)).and_then(|k| around.get(k)) {
            None => op,
            Some(&body) => {
                let fresh = &mut self.fresh;
                *self.seen.entry((op, body)).or_insert_with(|| {
                    *fresh += 1;
                    *fresh
                })
            }
        }
    }

    /// Puts them into the regions that see them, in the order of the program.
    fn place(self, p: &Problem, out: &mut Problem) {
        let rank = |op: &ScheduledOp, upto: u64| {
            let mut rank = vec![op.order.unwrap_or(0)];
            let mut at = op.region;
            while let Some(r) = at.filter(|r| *r != upto).and_then(|r| p.regions.iter().find(|x| x.id == r)) {
                let Some(i) = r.inside else { break };
                rank.insert(0, i.order);
                at = Some(i.region);
            }
            rank
        };
        let mut added: BTreeMap<u64, Vec<(u64, ScheduledOp)>> = BTreeMap::new();
        for (&(op, body), &id) in &self.seen {
            let source = p.ops.iter().find(|o| o.id == op);
            let stands = p.regions.iter().find(|r| r.id == body).and_then(|r| r.inside);
            let (Some(source), Some(i)) = (source, stands) else { continue };
            let mut op = source.clone();
            (op.id, op.region, op.stage, op.cycle, op.latency) =
                (id, Some(i.region), i.stage, Some(i.cycle), i.latency);
            added.entry(i.region).or_default().push((body, op));
        }
        for (region, mut ops) in added {
            let source = |id: u64| self.seen.iter().find(|(_, x)| **x == id).map_or(id, |(k, _)| k.0);
            let mut ranked: Vec<(Vec<u64>, u64)> = Vec::new();
            for o in p.ops.iter().filter(|o| o.region == Some(region) && o.order.is_some()) {
                ranked.push((rank(o, region), o.id));
            }
            for (_, o) in &ops {
                let of = p.ops.iter().find(|x| x.id == source(o.id));
                ranked.push((of.map(|x| rank(x, region)).unwrap_or_default(), o.id));
            }
            ranked.sort();
            let order: BTreeMap<u64, u64> = ranked.iter().zip(0..).map(|(r, k)| (r.1, k)).collect();
            for o in out.ops.iter_mut().filter(|o| o.region == Some(region)) {
                o.order = order.get(&o.id).copied().or(o.order);
            }
            for (_, o) in &mut ops {
                o.order = order.get(&o.id).copied();
            }
            // What a partition has waited for in there has completed when it issues anything behind.
            let own = out.ops.iter().filter(|o| o.region == Some(region) && o.cycle.is_some());
            let own: Vec<(u64, ScheduledOp)> = own.map(|o| (region, o.clone())).collect();
            for (body, x) in ops.iter().filter(|x| !x.1.is_async) {
                for (other, y) in ops.iter().chain(&own).filter(|y| y.1.partition == x.partition) {
                    let later = body == other || y.order < x.order;
                    let d = x.stage as i64 + i64::from(later) - y.stage as i64;
                    out.edges.push(CallerEdge { src: x.id, dst: y.id, distance: d.max(0) });
                }
            }
            out.ops.extend(ops.into_iter().map(|(_, o)| ScheduledOp { is_async: true, ..o }));
        }
    }
}
