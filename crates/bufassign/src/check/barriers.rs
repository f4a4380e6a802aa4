//! Handshakes and named barriers (B27..B31).

use super::facts::{Facts, Held, Life, ceil};
use super::graph::{Graph, distances, waits};
use super::levels::{inner, one_nest};
use super::machine::machine;
use super::report::Report;
use super::ways::way;
use crate::input::{AccessRole, Repeat};
use crate::output::{Assignment, BarrierMode, Class, Handshake};
use std::collections::{BTreeMap, BTreeSet};

/// Partitions that produce and consume in a pipe.
fn parties(f: &Facts<'_>, members: &[u64]) -> (BTreeSet<u64>, BTreeSet<u64>) {
    let partition = |op: u64| f.ops.get(&op).map(|o| o.partition);
    let family = || members.iter().flat_map(|&m| f.family(m));
    let produce = family().filter_map(|v| v.producer).filter_map(|p| partition(p.op)).collect();
    let consume = family().flat_map(|v| &v.consumers).filter_map(|c| partition(c.op)).collect();
    (produce, consume)
}

/// Handshake of a pipe and whether it takes a named barrier (B27).
pub(super) fn required(f: &Facts<'_>, members: &[u64]) -> (Handshake, bool) {
    let (produce, consume) = parties(f, members);
    let all: BTreeSet<u64> = produce.union(&consume).copied().collect();
    let roles: Vec<AccessRole> =
        members.iter().flat_map(|&m| f.family(m)).filter_map(|v| v.producer).map(|p| p.role).collect();
    let signal = members.iter().any(|&m| f.roles(m).iter().all(|r| *r == AccessRole::Signal));
    let warps = |a: &u64| f.warps.get(a).copied().unwrap_or(1);
    let exchange = all.iter().any(|a| warps(a) > 1) && !members.iter().all(|m| f.values[m].warp_local);
    let by_hardware = roles.iter().any(|&r| way(f, r).signals);
    let (kind, named) = if signal {
        (Handshake::Named, true)
    } else if produce.is_empty() {
        (Handshake::Order, false)
    } else if all.len() > 1 {
        (Handshake::Pair, false)
    } else if by_hardware {
        (Handshake::Full, exchange)
    } else if roles.iter().any(|&r| way(f, r).grouped) {
        (Handshake::Group, exchange)
    } else if exchange {
        (Handshake::Named, true)
    } else {
        (Handshake::Order, false)
    };
    (kind, named || f.preset())
}

/// Semaphores that the rings of a machine take: two for a pair, one for a writer that signals (B82).
pub(super) fn semaphores(f: &Facts<'_>) -> usize {
    let pipes: BTreeSet<u64> = f.life_of.keys().map(|&v| f.pipe(v)).collect();
    let of = |&pipe: &u64| match required(f, &f.pipe_members(pipe)).0 {
        Handshake::Pair => 2,
        Handshake::Full => 1,
        _ => 0,
    };
    if machine(f).is_some() { pipes.iter().map(of).sum() } else { 0 }
}

pub(super) fn check(f: &Facts<'_>, a: &Assignment, report: &mut Report) {
    let ids: Vec<u32> =
        (0..f.target.barriers.named).filter(|i| !f.target.barriers.reserved.contains(i)).collect();
    // On a machine rings take semaphores of the same kind.
    let ids = ids.get(semaphores(f)..).unwrap_or_default().to_vec();
    let pool = if f.preset() { 32 } else { ids.len() as u32 };
    report.same("B28", 0, "pool", &a.barriers.pool, &pool);
    let mut holders: BTreeMap<u32, Vec<Vec<u64>>> = BTreeMap::new();
    let pipes: BTreeSet<u64> = f.life_of.keys().map(|&v| f.pipe(v)).collect();
    let mut graphs: BTreeMap<usize, Graph> = BTreeMap::new();
    for pipe in pipes {
        let members = f.pipe_members(pipe);
        let (kind, named) = required(f, &members);
        let (produce, consume) = parties(f, &members);
        for &v in &members {
            let Some(r) = a.record(v) else { continue };
            report.same("B27", v, "handshake", &r.handshake, &kind);
            if r.barrier.is_some() != named {
                report.add(
                    "B27",
                    &[v],
                    format!("a named barrier is {}needed", if named { "" } else { "not " }),
                );
            }
            if r.class == Class::BarrierOnly && r.pipe.is_some() {
                report.add("B27", &[v], "a value without payload has no mbarriers");
            }
            let Some(b) = r.barrier else { continue };
            if b.slot >= pool || b.id != ids.get(b.slot as usize).copied() {
                report.add("B28", &[v], format!("slot {} of {pool} has not the id {:?}", b.slot, b.id));
            }
            let warps: u32 = produce.union(&consume).filter_map(|x| f.warps.get(x)).sum();
            report.same("B31", v, "threads", &b.threads, &(f.target.threads.per_warp * warps));
            if b.threads > f.target.threads.per_cta {
                report.add("B31", &[v], "more threads than a block has");
            }
            let mode = mode(f, a, &members, &produce, &consume);
            report.same("B31", v, "mode", &b.mode, &mode);
            if a.record(members[0]).and_then(|r| r.barrier) != Some(b) {
                report.add("B21", &[v], "one pipe has one barrier");
            }
        }
        if let Some(b) = a.record(members[0]).and_then(|r| r.barrier) {
            holders.entry(b.slot).or_default().push(members);
        }
    }
    report.same("B13", 0, "barriers.used", &a.barriers.used, &(holders.len() as u32));
    for list in holders.values() {
        for (n, x) in list.iter().enumerate() {
            for y in &list[..n] {
                for (&v, &w) in x.iter().flat_map(|v| y.iter().map(move |w| (v, w))) {
                    shared_slot(f, a, &mut graphs, v, w, report);
                }
            }
        }
    }
}

/// `arrive` iff the consumers, all other partitions than the producers, have passed before the
/// producer's next arrival without the value's own release (B31).
fn mode(
    f: &Facts<'_>,
    a: &Assignment,
    members: &[u64],
    produce: &BTreeSet<u64>,
    consume: &BTreeSet<u64>,
) -> BarrierMode {
    let lives: BTreeSet<usize> = members.iter().map(|v| f.life_of[v]).collect();
    let mut one = lives.iter();
    let (Some(&k), None) = (one.next(), one.next()) else { return BarrierMode::Sync };
    let life = &f.lives[k];
    let Some(p) = life.producer else { return BarrierMode::Sync };
    if !produce.is_disjoint(consume) || consume.is_empty() {
        return BarrierMode::Sync;
    }
    if f.ii(life.region).is_none() {
        let again = f.problem.repeat == Repeat::Overlapped || inner(f.problem, life.region);
        return if again { BarrierMode::Sync } else { BarrierMode::Arrive };
    }
    // Judged before any sharing: at the depths of the law, without inserted waits.
    let bare = bare(f, a);
    let graph = Graph::new(f, &bare, life.region, Some(k));
    let passed = life.uses.iter().all(|u| graph.implied(u.op, p, 1 - u.distance));
    if passed { BarrierMode::Arrive } else { BarrierMode::Sync }
}

/// The answer with every joint ring undone that the sharing phase made, and without the orders of what lies on common
/// bytes of other classes. What a value's write waits for of its own was there before.
fn bare(f: &Facts<'_>, a: &Assignment) -> Assignment {
    let mut bare = a.clone();
    for m in &mut bare.merge {
        let root = |v: u64| f.values.get(&v).and_then(|x| x.root);
        let forced = m.members.windows(2).all(|w| root(w[0]) == root(w[1]));
        if forced || m.members.iter().any(|v| f.values[v].layout.is_some()) {
            m.edges.retain(|e| m.members.contains(&e.from) && m.members.contains(&e.to));
            continue;
        }
        m.edges.retain(|e| e.from == e.to);
        for v in &m.members {
            let law = f.lives[f.life_of[v]].depth;
            for r in bare.records.iter_mut().filter(|r| r.value == *v) {
                r.depth = law as u64;
            }
        }
    }
    bare
}

/// Two holders of one slot: apart in time and ordered both ways, or a drained boundary between
/// their regions (B30).
fn shared_slot(
    f: &Facts<'_>,
    a: &Assignment,
    graphs: &mut BTreeMap<usize, Graph>,
    v: u64,
    w: u64,
    report: &mut Report,
) {
    let (x, y): (&Life, &Life) = (&f.lives[f.life_of[&v]], &f.lives[f.life_of[&w]]);
    if x.region != y.region {
        let later = f.region_id(x.region.max(y.region));
        let drained = a.drains.iter().any(|d| d.before_region == later && !d.pairs.is_empty());
        if !drained || f.problem.repeat == Repeat::Overlapped || one_nest(f.problem, x.region, y.region) {
            report.add("B30", &[v, w], "holders of one slot in different regions need a drained boundary");
        }
        return;
    }
    if inner(f.problem, x.region) {
        report.add("B79", &[v, w], "in a loop in a loop every holder has a slot of its own");
        return;
    }
    let graph = graphs.entry(x.region).or_insert_with(|| Graph::new(f, a, x.region, None));
    for (from, to, u, t) in [(v, w, x, y), (w, v, y, x)] {
        let gap = u.end - t.start;
        let d = match f.ii(x.region) {
            // The next version of the other; the one before it must have ended in time.
            Some(ii) => {
                let d = ceil(gap, ii);
                if t.end + (d - 1) * ii > u.start {
                    report.add("B30", &[from, to], "holders of one slot are live at one cycle");
                    return;
                }
                d
            }
            None if gap <= 0 => 0,
            None if t.end <= u.start => continue,
            None => {
                report.add("B30", &[from, to], "holders of one slot are live at one cycle");
                return;
            }
        };
        let mut all = distances(d, 1).into_iter().flat_map(|d| waits(f, from, to, d));
        if all.any(|(c, i, d)| !graph.implied(c, i, d)) {
            report.add("B30", &[from, to], "holders of one slot are not ordered");
        }
    }
    debug_assert!(matches!(x.held.get(&x.region), Some(Held::Always | Held::During(..))));
}
