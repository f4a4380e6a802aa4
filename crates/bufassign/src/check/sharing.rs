//! No two versions on one byte at one time, and every order ordered
//! (B20, B23, B25, B43, B49..B52, B55, B57).

mod ctx;
mod ring;
mod united;

use super::facts::{Facts, Held, Life, ceil};
use super::graph::{Graph, acquires, distances, waits};
use super::place::place;
use super::report::Report;
use crate::input::Repeat;
use crate::output::{Assignment, MergeClass, OrderEdge, Record};
use ctx::Ctx;
use std::collections::{BTreeMap, BTreeSet};
use united::united;

pub(super) fn check(f: &Facts<'_>, a: &Assignment, report: &mut Report) {
    let mut graphs = BTreeMap::new();
    for region in 0..f.problem.regions.len() {
        let g = Graph::new(f, a, region, None);
        if !g.is_sound() {
            report.add(
                "B25",
                &[],
                format!("with the listed edges an op of region {} waits for itself", f.region_id(region)),
            );
            return;
        }
        graphs.insert(region, g);
    }
    let edges: BTreeSet<OrderEdge> = a.merge.iter().flat_map(|m| m.edges.iter().copied()).collect();
    let names = edges.iter().map(|e| (e.from, e.to, i128::from(e.distance))).collect();
    let class = a.merge.iter().flat_map(|m| m.members.iter().map(|v| (*v, m.class))).collect();
    let drained = a.drains.iter().flat_map(|d| d.pairs.iter().map(|&p| (d.before_region, p))).collect();
    let ctx = Ctx { f, a, graphs, edges, listed: names, class, drained };
    listed(&ctx, report);
    overwrites(&ctx, report);
    rewrites(&ctx, report);
    // Classes whose members follow each other around one ring, which is asked for at once.
    let mut rings: BTreeSet<u64> = BTreeSet::new();
    for m in &a.merge {
        if united(&ctx, m, report) && around(&ctx, m, report) {
            rings.insert(m.class);
        }
    }
    sweep(&ctx, &rings, report);
}

/// Every two owners on common bytes, unless both are of one ring that has been asked for at once.
///
/// Blocks go by position, so that far-apart values are never compared; a ring is one block.
fn sweep(ctx: &Ctx<'_, '_>, rings: &BTreeSet<u64>, report: &mut Report) {
    let mut block_of: BTreeMap<u64, usize> = BTreeMap::new();
    let mut blocks: Vec<(u64, u64, Vec<&Record>)> = Vec::new();
    for r in ctx.a.records.iter().filter(|r| ctx.f.life_of.contains_key(&r.value)) {
        let Some(p) = place(r) else { continue };
        let end = p.start + p.stride * (r.depth.max(1) - 1) + p.bytes;
        let ring = ctx.class.get(&r.value).filter(|c| rings.contains(c));
        let at = ring.map_or(blocks.len(), |&c| *block_of.entry(c).or_insert(blocks.len()));
        match blocks.get_mut(at) {
            Some(block) => {
                (block.0, block.1) = (block.0.min(p.start), block.1.max(end));
                block.2.push(r);
            }
            None => blocks.push((p.start, end, vec![r])),
        }
    }
    blocks.sort_by_key(|b| (b.0, b.2[0].value));
    for (n, x) in blocks.iter().enumerate() {
        for y in blocks[n + 1..].iter().take_while(|y| y.0 < x.1) {
            for (v, w) in x.2.iter().flat_map(|v| y.2.iter().map(move |w| (*v, *w))) {
                let (v, w) = if v.value < w.value { (v, w) } else { (w, v) };
                if v.class == w.class {
                    pair(ctx, v, w, report);
                }
            }
        }
    }
}

/// Edges called implied hold without being listed (B25, B26, B51).
fn listed(ctx: &Ctx<'_, '_>, report: &mut Report) {
    for e in ctx.edges.iter().filter(|e| e.implied) {
        let region = ctx.f.lives[ctx.f.life_of[&e.to]].region;
        let Some(g) = ctx.graphs.get(&region) else { continue };
        let holds = waits(ctx.f, e.from, e.to, e.distance.into()).iter().all(|&(c, i, d)| g.implied(c, i, d));
        if !holds || !acquires(ctx.f, ctx.a, e.from, e.to) {
            let text = format!("the order {} -> {} at distance {} is not implied", e.from, e.to, e.distance);
            report.add("B51", &[e.from, e.to], text);
        }
    }
}

/// Every other use of a version comes before the op that overwrites it in place (B19).
fn overwrites(ctx: &Ctx<'_, '_>, report: &mut Report) {
    for life in &ctx.f.lives {
        for u in life.uses.iter().filter(|u| u.in_place) {
            let owner = |v: u64| ctx.f.owner.get(&v).map_or(v, |o| o.0);
            for x in life.uses.iter().filter(|x| owner(x.value) == owner(u.value) && x.op != u.op) {
                if !ctx.graphs[&life.region].implied(x.op, u.op, u.distance - x.distance) {
                    report.add(
                        "B19",
                        &life.members,
                        format!("op {} overwrites what op {} still reads", u.op, x.op),
                    );
                }
            }
        }
    }
}

/// The writes of a slot come one after the other, those too that nobody reads: of dead versions, and of the last turns
/// of a loop (B78).
fn rewrites(ctx: &Ctx<'_, '_>, report: &mut Report) {
    let f = ctx.f;
    // The least distance at which a value is listed to wait for its own write.
    let mut waits: BTreeMap<u64, i128> = BTreeMap::new();
    for e in ctx.edges.iter().filter(|e| e.from == e.to && !e.implied) {
        let least = waits.entry(e.from).or_insert(i128::MAX);
        *least = (*least).min(e.distance.into());
    }
    for life in f.lives.iter().filter(|l| f.ii(l.region).is_some()) {
        let (Some(p), Some(v)) = (life.producer, life.members.first().copied()) else { continue };
        let Some(r) = ctx.a.record(v).filter(|r| place(r).is_some()) else { continue };
        let depth = i128::from(r.depth);
        // A use of a turn that the next write's run has waits for the one and is waited for by the other.
        let read = life.uses.iter().any(|u| u.distance <= depth);
        let asked = waits.get(&v).is_some_and(|&d| d <= depth);
        if !read && !asked && !ctx.graphs[&life.region].implied(p, p, depth) {
            let text = format!("nothing orders the write of a version before that of {depth} turns later");
            report.add("B78", &life.members, text);
        }
    }
}

/// The members of a class on one ring of one region, where they are nothing else: whether that is what they are.
fn around(ctx: &Ctx<'_, '_>, m: &MergeClass, report: &mut Report) -> bool {
    let f = ctx.f;
    let lives: Vec<usize> =
        m.members.iter().map(|v| f.life_of[v]).collect::<BTreeSet<_>>().into_iter().collect();
    let region = f.lives[f.life_of[&m.class]].region;
    let ring = |v: u64| {
        let r = ctx.a.record(v)?;
        Some((place(r).map(|p| (p.start, p.stride, p.lanes))?, r.depth, r.slot_shift))
    };
    let first = ring(m.class).map(|x| (x.0, x.1));
    let plain = |k: &usize| {
        let life = &f.lives[*k];
        let own = life.members.iter().map(|&v| ring(v));
        let one = own.clone().all(|x| x.map(|x| (x.0, x.1)) == first)
            && own.clone().all(|x| x == ring(life.members[0]));
        let only = life.held.len() == 1 && matches!(life.held.get(&region), Some(Held::During(..)));
        one && only && life.region == region && life.layout.is_none()
    };
    if lives.len() < 3 || first.is_none() || !lives.iter().all(plain) {
        return false;
    }
    let members: Vec<ring::Member> = lives
        .iter()
        .map(|&k| &f.lives[k])
        .map(|l| ring::Member {
            start: l.start,
            end: l.end,
            shift: ring(l.members[0]).and_then(|x| x.2).unwrap_or(0).into(),
            solid: l.uses.iter().any(|u| u.distance == 0),
        })
        .collect();
    let depth = first.map_or(1, |x| i128::from(x.1.max(1)));
    for (u, w, all) in ring::asked(&members, f.ii(region), depth) {
        let name = |k: usize| f.lives[lives[k]].members[0];
        follows(ctx, region, name(u), name(w), &all, report);
    }
    true
}

/// Two owners whose slots may touch.
fn pair(ctx: &Ctx<'_, '_>, v: &Record, w: &Record, report: &mut Report) {
    let f = ctx.f;
    let (kv, kw) = (f.life_of[&v.value], f.life_of[&w.value]);
    let (Some(p), Some(q)) = (place(v), place(w)) else { return };
    if kv == kw || !(p.lanes[0] && q.lanes[0] || p.lanes[1] && q.lanes[1]) {
        return;
    }
    let residue = gcd(v.depth.max(1), w.depth.max(1)) as i128;
    let mut met: BTreeSet<i128> = BTreeSet::new();
    for i in 0..v.depth.max(1) {
        let x = p.start + i * p.stride;
        // Slots of w that begin below the end of this one and end above its start.
        let first = x.saturating_sub(q.start + q.bytes).checked_div(q.stride).unwrap_or(0);
        for j in first..w.depth.max(1) {
            let y = q.start + j * q.stride;
            if y >= x + p.bytes {
                break;
            }
            if x < y + q.bytes {
                let turn = |slot: u64, r: &Record| i128::from(slot) - i128::from(r.slot_shift.unwrap_or(0));
                met.insert((turn(j, w) - turn(i, v)).rem_euclid(residue));
            }
        }
    }
    if met.is_empty() {
        return;
    }
    let (a, b) = (&f.lives[kv], &f.lives[kw]);
    let mut regions: BTreeSet<usize> = a.held.keys().copied().collect();
    regions.extend(b.held.keys());
    let mut apart = true;
    for &r in &regions {
        if let (Some(x), Some(y)) = (a.held.get(&r), b.held.get(&r)) {
            apart = false;
            together(ctx, r, (v, a, *x), (w, b, *y), &met, residue, report);
        }
    }
    boundaries(ctx, (v, a), (w, b), apart, report);
}

type Side<'s> = (&'s Record, &'s Life, Held);

/// Two lifetimes on common bytes within one region.
fn together(
    ctx: &Ctx<'_, '_>,
    region: usize,
    (v, a, x): Side<'_>,
    (w, b, y): Side<'_>,
    met: &BTreeSet<i128>,
    residue: i128,
    report: &mut Report,
) {
    let f = ctx.f;
    let ids = [v.value, w.value];
    // They meet where they are live, if they do.
    if x == Held::Beside && y == Held::Beside {
        return;
    }
    let (Held::During(s, e), Held::During(t, g)) = (x, y) else {
        report.add("B51", &ids, "they share bytes and one of them is live all the time");
        return;
    };
    if f.no_sharing() && ctx.class.get(&ids[0]) != ctx.class.get(&ids[1]) {
        report.add("B57", &ids, "they share bytes although nothing may be shared");
    }
    match f.ii(region) {
        None => {
            let (first, second) = if e <= t { (v, w) } else { (w, v) };
            if e > t && g > s {
                report.add("B51", &ids, "they share bytes and their lifetimes overlap");
                return;
            }
            follows(ctx, region, first.value, second.value, &[0], report);
        }
        Some(ii) => {
            if a.region != region || b.region != region {
                report.add("B51", &ids, "they share bytes and one is live throughout the loop");
                return;
            }
            for &c in met {
                // Least m = c modulo the residue such that w of iteration i + m starts after v of i ends.
                let m = c + ceil(ceil(e - t, ii) - c, residue) * residue;
                if g + (m - residue) * ii > s {
                    report.add("B51", &ids, "they share bytes and their lifetimes overlap in a slot");
                    return;
                }
                follows(ctx, region, v.value, w.value, &distances(m, residue), report);
                let back = -c + ceil(ceil(g - s, ii) + c, residue) * residue;
                follows(ctx, region, w.value, v.value, &distances(back, residue), report);
            }
        }
    }
}

/// One order is ordered at every distance; between classes the least is listed too (B51, B57).
fn follows(ctx: &Ctx<'_, '_>, region: usize, from: u64, to: u64, all: &[i128], report: &mut Report) {
    let f = ctx.f;
    let g = &ctx.graphs[&region];
    for &d in all {
        let steps = waits(f, from, to, d);
        let ordered = !steps.is_empty() && steps.iter().all(|&(c, i, d)| g.implied(c, i, d));
        if !ordered {
            report.add("B51", &[from, to], format!("nothing orders {from} before {to} at distance {d}"));
        }
    }
    let d = all.first().copied().unwrap_or(0);
    let first = |v: u64| f.lives[f.life_of[&v]].members[0];
    // Neighbours of one ring are listed by `circle`; others rest on them. B26 is asked of what is
    // listed.
    let in_ring = ctx.class.get(&from) == ctx.class.get(&to) && f.values[&from].layout.is_none();
    if !in_ring && !ctx.listed.contains(&(first(from), first(to), d)) {
        report.add("B51", &[from, to], format!("the order {from} -> {to} at distance {d} is not listed"));
    }
}

/// Lifetimes of different regions on common bytes need the boundary between them drained (B55).
fn boundaries(
    ctx: &Ctx<'_, '_>,
    (v, a): (&Record, &Life),
    (w, b): (&Record, &Life),
    apart: bool,
    report: &mut Report,
) {
    let f = ctx.f;
    if apart && f.problem.repeat == Repeat::Overlapped {
        report.add(
            "B55",
            &[v.value, w.value],
            "turns overlap, so buffers of different regions may not overlay",
        );
    }
    let drained = |region: usize, x: u64, y: u64| {
        let id = f.region_id(region);
        let pair = [ctx.class.get(&x).copied(), ctx.class.get(&y).copied()].map(Option::unwrap_or_default);
        ctx.drained.contains(&(id, pair))
    };
    for ((x, p), (y, q)) in [((v, a), (w, b)), ((w, b), (v, a))] {
        for &r in p.held.keys() {
            let next = q.held.range(r + 1..).next().map(|n| *n.0);
            let Some(next) = next.filter(|n| !q.held.contains_key(&r) && !p.held.contains_key(n)) else {
                continue;
            };
            if !drained(next, x.value, y.value) {
                report.add(
                    "B55",
                    &[x.value, y.value],
                    format!("the boundary before region {} is not drained", f.region_id(next)),
                );
            }
            if f.problem.repeat == Repeat::Drained && !drained(0, y.value, x.value) {
                report.add("B55", &[y.value, x.value], "the boundary before the next turn is not drained");
            }
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
