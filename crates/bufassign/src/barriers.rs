//! Phase 2: named barriers (B28..B33).

use crate::arcs::{Arc, disjoint};
use crate::handshake::Shake;
use crate::input::Repeat;
use crate::lifetime::{Lifetimes, describe};
use crate::mbarriers::semaphores;
use crate::model::Model;
use crate::order::Order;
use crate::orders::{least_distance, wraps};
use crate::output::{
    AssignError, BarrierMode, ErrorKind, NamedBarrier, PackVerdict, PoolHolder, PoolSlot, ValueInfo,
};

const PHASE: &str = "fails to assign named barrier";

/// A need for a barrier: one pipe and its arcs.
struct Holder {
    pipe: usize,
    /// Lowest value of the pipe that is not a view.
    value: usize,
    units: Vec<usize>,
    region: usize,
}

/// The result of phase 2.
pub(crate) struct Barriers {
    /// Barrier of each pipe.
    pub of_pipe: Vec<Option<NamedBarrier>>,
    pub pool: u32,
    /// Hardware ids of the first slots.
    pub ids: Vec<u32>,
    pub used: u32,
    pub recoloured: bool,
    /// Orders the sharing of slots relies on: (region, completing op, issuing op, distance).
    pub relied: Vec<(usize, usize, usize, i64)>,
    /// Holders of one slot in different regions, as values: (earlier region, later region, values).
    pub across: Vec<(usize, usize, [u64; 2])>,
    pub emittable: bool,
}

/// Why two holders cannot share a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Overlap,
    Order,
    Region,
}

/// Gives every pipe that needs one a slot of the pool (B29), recolouring if first-fit fails (B32).
pub(crate) fn assign(
    model: &Model<'_>,
    life: &Lifetimes,
    orders: &[Order],
    shakes: &[Shake],
) -> Result<Barriers, AssignError> {
    // What rings have taken is no barrier for others.
    let ids = model.limits.free_ids.get(semaphores(model, life, shakes)..).unwrap_or_default().to_vec();
    let pool = if model.options.is_tileiras() { 32 } else { ids.len() };
    let holders = holders(model, life, shakes);
    for h in &holders {
        threads(model, &shakes[h.pipe], h.value)?;
    }
    let shares = |a: usize, b: usize| compatible(model, life, orders, &holders[a], &holders[b]);
    let mut slots: Vec<Vec<usize>> = vec![Vec::new(); pool];
    let mut slot_of = vec![usize::MAX; holders.len()];
    let mut failed = None;
    for (h, bound) in slot_of.iter_mut().enumerate() {
        let fits = |s: &Vec<usize>| s.iter().all(|&other| shares(other, h).is_ok());
        let slot = slots.iter().position(Vec::is_empty).or_else(|| slots.iter().position(fits));
        match slot {
            Some(s) => {
                slots[s].push(h);
                *bound = s;
            }
            None => {
                failed = Some(h);
                break;
            }
        }
    }
    let mut recoloured = false;
    if let Some(h) = failed {
        let found = if model.options.may_recolour() {
            let late = || model.is_late();
            colour(holders.len(), pool, model.options.node_budget, &|a, b| shares(a, b).is_ok(), &late)
        } else {
            None
        };
        match found {
            Some(colours) => {
                slot_of = colours;
                recoloured = true;
            }
            None => return Err(exhausted(model, life, orders, &holders, &slots, h)),
        }
    }
    finish(model, life, orders, shakes, &holders, &slot_of, pool, ids, recoloured)
}

fn holders(model: &Model<'_>, life: &Lifetimes, shakes: &[Shake]) -> Vec<Holder> {
    let mut out = Vec::new();
    for (pipe, p) in model.pipes.iter().enumerate() {
        let mut own: Vec<usize> = p.values.iter().copied().filter(|&v| life.owner[v] == v).collect();
        own.sort_unstable();
        let Some(&value) = own.first().filter(|_| shakes[pipe].named) else { continue };
        let mut units: Vec<usize> = own.iter().map(|&v| life.unit_of[v]).collect();
        units.dedup();
        out.push(Holder { pipe, value, region: life.units[units[0]].region, units });
    }
    out.sort_by_key(|h| h.value);
    out
}

fn threads(model: &Model<'_>, shake: &Shake, value: usize) -> Result<u32, AssignError> {
    let warps: u32 = shake.partitions.iter().map(|&a| model.partitions[a].warps).sum();
    let threads = warps.saturating_mul(model.limits.threads_per_warp);
    if threads <= model.limits.max_threads {
        return Ok(threads);
    }
    let v = &model.values[value];
    let m = format!("{PHASE}: value {} '{}': {threads} threads at one barrier", v.id, v.src.name);
    let mut e = AssignError::new(ErrorKind::Limit, "B31", Some(2), m);
    (e.need, e.limit) = (Some(threads.into()), Some(model.limits.max_threads.into()));
    Err(e)
}

/// Whether two holders may have one slot, and the orders that relies on (B30).
fn compatible(
    model: &Model<'_>,
    life: &Lifetimes,
    orders: &[Order],
    a: &Holder,
    b: &Holder,
) -> Result<Vec<(usize, usize, i64)>, Block> {
    if a.region != b.region {
        let together =
            model.problem.repeat == Repeat::Overlapped || model.beside(a.region).any(|r| r == b.region);
        return if together { Err(Block::Region) } else { Ok(Vec::new()) };
    }
    let region = &model.regions[a.region];
    if region.inner {
        return Err(Block::Region);
    }
    let mut relied = Vec::new();
    for (&x, &y) in a.units.iter().flat_map(|x| b.units.iter().map(move |y| (x, y))) {
        let (u, v) = (&life.units[x], &life.units[y]);
        let arc = |u: &crate::lifetime::Unit| Arc { start: u.start, len: u.length() };
        let apart = if region.is_loop {
            disjoint(arc(u), arc(v), region.ii)
        } else {
            u.end <= v.start || v.end <= u.start
        };
        if !apart {
            return Err(Block::Overlap);
        }
        for (from, to) in [(u, v), (v, u)] {
            if !region.is_loop && from.start > to.start {
                continue;
            }
            let Some(p) = to.producer else { return Err(Block::Order) };
            let d = if region.is_loop { least_distance(from, to, 0, 1, region.ii) } else { 0 };
            for (d, (op, turn)) in wraps(d, 1).flat_map(|d| from.ends(d).map(move |end| (d, end))) {
                if !orders[a.region].implied(op, p, d - turn) {
                    return Err(Block::Order);
                }
                relied.push((op, p, d - turn));
            }
        }
    }
    Ok(relied)
}

/// The lexicographically least colouring in ascending holder order, by backtracking (B32).
fn colour(
    n: usize,
    pool: usize,
    budget: u64,
    shares: &dyn Fn(usize, usize) -> bool,
    late: &dyn Fn() -> bool,
) -> Option<Vec<usize>> {
    let table: Vec<Vec<bool>> = (0..n).map(|a| (0..a).map(|b| shares(b, a)).collect()).collect();
    let mut colours: Vec<usize> = Vec::with_capacity(n);
    let mut next = 0;
    for step in 0..budget {
        if step.is_multiple_of(1024) && late() {
            return None;
        }
        let h = colours.len();
        if h == n {
            return Some(colours);
        }
        // A colour above the highest in use differs from it in name only.
        let limit = colours.iter().max().map_or(1, |m| m + 2).min(pool);
        let free = |c: &usize| colours.iter().enumerate().all(|(o, k)| k != c || table[h][o]);
        match (next..limit).find(free) {
            Some(c) => {
                colours.push(c);
                next = 0;
            }
            None => next = colours.pop()? + 1,
        }
    }
    None
}

#[allow(clippy::too_many_arguments)]
fn finish(
    model: &Model<'_>,
    life: &Lifetimes,
    orders: &[Order],
    shakes: &[Shake],
    holders: &[Holder],
    slot_of: &[usize],
    pool: usize,
    ids: Vec<u32>,
    recoloured: bool,
) -> Result<Barriers, AssignError> {
    let mut out = Barriers {
        of_pipe: vec![None; model.pipes.len()],
        pool: pool as u32,
        ids,
        used: slot_of.iter().collect::<std::collections::BTreeSet<_>>().len() as u32,
        recoloured,
        relied: Vec::new(),
        across: Vec::new(),
        emittable: true,
    };
    for (a, h) in holders.iter().enumerate() {
        let slot = slot_of[a];
        let id = out.ids.get(slot).copied();
        out.emittable &= id.is_some();
        out.of_pipe[h.pipe] = Some(NamedBarrier {
            slot: slot as u32,
            id,
            threads: threads(model, &shakes[h.pipe], h.value)?,
            mode: mode(model, life, orders, &shakes[h.pipe], h),
        });
        for (b, other) in holders.iter().enumerate().skip(a + 1).filter(|&(b, _)| slot_of[b] == slot) {
            debug_assert!(b > a);
            if h.region == other.region {
                let relied = compatible(model, life, orders, h, other).unwrap_or_default();
                out.relied.extend(relied.into_iter().map(|(x, y, d)| (h.region, x, y, d)));
            } else {
                let pair =
                    [(h.region, model.values[h.value].id), (other.region, model.values[other.value].id)];
                let (first, second) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
                out.across.push((first.0, second.0, [first.1, second.1]));
            }
        }
    }
    Ok(out)
}

/// `arrive` only where every consumer has provably passed before the next arrival (B31).
fn mode(model: &Model<'_>, life: &Lifetimes, orders: &[Order], shake: &Shake, h: &Holder) -> BarrierMode {
    if !shake.producers.is_disjoint(&shake.consumers) || shake.consumers.is_empty() || h.units.len() != 1 {
        return BarrierMode::Sync;
    }
    let unit = &life.units[h.units[0]];
    let Some(p) = unit.producer else { return BarrierMode::Sync };
    if !model.regions[unit.region].is_loop {
        return if model.problem.repeat == Repeat::Overlapped || model.regions[unit.region].inner {
            BarrierMode::Sync
        } else {
            BarrierMode::Arrive
        };
    }
    let order = orders[unit.region].without_release(h.units[0]);
    let passed = unit.uses.iter().all(|u| order.implied(u.op, p, 1 - u.distance));
    if passed { BarrierMode::Arrive } else { BarrierMode::Sync }
}

/// The failure record of an exhausted pool (B33).
fn exhausted(
    model: &Model<'_>,
    life: &Lifetimes,
    orders: &[Order],
    holders: &[Holder],
    slots: &[Vec<usize>],
    h: usize,
) -> AssignError {
    let value = &model.values[holders[h].value];
    let (size, crowd) = largest_set(model, life, holders);
    let impossible = size > slots.len();
    let names: Vec<String> = crowd.iter().map(|&k| model.values[holders[k].value].id.to_string()).collect();
    let m = format!(
        "{PHASE}: value {} '{}': all {} slots are taken; {size} values are live at one cycle ({})",
        value.id,
        value.src.name,
        slots.len(),
        names.join(", ")
    );
    let mut e = AssignError::new(ErrorKind::BarrierPool, if impossible { "B29" } else { "B32" }, Some(2), m);
    e.value = Some(ValueInfo {
        id: value.id,
        name: value.src.name.clone(),
        start: None,
        end: None,
        length: None,
        depth: None,
    });
    describe(model, &life.units[holders[h].units[0]], &mut e);
    e.outcome = Some(if impossible { PackVerdict::Impossible } else { PackVerdict::Heuristic });
    (e.need, e.limit) = (Some(size.max(slots.len() + 1) as u64), Some(slots.len() as u64));
    e.load_bound = Some(size as u64);
    let holder = |k: usize| {
        holders[k].units.iter().map(move |&u| {
            let unit = &life.units[u];
            let r = &model.regions[unit.region];
            let start = if r.is_loop { unit.start.rem_euclid(r.ii) } else { unit.start };
            PoolHolder {
                value: model.values[unit.values[0]].id,
                region: r.id,
                start: start.unsigned_abs(),
                length: unit.length().unsigned_abs(),
            }
        })
    };
    e.barrier_pool = Some(
        slots
            .iter()
            .enumerate()
            .map(|(s, held)| {
                let blocked = held
                    .iter()
                    .find_map(|&o| compatible(model, life, orders, &holders[o], &holders[h]).err());
                PoolSlot {
                    slot: s as u32,
                    id: model.limits.free_ids.get(s).copied(),
                    holders: held.iter().flat_map(|&k| holder(k)).collect(),
                    blocked: blocked.map(|b| match b {
                        Block::Overlap => "overlap".into(),
                        Block::Order => "order".into(),
                        Block::Region => "region".into(),
                    }),
                }
            })
            .collect(),
    );
    e
}

/// The most holders that are live at one cycle of one region.
fn largest_set(model: &Model<'_>, life: &Lifetimes, holders: &[Holder]) -> (usize, Vec<usize>) {
    let live_at = |h: &Holder, region: usize, t: i64| {
        h.region == region
            && h.units.iter().any(|&u| {
                let unit = &life.units[u];
                let r = &model.regions[region];
                if r.is_loop {
                    (t - unit.start).rem_euclid(r.ii) < unit.length()
                } else {
                    unit.start <= t && t < unit.end
                }
            })
    };
    let mut best: Vec<usize> = Vec::new();
    for &u in holders.iter().flat_map(|h| &h.units) {
        let (region, t) = (life.units[u].region, life.units[u].start);
        let set: Vec<usize> = (0..holders.len()).filter(|&k| live_at(&holders[k], region, t)).collect();
        if set.len() > best.len() {
            best = set;
        }
    }
    (best.len(), best)
}
