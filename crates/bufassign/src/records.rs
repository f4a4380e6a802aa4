//! Putting the answer together (B10..B13, B55).

mod merge;

use crate::classify::lanes;
use crate::input::{AccessRole, Proxy};
use crate::model::Model;
use crate::output::*;
use crate::packed::smem_limit;
use crate::place::Plot;
use crate::plan::Plan;
use merge::{drains, merge};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes that TMA brings per phase of a pipe.
pub(crate) fn tx_bytes(model: &Model<'_>, plan: &Plan, pipe: usize) -> Option<u64> {
    plan.mbarriers.of_pipe.get(pipe)?.as_ref()?;
    let loads = model.pipes[pipe].values.iter().filter(|&&v| {
        plan.life.owner[v] == v
            && model.values[v].producer.is_some_and(|p| model.limits.is(p.1, |r| r.counted))
    });
    let sum = loads.fold(0u64, |n, &v| n.saturating_add(model.values[v].bytes));
    (sum > 0).then_some(sum)
}

/// No plan for these classes can use less shared memory.
pub(crate) fn smem_load_bound(model: &Model<'_>, plan: &Plan) -> u64 {
    let m = &plan.mbarriers;
    if m.bytes == 0 {
        plan.smem.load_bound
    } else {
        plan.smem.load_bound.next_multiple_of(model.limits.mbarrier_bytes).saturating_add(m.bytes)
    }
}

/// Index of each plot among those of its own class.
fn positions(plan: &Plan) -> Vec<usize> {
    let mut seen: BTreeMap<Class, usize> = BTreeMap::new();
    plan.plots
        .iter()
        .map(|p| {
            let n = seen.entry(p.class).or_default();
            *n += 1;
            *n - 1
        })
        .collect()
}

/// Where a unit sits: its plot, the plot's index among those of its class, its index in the ring.
#[derive(Clone, Copy)]
struct Seat {
    plot: usize,
    position: usize,
    member: usize,
}

fn seats(plan: &Plan) -> Vec<Option<Seat>> {
    let at = positions(plan);
    let mut seats = vec![None; plan.life.units.len()];
    for (plot, p) in plan.plots.iter().enumerate() {
        for (member, &u) in p.ring.units.iter().enumerate() {
            seats[u] = Some(Seat { plot, position: at[plot], member });
        }
    }
    seats
}

fn offset_of(plan: &Plan, k: usize, position: usize) -> u64 {
    let placed = if plan.plots[k].class == Class::Smem { &plan.smem } else { &plan.tmem };
    placed.offsets.get(position).copied().unwrap_or(0)
}

fn upper(plan: &Plan, k: usize, position: usize) -> bool {
    plan.plots[k].class == Class::Tmem && plan.tmem.upper.get(position).copied().unwrap_or(false)
}

fn class_entries(model: &Model<'_>, plan: &Plan, class: Class) -> Vec<MapEntry> {
    let at = positions(plan);
    let mut map = Vec::new();
    for k in plan.of_class(class) {
        let p = &plan.plots[k];
        let region = p.ring.units.iter().map(|&u| plan.life.units[u].region).min().unwrap_or(0);
        map.push(MapEntry {
            offset: offset_of(plan, k, at[k]),
            bytes: p.bytes(),
            region: model.regions.get(region).map(|r| r.id),
            class: Some(p.id),
            kind: None,
            lanes: (class == Class::Tmem).then(|| lanes(p.half_lanes, upper(plan, k, at[k]))),
            pipes: Vec::new(),
            name: None,
        });
    }
    map
}

fn reserved_entries(list: &[(u64, u64, String)]) -> impl Iterator<Item = MapEntry> + '_ {
    list.iter().map(|(offset, bytes, name)| MapEntry {
        offset: *offset,
        bytes: *bytes,
        region: None,
        class: None,
        kind: Some(MapKind::Reserved),
        lanes: None,
        pipes: Vec::new(),
        name: Some(name.clone()),
    })
}

fn sorted(mut map: Vec<MapEntry>) -> Vec<MapEntry> {
    map.sort_by_key(|e| (e.offset, e.region, e.class, e.bytes));
    map
}

/// Every byte of shared memory, sorted by (offset, region, class) (B12).
pub(crate) fn smem_map(model: &Model<'_>, plan: &Plan) -> Vec<MapEntry> {
    let mut map = class_entries(model, plan, Class::Smem);
    map.extend(reserved_entries(&model.reserved_smem));
    let spaces = model.limits.machine.iter().flat_map(|m| &m.spaces);
    for (space, list) in spaces.zip(&model.reserved_own) {
        map.extend(reserved_entries(list).map(|e| MapEntry { offset: space.base + e.offset, ..e }));
    }
    if plan.mbarriers.bytes > 0 {
        let has = |p: &usize| plan.mbarriers.of_pipe[*p].is_some();
        let pipes = crate::mbarriers::by_id(model).into_iter().filter(has);
        map.push(MapEntry {
            offset: plan.mbarriers.offset,
            bytes: plan.mbarriers.bytes,
            region: None,
            class: None,
            kind: Some(MapKind::Mbarrier),
            lanes: None,
            pipes: pipes.map(|p| model.pipes[p].id).collect(),
            name: None,
        });
    }
    sorted(map)
}

/// Every column range of tensor memory.
pub(crate) fn tmem_map(model: &Model<'_>, plan: &Plan) -> Vec<MapEntry> {
    let mut map = class_entries(model, plan, Class::Tmem);
    map.extend(reserved_entries(&model.reserved_tmem));
    sorted(map)
}

/// The named-barrier pool and its holders.
pub(crate) fn pool(model: &Model<'_>, plan: &Plan) -> Vec<PoolSlot> {
    let mut slots: Vec<PoolSlot> = (0..plan.barriers.pool)
        .map(|slot| PoolSlot {
            slot,
            id: plan.barriers.ids.get(slot as usize).copied(),
            holders: Vec::new(),
            blocked: None,
        })
        .collect();
    for (pipe, b) in plan.barriers.of_pipe.iter().enumerate() {
        let Some(slot) = b.and_then(|b| slots.get_mut(b.slot as usize)) else { continue };
        for &v in &model.pipes[pipe].values {
            let unit = &plan.life.units[plan.life.unit_of[v]];
            let r = &model.regions[unit.region];
            let start = if r.is_loop { unit.start.rem_euclid(r.ii) } else { unit.start };
            slot.holders.push(PoolHolder {
                value: model.values[v].id,
                region: r.id,
                start: start.unsigned_abs(),
                length: unit.length().unsigned_abs(),
            });
        }
    }
    slots
}

/// The whole answer.
pub(crate) fn assemble(
    model: &Model<'_>,
    plan: &Plan,
    desc: (Vec<Option<DescPlace>>, Option<DescPlan>),
) -> Assignment {
    let limit = smem_limit(model);
    let used = plan.mbarriers.used;
    let align = plan.of_class(Class::Smem).iter().map(|&k| plan.plots[k].align).max();
    let align =
        align.unwrap_or(1).max(if plan.mbarriers.bytes > 0 { model.limits.mbarrier_bytes } else { 1 });
    let kind = if used <= model.limits.smem_static { SmemKind::Static } else { SmemKind::Dynamic };
    let tmem = tmem_plan(model, plan);
    let load_bound = smem_load_bound(model, plan);
    let seats = seats(plan);
    let mut records: Vec<Record> =
        (0..model.values.len()).map(|v| record(model, plan, v, desc.0[v], &seats)).collect();
    records.sort_unstable_by_key(|r| r.value);
    Assignment {
        name: model.problem.name.clone(),
        target: model.limits.name.clone(),
        ok: true,
        emittable: plan.emittable,
        records,
        merge: merge(model, plan),
        smem: SmemPlan {
            limit,
            used,
            load_bound,
            optimal: plan.smem.optimal || used == load_bound,
            kind,
            align,
            map: smem_map(model, plan),
        },
        occupancy: Occupancy {
            smem_blocks_per_sm: model
                .limits
                .smem_sm
                .checked_div(used.saturating_add(model.limits.block_reserve))
                .unwrap_or(0),
            tmem_blocks_per_sm: tmem.as_ref().and_then(|t| t.limit.checked_div(t.allocated)),
        },
        tmem,
        desc: desc.1,
        drains: drains(model, plan),
        barriers: BarrierUse {
            pool: plan.barriers.pool,
            used: plan.barriers.used,
            recoloured: plan.barriers.recoloured,
        },
        fill: None,
        notes: plan.notes.clone(),
    }
}

fn tmem_plan(model: &Model<'_>, plan: &Plan) -> Option<TmemPlan> {
    let t = model.limits.tmem?;
    if plan.of_class(Class::Tmem).is_empty() {
        return None;
    }
    let used = plan.tmem.peak;
    Some(TmemPlan {
        limit: t.columns,
        used,
        allocated: used.next_power_of_two().max(t.min_alloc),
        load_bound: plan.tmem.load_bound,
        optimal: plan.tmem.optimal
            && (plan.of_class(Class::Tmem).iter().all(|&k| !plan.plots[k].half_lanes)
                || used == plan.tmem.load_bound),
        map: tmem_map(model, plan),
    })
}

fn record(
    model: &Model<'_>,
    plan: &Plan,
    v: usize,
    desc: Option<DescPlace>,
    seats: &[Option<Seat>],
) -> Record {
    let value = &model.values[v];
    let owner = plan.life.owner[v];
    let k = plan.life.unit_of[v];
    let unit = &plan.life.units[k];
    let region = &model.regions[unit.region];
    let pipe = model.values[owner].pipe;
    let mut consumers: Vec<u64> = if v == owner {
        plan.life.family[v]
            .iter()
            .flat_map(|&w| model.values[w].uses.iter().map(|u| model.ops[u.op].id))
            .collect()
    } else {
        value.uses.iter().map(|u| model.ops[u.op].id).collect()
    };
    let mut seen = BTreeSet::new();
    consumers.retain(|c| seen.insert(*c));
    let plot = seats.get(k).copied().flatten();
    let depth = plan.depth[k].unsigned_abs();
    let words = plan.mbarriers.of_pipe[pipe];
    let whole_class = plan.decisions[k];
    let mut r = Record {
        value: value.id,
        name: value.src.name.clone(),
        region: region.id,
        producer: model.values[owner].producer.map(|p| model.ops[p.0].id),
        consumers,
        start: model.stage_cycle(unit.region, unit.start),
        end: model.stage_cycle(unit.region, unit.end),
        length: unit.length().unsigned_abs(),
        stages: region.stages,
        depth,
        pipelined: unit.pipelined || depth > 1,
        handshake: plan.shakes[pipe].kind,
        barrier: plan.barriers.of_pipe[pipe],
        class: whole_class.class,
        why: whole_class.why,
        space: model
            .limits
            .machine
            .as_ref()
            .filter(|_| whole_class.class == Class::Smem)
            .and_then(|m| Some(m.spaces.get(whole_class.space)?.name)),
        offset: None,
        stage_bytes: None,
        stride: None,
        bytes: None,
        align: None,
        tmem: None,
        desc,
        pipe: words.map(|_| model.pipes[pipe].id),
        full: words.map(|w| w.full),
        empty: words.and_then(|w| w.empty),
        tx_bytes: tx_bytes(model, plan, pipe),
        proxy_fence: whole_class.class == Class::Smem && proxy_fence(model, plan, owner),
        parent: model.values[owner].id,
        slot_shift: None,
        last_slot: None,
        byte_offset: (v != owner).then(|| plan.life.offset[v]),
    };
    if let Some(p) = plot {
        place_record(model, plan, v, p, &mut r);
    }
    let kept = unit.values.iter().any(|&w| model.values[w].src.live_out);
    if kept || unit.elsewhere.iter().any(|e| e.0 > unit.region) {
        let shift = r.slot_shift.unwrap_or(0) as i64;
        r.last_slot = Some(LastSlot { add: shift - 1, modulo: depth });
    }
    r
}

/// The storage fields of a record.
fn place_record(model: &Model<'_>, plan: &Plan, v: usize, seat: Seat, r: &mut Record) {
    let Seat { plot: p, position, member } = seat;
    let plot: &Plot = &plan.plots[p];
    let owner = plan.life.owner[v];
    let unit = plan.life.unit_of[v];
    let base = offset_of(plan, p, position);
    let shared_ring = plot.layout.is_none() && plot.ring.units.len() > 1 && plan.depth[unit] > 1;
    let shift = plot.ring.shifts[member];
    r.slot_shift = shared_ring.then(|| shift.unsigned_abs());
    r.parent = plot.id;
    let leaf = model.values[owner].layout.and_then(|(l, leaf)| model.layouts[l].leaves.get(leaf));
    let (offset, stride) = match leaf {
        Some(leaf) => (base + leaf.first, leaf.stride),
        None => (base, plot.stride()),
    };
    if plot.class == Class::Smem {
        r.offset = Some(offset + plan.life.offset[v]);
        r.stage_bytes = Some(model.values[v].bytes);
        r.stride = Some(stride);
        r.bytes = Some(plot.bytes());
        r.align = Some(plot.align);
    } else {
        let columns = crate::classify::tmem_tile(model, owner).map_or(plot.size, |t| t.0);
        r.tmem = Some(TmemPlace {
            column: offset,
            columns,
            stride,
            lanes: lanes(plot.half_lanes, upper(plan, p, position)),
        });
        r.stage_bytes = Some(model.values[v].bytes);
    }
}

/// A generic write that the async proxy reads (B10).
fn proxy_fence(model: &Model<'_>, plan: &Plan, owner: usize) -> bool {
    let all = || plan.life.family[owner].iter().copied();
    let by = |role: AccessRole, proxy: Proxy| model.limits.is(role, |r| r.proxy == Some(proxy));
    let writes = all().filter_map(|w| model.values[w].producer).any(|p| by(p.1, Proxy::Generic));
    writes && all().flat_map(|w| &model.values[w].uses).any(|u| by(u.role, Proxy::Async))
}
