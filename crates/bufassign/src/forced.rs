//! Storage that must be shared: chains of one root, and the author's layouts (B20, B48).

use crate::arcs::{Arc, disjoint};
use crate::handshake::Shake;
use crate::input::Repeat;
use crate::lifetime::{Lifetimes, describe, fail};
use crate::model::Model;
use crate::orders::{Orders, SlotOrder, least_distance, wraps};
use crate::output::{AssignError, ErrorKind};
use crate::ring::Ring;
use std::collections::{BTreeMap, BTreeSet};

/// Units that must share storage from the start.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub ring: Ring,
    pub layout: Option<usize>,
    pub slot_orders: Vec<SlotOrder>,
}

/// Groups units by root and by layout and orders them.
///
/// # Errors
/// `ChainUnordered`, `AliasLive` or `OverwrittenBeforeRead`, all of them.
pub(crate) fn groups(
    model: &Model<'_>,
    life: &Lifetimes,
    orders: &mut Orders,
    shakes: &[Shake],
) -> Result<Vec<Group>, AssignError> {
    let mut errors = Vec::new();
    overwritten(model, life, orders, &mut errors);
    let payloads = (0..model.values.len()).filter(|&v| !model.is_signal(v));
    let stored: BTreeSet<Option<u64>> = payloads.map(|v| model.values[v].src.root).collect();
    let mut keyed: BTreeMap<(u64, Option<usize>, Option<usize>), Vec<usize>> = BTreeMap::new();
    for (k, u) in life.units.iter().enumerate() {
        let v = &model.values[u.values[0]];
        let key = match v.layout {
            Some((l, _)) => (0, Some(l), None),
            // Where all of a root are signals, there is no storage to share.
            None if !stored.contains(&v.src.root) => (v.src.root.unwrap_or(0), None, Some(k)),
            None => (v.src.root.unwrap_or(0), None, None),
        };
        keyed.entry(key).or_default().push(k);
    }
    let mut keyed: Vec<_> = keyed.into_iter().map(|((_, layout, _), units)| (layout, units)).collect();
    keyed.sort_by_key(|(_, units)| units[0]);
    let mut out: Vec<Group> = Vec::new();
    for (layout, units) in keyed {
        let group = match layout {
            Some(l) => layout_group(model, life, orders, shakes, l, &units),
            None => chain(model, life, orders, shakes, &units),
        };
        match group {
            Ok(g) => out.push(g),
            Err(e) => errors.push(e),
        }
    }
    if let Some(e) = AssignError::collect(errors) {
        return Err(e);
    }
    out.sort_by_key(|g| g.ring.units.iter().min().copied());
    Ok(out)
}

/// Every other use of a version comes before the op that overwrites it in place (B19).
fn overwritten(model: &Model<'_>, life: &Lifetimes, orders: &Orders, errors: &mut Vec<AssignError>) {
    for unit in &life.units {
        for u in &unit.uses {
            let of = &model.values[u.value];
            if !of.uses.iter().any(|m| m.op == u.op && m.in_place && m.distance == u.distance) {
                continue;
            }
            let owner = life.owner[u.value];
            for other in unit.uses.iter().filter(|x| life.owner[x.value] == owner) {
                if other.op == u.op && other.distance == u.distance {
                    continue;
                }
                let before = orders.graphs[unit.region].implied(other.op, u.op, u.distance - other.distance);
                if !before {
                    let why = format!(
                        "op {} reads a version that op {} overwrites in place, and nothing orders them",
                        model.ops[other.op].id, model.ops[u.op].id
                    );
                    let mut e = fail(model, ErrorKind::OverwrittenBeforeRead, "B19", owner, why);
                    describe(model, unit, &mut e);
                    errors.push(e);
                }
            }
        }
    }
}

/// One joint ring per region for the values of a root, all of the same depth (B20).
fn chain(
    model: &Model<'_>,
    life: &Lifetimes,
    orders: &mut Orders,
    shakes: &[Shake],
    units: &[usize],
) -> Result<Group, AssignError> {
    let first = units[0];
    let own = orders.depth[first];
    if units.len() == 1 {
        return Ok(Group { ring: Ring::single(first, own), layout: None, slot_orders: Vec::new() });
    }
    // Descriptors of one root are one slot that nobody rewrites: nothing to order.
    let descriptor = |k: &usize| {
        let u = &life.units[*k];
        u.values.iter().all(|&v| model.roles(v).all(|r| model.limits.is(r, |r| r.descriptor)))
    };
    if units.iter().all(descriptor) {
        let ring = Ring { units: units.to_vec(), shifts: vec![0; units.len()], depth: 1 };
        return Ok(Group { ring, layout: None, slot_orders: Vec::new() });
    }
    let refuse = |why: &str| {
        let mut e = fail(model, ErrorKind::ChainUnordered, "B20", life.units[first].values[0], why);
        describe(model, &life.units[first], &mut e);
        e
    };
    let mut by_region: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &k in units {
        by_region.entry(life.units[k].region).or_default().push(k);
        let u = &life.units[k];
        let blocked = units.iter().any(|&o| {
            o != k && crate::place::live_in(&life.units[o], u.region) && u.region != life.units[o].region
        });
        if blocked {
            return Err(refuse("a value of its root is live in another one's region"));
        }
    }
    let nested = by_region.keys().any(|&r| model.beside(r).any(|o| by_region.contains_key(&o)));
    let overlapped = model.problem.repeat == Repeat::Overlapped || nested;
    if overlapped && by_region.len() > 1 {
        return Err(refuse("values of its root live in several regions and turns of them overlap"));
    }
    if by_region.values().any(|l| l.len() > 1 && l.iter().any(|&k| life.units[k].whole)) {
        return Err(refuse("a value of its root is live throughout the region"));
    }
    let low = units.iter().map(|&k| orders.depth[k]).max().unwrap_or(1);
    let high = units.iter().map(|&k| orders.depth[k]).sum::<i64>() + units.len() as i64 - 1;
    // The next version stands in the same bytes (B19), which it would not in the next slot of a ring.
    let in_place = |&k: &usize| life.units[k].carried && model.regions[life.units[k].region].is_loop;
    let high = if units.iter().any(in_place) { 1 } else { high };
    if low > high {
        return Err(refuse("a value of its root is updated in place, in one slot, and another needs more"));
    }
    let orders_depth = orders.depth.clone();
    // Values of one pipe have one depth (B21): a value outside the chain keeps the one that it has.
    let piped = |dc: i64| {
        let mut pipes = units.iter().flat_map(|&k| &life.units[k].values).map(|&v| model.values[v].pipe);
        pipes.all(|p| {
            let mut mates = model.pipes[p].values.iter().map(|&v| life.unit_of[v]);
            mates.all(|k| units.contains(&k) || life.units[k].carried || orders_depth[k] == dc)
        })
    };
    'depth: for dc in low..=high {
        if !piped(dc) {
            continue;
        }
        let saved = orders.clone();
        let (mut ring, mut slot_orders) =
            (Ring { units: Vec::new(), shifts: Vec::new(), depth: dc }, Vec::new());
        for (&region, members) in &by_region {
            let r = &model.regions[region];
            let dc_here = if r.is_loop { dc } else { 1 };
            let part = if r.is_loop { Ring::at_depth(life, members, dc, r.ii) } else { line(life, members) };
            let Some(part) = part else {
                *orders = saved;
                continue 'depth;
            };
            let mut over = part.slot_orders(life, r.ii, r.is_loop);
            if !orders.settle(model, life, shakes, region, (members, dc_here), &mut over, true) {
                *orders = saved;
                continue 'depth;
            }
            slot_orders.extend(part.listed(over));
            ring.units.extend(part.units);
            ring.shifts.extend(part.shifts);
        }
        return Ok(Group { ring, layout: None, slot_orders });
    }
    Err(refuse("no ring of any depth gives its values disjoint lifetimes in a sound order"))
}

/// Units of a line, if their lifetimes are disjoint.
fn line(life: &Lifetimes, units: &[usize]) -> Option<Ring> {
    let mut spans: Vec<(i64, i64)> =
        units.iter().map(|&k| (life.units[k].start, life.units[k].end)).collect();
    spans.sort_unstable();
    let apart = spans.windows(2).all(|w| w[0].1 <= w[1].0);
    apart.then(|| Ring { units: units.to_vec(), shifts: vec![0; units.len()], depth: 1 })
}

/// Tests an author's claim that slots may share bytes (B20).
fn layout_group(
    model: &Model<'_>,
    life: &Lifetimes,
    orders: &mut Orders,
    shakes: &[Shake],
    layout: usize,
    units: &[usize],
) -> Result<Group, AssignError> {
    let mut slot_orders = Vec::new();
    for (i, &a) in units.iter().enumerate() {
        for &b in &units[..i] {
            let over = shared_slots(model, life, layout, b, a)?;
            for mut h in over {
                let region = life.units[a].region;
                let one = std::slice::from_mut(&mut h);
                if !orders.settle(model, life, shakes, region, (&[], 1), one, true) {
                    return Err(alias_live(model, life, b, a, "nothing can order one before the other"));
                }
                slot_orders.push(h);
            }
        }
    }
    let depth = units.iter().map(|&k| orders.depth[k]).max().unwrap_or(1);
    let ring = Ring { units: units.to_vec(), shifts: vec![0; units.len()], depth };
    Ok(Group { ring, layout: Some(layout), slot_orders })
}

/// The orders that slots of two units need where their bytes overlap.
fn shared_slots(
    model: &Model<'_>,
    life: &Lifetimes,
    layout: usize,
    a: usize,
    b: usize,
) -> Result<Vec<SlotOrder>, AssignError> {
    let (u, v) = (&life.units[a], &life.units[b]);
    let leaf = |k: usize| {
        let value = life.units[k].values[0];
        model.values[value].layout.and_then(|(_, leaf)| model.layouts[layout].leaves.get(leaf))
    };
    let (Some(x), Some(y)) = (leaf(a), leaf(b)) else { return Ok(Vec::new()) };
    let touches = |i: u64, j: u64| {
        let (p, q) = (x.first + i * x.stride, y.first + j * y.stride);
        p < q + y.bytes && q < p + x.bytes
    };
    let mut pairs = Vec::new();
    for i in 0..x.slots {
        for j in 0..y.slots {
            if touches(i, j) {
                pairs.push((i as i64, j as i64));
            }
        }
    }
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    if u.region != v.region {
        let live = crate::place::live_in(u, v.region)
            || crate::place::live_in(v, u.region)
            || model.problem.repeat == Repeat::Overlapped
            || model.beside(u.region).any(|r| r == v.region);
        return if live {
            Err(alias_live(model, life, a, b, "one is live in the other's region"))
        } else {
            Ok(Vec::new())
        };
    }
    let r = &model.regions[u.region];
    if u.whole || v.whole {
        return Err(alias_live(model, life, a, b, "one is live throughout the region"));
    }
    if !r.is_loop {
        let (first, second) = if u.end <= v.start { (a, b) } else { (b, a) };
        if life.units[first].end > life.units[second].start {
            return Err(alias_live(model, life, a, b, "their lifetimes overlap"));
        }
        return Ok(vec![SlotOrder { from: first, to: second, distance: 0, implied: false }]);
    }
    let (dx, dy) = (x.slots as i64, y.slots as i64);
    let mut over: Vec<SlotOrder> = Vec::new();
    for &(i, j) in &pairs {
        // Version m of u sits in slot i iff m = i mod dx; likewise for v.
        let g = gcd(dx, dy);
        let period = (dx / g).saturating_mul(dy);
        if period > 1 << 16 {
            return Err(alias_live(model, life, a, b, "the rings' common period is too long to check"));
        }
        let circle = period.saturating_mul(r.ii);
        for m in (i..period).step_by(dx as usize) {
            for n in (j..period).step_by(dy as usize) {
                let first = Arc { start: u.start + m * r.ii, len: u.length() };
                let second = Arc { start: v.start + n * r.ii, len: v.length() };
                if !disjoint(first, second, circle) {
                    return Err(alias_live(model, life, a, b, "their lifetimes overlap in a common slot"));
                }
            }
        }
        // The next version of the other that may follow: d = j - i modulo the common divisor.
        for (from, to, diff) in [(a, b, j - i), (b, a, i - j)] {
            let least = least_distance(&life.units[from], &life.units[to], diff.rem_euclid(g), g, r.ii);
            for distance in wraps(least, g) {
                let h = SlotOrder { from, to, distance, implied: false };
                if !over.contains(&h) {
                    over.push(h);
                }
            }
        }
    }
    Ok(over)
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

fn alias_live(model: &Model<'_>, life: &Lifetimes, a: usize, b: usize, why: &str) -> AssignError {
    let (u, v) = (&life.units[a], &life.units[b]);
    let place = |u: &crate::lifetime::Unit| {
        let (s, e) = (model.stage_cycle(u.region, u.start), model.stage_cycle(u.region, u.end));
        format!("({}, {}) to ({}, {})", s[0], s[1], e[0], e[1])
    };
    let text = format!(
        "the layout lets it share bytes with value {} '{}', but {why}: {} against {}",
        model.values[v.values[0]].id,
        model.values[v.values[0]].src.name,
        place(u),
        place(v)
    );
    let mut e = fail(model, ErrorKind::AliasLive, "B20", u.values[0], text);
    describe(model, u, &mut e);
    e
}
