//! Classes: who may share, for how much, and the order around the ring (B49..B52).

use super::super::facts::ceil;
use super::super::memory::smem_align;
use super::super::report::Report;
use super::ctx::Ctx;
use crate::output::MergeClass;
use std::collections::{BTreeMap, BTreeSet};

/// Members of one class: allowed to share, disjoint on the ring's circle, worth it, and handed
/// over around the circle (B49..B52).
pub(super) fn united(ctx: &Ctx<'_, '_>, m: &MergeClass, report: &mut Report) -> bool {
    let f = ctx.f;
    let lives: BTreeSet<usize> = m.members.iter().map(|v| f.life_of[v]).collect();
    if lives.len() < 2 || m.members.iter().any(|v| f.values[v].layout.is_some()) {
        return false;
    }
    let value = |v: u64| f.values[&v];
    let one_root = m.members.iter().all(|v| value(*v).root == value(m.class).root);
    let roots: BTreeSet<_> = m.members.iter().map(|v| value(*v).root).collect();
    if !one_root {
        for &k in &lives {
            let life = &f.lives[k];
            let v = life.members[0];
            let piped = f.pipe_members(f.pipe(v)).iter().any(|w| f.life_of[w] != k);
            let elsewhere = life.region != f.lives[f.life_of[&m.class]].region;
            let alone = life.members.iter().any(|&w| value(w).alone);
            if life.private || piped || elsewhere || alone || f.no_sharing() {
                report.add("B49", &[v], "it may not share a buffer");
            }
            let same =
                (&value(v).element, f.stage_bytes(v)) == (&value(m.class).element, f.stage_bytes(m.class));
            if !same && !f.options.relax_footprint && roots.len() == lives.len() {
                report.add("B49", &[m.class, v], "element type and footprint differ");
            }
        }
        cost(ctx, m, &lives, roots.len() == lives.len(), report);
    }
    let mut by_region: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &k in &lives {
        by_region.entry(f.lives[k].region).or_default().push(k);
    }
    let mut apart = true;
    for (region, list) in by_region {
        apart &= circle(ctx, m, region, &list, report);
    }
    apart
}

/// A merge costs less than its parts (B52).
fn cost(ctx: &Ctx<'_, '_>, m: &MergeClass, lives: &BTreeSet<usize>, plain: bool, report: &mut Report) {
    let f = ctx.f;
    let Some(r) = ctx.a.record(m.class).filter(|_| plain) else { return };
    let mut parts = 0u128;
    for &k in lives {
        let v = f.lives[k].members[0];
        let stride = match r.tmem {
            Some(_) => r.tmem.map_or(0, |t| t.stride),
            None => {
                let align = smem_align(f, v);
                f.stage_bytes(v).div_ceil(align) * align
            }
        };
        parts += u128::from(stride) * f.lives[k].depth.unsigned_abs();
    }
    let stride = r.tmem.map_or(r.stride.unwrap_or(0), |t| t.stride);
    if u128::from(stride) * u128::from(m.depth) >= parts {
        report.add("B52", &m.members, format!("{} slots of {stride} cost no less than {parts}", m.depth));
    }
}

/// Arcs around one ring of a region, and the listed order from each member to the next.
fn circle(ctx: &Ctx<'_, '_>, m: &MergeClass, region: usize, lives: &[usize], report: &mut Report) -> bool {
    let f = ctx.f;
    if lives.len() < 2 {
        return true;
    }
    let mut apart = true;
    let shift = |k: usize| {
        let r = ctx.a.record(f.lives[k].members[0]);
        i128::from(r.and_then(|r| r.slot_shift).unwrap_or(0))
    };
    let depth = i128::from(m.depth.max(1));
    let ii = f.ii(region);
    let start = |k: usize| match ii {
        Some(ii) => (f.lives[k].start - shift(k) * ii).rem_euclid(depth * ii),
        None => f.lives[k].start,
    };
    let mut order: Vec<usize> = lives.to_vec();
    order.sort_by_key(|&k| (start(k), f.lives[k].members[0]));
    for (n, &k) in order.iter().enumerate() {
        let last = n + 1 == order.len();
        if last && ii.is_none() {
            break;
        }
        let next = order[(n + 1) % order.len()];
        let (u, v) = (&f.lives[k], &f.lives[next]);
        let room = match ii {
            Some(ii) => start(next) - start(k) + if last { depth * ii } else { 0 },
            None => v.start - u.start,
        };
        if u.end - u.start > room {
            report.add("B50", &[u.members[0], v.members[0]], "lifetimes overlap on the ring's circle");
            apart = false;
            continue;
        }
        let distance = match ii {
            None => 0,
            Some(ii) => {
                let diff = shift(k) - shift(next);
                diff + ceil(ceil(u.end - v.start, ii) - diff, depth) * depth
            }
        };
        let (from, to) = (u.members[0], v.members[0]);
        if !ctx.listed.contains(&(from, to, distance)) {
            report.add(
                "B51",
                &[from, to],
                format!("the order {from} -> {to} at distance {distance} is not listed"),
            );
        }
    }
    apart
}
