//! Validation (B4): every refusal names the JSON path of the field at fault.

use super::*;
use crate::input::{RegionKind, element_bits};
use crate::output::AssignError;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

type Ids = BTreeMap<u64, usize>;

fn bad(list: &str, id: u64, field: &str, why: impl Display) -> AssignError {
    AssignError::invalid(format!("{list}[id={id}].{field}"), why)
}

/// Sorts a list by id and indexes it; duplicates are refused.
fn index<'a, T>(
    list: &str,
    items: &'a [T],
    id: impl Fn(&T) -> u64,
) -> Result<(Vec<&'a T>, Ids), AssignError> {
    let mut sorted: Vec<&T> = items.iter().collect();
    sorted.sort_by_key(|x| id(x));
    let mut ids = Ids::new();
    for (k, x) in sorted.iter().enumerate() {
        if ids.insert(id(x), k).is_some() {
            return Err(bad(list, id(x), "id", "this id is used twice; ids are unique per list"));
        }
    }
    Ok((sorted, ids))
}

fn find(ids: &Ids, id: u64, path: impl FnOnce() -> String) -> Result<usize, AssignError> {
    ids.get(&id).copied().ok_or_else(|| AssignError::invalid(path(), format!("no entry has id {id}")))
}

fn time(x: u64, path: impl FnOnce() -> String) -> Result<i64, AssignError> {
    if x > MAX_TIME {
        return Err(AssignError::invalid(path(), format!("{x} cycles are more than {MAX_TIME}")));
    }
    Ok(x as i64)
}

/// Validates a problem and resolves every id.
pub(crate) fn build<'a>(problem: &'a Problem, options: &'a Options) -> Result<Model<'a>, AssignError> {
    let limits = resolve(&problem.target)?;
    if !options.align_min.is_power_of_two() || options.align_min > MAX_BYTES {
        return Err(AssignError::invalid("options.align_min", "an alignment is a power of two"));
    }
    let (agents, agent_ids) = agents(problem, &limits)?;
    let (mut regions, region_ids) = regions(problem)?;
    let (ops, op_ids) = ops(problem, &mut regions, &region_ids, &agent_ids)?;
    let (layouts, layout_ids) = layouts(problem)?;
    let (values, pipes) = values(problem, &ops, &op_ids, &layouts, &layout_ids)?;
    let edges = edges(problem, &ops, &op_ids)?;
    let mut model = Model {
        problem,
        options,
        limits,
        agents,
        regions,
        ops,
        values,
        edges,
        layouts,
        pipes,
        reserved_smem: Vec::new(),
        reserved_tmem: Vec::new(),
    };
    reserved(&mut model)?;
    ready::check(&model)?;
    Ok(model)
}

fn agents(problem: &Problem, limits: &Limits) -> Result<(Vec<MAgent>, Ids), AssignError> {
    let (list, ids) = index("agents", &problem.agents, |a| a.id)?;
    let most = limits.max_threads.checked_div(limits.threads_per_warp).unwrap_or(0);
    let mut total = 0u64;
    for a in &list {
        if a.warps == 0 {
            return Err(bad("agents", a.id, "warps", "an agent has at least one warp"));
        }
        total += u64::from(a.warps);
        if total > u64::from(most) {
            return Err(bad("agents", a.id, "warps", format!("more than {most} warps in all")));
        }
    }
    Ok((list.iter().map(|a| MAgent { warps: a.warps }).collect(), ids))
}

/// Regions stay in program order, which is the order of the list.
fn regions(problem: &Problem) -> Result<(Vec<MRegion>, Ids), AssignError> {
    index("regions", &problem.regions, |r| r.id)?;
    let mut out = Vec::new();
    let mut ids = Ids::new();
    for (k, r) in problem.regions.iter().enumerate() {
        let path = |f: &str| format!("regions[id={}].{f}", r.id);
        let is_loop = r.kind == RegionKind::Loop;
        let (ii, stages) = if is_loop {
            let ii = r.ii.ok_or_else(|| AssignError::invalid(path("ii"), "a loop has an II"))?;
            let stages = r.stages.ok_or_else(|| AssignError::invalid(path("stages"), "a loop has stages"))?;
            if ii == 0 {
                return Err(AssignError::invalid(path("ii"), "II is at least 1"));
            }
            if stages == 0 {
                return Err(AssignError::invalid(path("stages"), "a loop has at least one stage"));
            }
            time(ii.saturating_mul(stages), || path("stages"))?;
            (ii as i64, stages)
        } else {
            (1, 1)
        };
        ids.insert(r.id, k);
        let early = is_loop && r.exit == crate::input::Exit::Early;
        out.push(MRegion { id: r.id, is_loop, ii, stages, early, ops: Vec::new() });
    }
    Ok((out, ids))
}

fn ops(
    problem: &Problem,
    regions: &mut [MRegion],
    region_ids: &Ids,
    agent_ids: &Ids,
) -> Result<(Vec<MOp>, Ids), AssignError> {
    let (list, ids) = index("ops", &problem.ops, |o| o.id)?;
    let mut out = Vec::with_capacity(list.len());
    for (k, o) in list.iter().enumerate() {
        let path = |f: &str| format!("ops[id={}].{f}", o.id);
        let agent = find(agent_ids, o.agent, || path("agent"))?;
        let latency = time(o.latency, || path("latency"))?;
        let region = o.region.map(|r| find(region_ids, r, || path("region"))).transpose()?;
        let mut at = None;
        if let (Some(region), Some(cycle)) = (region, o.cycle) {
            let order =
                o.order.ok_or_else(|| AssignError::invalid(path("order"), "a placed op has a rank"))?;
            let cycle = time(cycle, || path("cycle"))?;
            let r = &mut regions[region];
            if r.is_loop && cycle >= r.ii {
                return Err(AssignError::invalid(path("cycle"), format!("not below the II {}", r.ii)));
            }
            if o.stage >= r.stages {
                let m = format!("stage {} of a region with {} stages", o.stage, r.stages);
                return Err(AssignError::invalid(path("stage"), m));
            }
            let stage = o.stage as i64;
            let t = if r.is_loop { stage * r.ii + cycle } else { cycle };
            at = Some(Anchor { region, stage, order, t });
            r.ops.push(k);
        }
        out.push(MOp { id: o.id, at, agent, latency, is_async: o.is_async });
    }
    for r in regions.iter_mut() {
        ranks(r, &out)?;
    }
    Ok((out, ids))
}

/// `order` is unique per region and non-decreasing in the cycle (B3).
fn ranks(region: &mut MRegion, ops: &[MOp]) -> Result<(), AssignError> {
    let mut keyed: Vec<(u64, i64, usize)> = Vec::with_capacity(region.ops.len());
    for &k in &region.ops {
        if let Some(at) = ops[k].at {
            let cycle = if region.is_loop { at.t % region.ii } else { at.t };
            keyed.push((at.order, cycle, k));
        }
    }
    keyed.sort_unstable();
    for w in keyed.windows(2) {
        let [(o1, c1, _), (o2, c2, k2)] = [w[0], w[1]];
        if o1 == o2 || c1 > c2 {
            let why = if o1 == o2 { "two ops have this rank" } else { "it runs against the cycles" };
            return Err(bad("ops", ops[k2].id, "order", format!("not a rank: {why}")));
        }
    }
    region.ops = keyed.into_iter().map(|(_, _, k)| k).collect();
    Ok(())
}

fn layouts(problem: &Problem) -> Result<(Vec<MLayout>, Ids), AssignError> {
    let (list, ids) = index("layouts", &problem.layouts, |l| l.id)?;
    let mut out = Vec::new();
    for l in &list {
        if !l.align.is_power_of_two() || l.align > MAX_BYTES {
            return Err(bad("layouts", l.id, "align", "an alignment is a power of two"));
        }
        if l.bytes > MAX_BYTES {
            return Err(bad("layouts", l.id, "bytes", format!("more than {MAX_BYTES}")));
        }
        let mut leaves = Vec::new();
        for (k, leaf) in l.leaves.iter().enumerate() {
            let field = format!("leaves[{k}]");
            let refuse = |why: &str| Err(bad("layouts", l.id, &field, why));
            let Some(&first) = leaf.slots.first() else { return refuse("a leaf has at least one slot") };
            if leaf.slots.len() > 1 << 16 {
                return refuse("more than 65536 slots");
            }
            let stride = match leaf.slots.get(1) {
                Some(&next) if next > first => next - first,
                Some(_) => return refuse("slots ascend"),
                None => leaf.bytes,
            };
            for (i, &at) in leaf.slots.iter().enumerate() {
                if Some(at) != stride.checked_mul(i as u64).and_then(|d| d.checked_add(first)) {
                    return refuse("slots are at a constant stride");
                }
                if at.checked_add(leaf.bytes).is_none_or(|end| end > l.bytes) {
                    return refuse("a slot runs past the layout's bytes");
                }
            }
            if leaf.slots.len() > 1 && stride < leaf.bytes {
                return refuse("slots of one leaf overlap");
            }
            leaves.push(MLeaf { bytes: leaf.bytes, first, stride, slots: leaf.slots.len() as u64 });
        }
        out.push(MLayout { space: l.space, bytes: l.bytes, align: l.align, leaves });
    }
    Ok((out, ids))
}

fn values<'a>(
    problem: &'a Problem,
    ops: &[MOp],
    op_ids: &Ids,
    layouts: &[MLayout],
    layout_ids: &Ids,
) -> Result<(Vec<MValue<'a>>, Vec<MPipe>), AssignError> {
    let (list, ids) = index("values", &problem.values, |v| v.id)?;
    let mut pipe_of: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let mut out: Vec<MValue<'a>> = Vec::with_capacity(list.len());
    for (k, &v) in list.iter().enumerate() {
        let path = |f: &str| format!("values[id={}].{f}", v.id);
        let refuse = |f: &str, why: String| Err(AssignError::invalid(path(f), why));
        if !v.align.is_power_of_two() || v.align > MAX_BYTES {
            return refuse("align", "an alignment is a power of two".into());
        }
        if !matches!(v.swizzle, 0 | 32 | 64 | 128) {
            return refuse("swizzle", format!("{} is none of 0, 32, 64, 128", v.swizzle));
        }
        if v.root.is_some() && v.view_of.is_some() {
            return refuse("root", "a view has no root of its own".into());
        }
        if v.view_of.is_some() && (v.live_in || v.live_out) {
            return refuse("view_of", "live_in and live_out stand on the owner, not on a view".into());
        }
        let producer = match &v.producer {
            Some(p) => {
                if !p.role.can_write() {
                    return refuse("producer.role", format!("{} does not write", p.role));
                }
                Some((find(op_ids, p.op, || path("producer.op"))?, p.role))
            }
            None if v.live_in || v.view_of.is_some() => None,
            None => return refuse("producer", "only a value that is live_in has no producer".into()),
        };
        let mut uses = Vec::with_capacity(v.consumers.len());
        for (i, c) in v.consumers.iter().enumerate() {
            let field = format!("consumers[{i}]");
            if !(0..=MAX_DISTANCE).contains(&c.distance) {
                return refuse(&format!("{field}.distance"), format!("not within 0..={MAX_DISTANCE}"));
            }
            if !c.role.can_read() {
                return refuse(&format!("{field}.role"), format!("{} does not read", c.role));
            }
            if c.in_place && c.distance > 1 {
                return refuse(&format!("{field}.in_place"), "in place at distance 0 or 1 only (B19)".into());
            }
            let op = find(op_ids, c.op, || path(&format!("{field}.op")))?;
            uses.push(MUse { op, role: c.role, distance: c.distance, in_place: c.in_place });
        }
        region_order(v.id, producer, &uses, ops)?;
        let view_of = v.view_of.map(|o| find(&ids, o, || path("view_of"))).transpose()?;
        let layout = match v.layout {
            Some(l) => {
                let at = find(layout_ids, l.id, || path("layout.id"))?;
                let leaf = usize::try_from(l.leaf).ok().filter(|&leaf| leaf < layouts[at].leaves.len());
                let leaf = leaf.ok_or_else(|| {
                    AssignError::invalid(path("layout.leaf"), "the layout has no such leaf")
                })?;
                Some((at, leaf))
            }
            None => None,
        };
        let (bits, bytes) = footprint(v, &path)?;
        pipe_of.entry(v.pipe.unwrap_or(v.id)).or_default().push(k);
        out.push(MValue { src: v, id: v.id, bits, bytes, producer, uses, view_of, pipe: 0, layout });
    }
    let mut pipes = Vec::new();
    for (id, values) in pipe_of {
        for &v in &values {
            out[v].pipe = pipes.len();
        }
        pipes.push(MPipe { id, values });
    }
    Ok((out, pipes))
}

/// A use comes in the producer's region or a later one (B4).
fn region_order(
    id: u64,
    producer: Option<(usize, Role)>,
    uses: &[MUse],
    ops: &[MOp],
) -> Result<(), AssignError> {
    let Some(from) = producer.and_then(|(p, _)| ops[p].at) else { return Ok(()) };
    for (i, u) in uses.iter().enumerate() {
        let Some(to) = ops[u.op].at else { continue };
        let path = format!("consumers[{i}]");
        if to.region < from.region {
            return Err(bad("values", id, &path, "a use in an earlier region than the producer"));
        }
        if to.region > from.region && u.distance > 0 {
            return Err(bad("values", id, &path, "a use in a later region has distance 0"));
        }
    }
    Ok(())
}

/// Bits of the element and bytes of one stage, in bits first (B6).
fn footprint(v: &Value, path: &impl Fn(&str) -> String) -> Result<(Option<u64>, u64), AssignError> {
    let bits =
        match &v.element {
            Some(e) => Some(element_bits(e).ok_or_else(|| {
                AssignError::invalid(path("element"), format!("unknown element type '{e}'"))
            })?),
            None => None,
        };
    if v.shape.contains(&0) {
        return Err(AssignError::invalid(path("shape"), "a dimension is 0"));
    }
    let signal = |r: Role| r == Role::Signal || r == Role::TmaDesc;
    let no_payload = v.view_of.is_none()
        && v.producer.iter().all(|p| signal(p.role))
        && v.consumers.iter().all(|c| signal(c.role));
    let computed = match bits {
        Some(bits) => v
            .shape
            .iter()
            .try_fold(bits, |n, &d| n.checked_mul(d))
            .map(|n| n.div_ceil(8))
            .filter(|&n| n <= MAX_BYTES)
            .ok_or_else(|| AssignError::invalid(path("shape"), "the footprint overflows"))?,
        None if v.shape.is_empty() => 0,
        None => return Err(AssignError::invalid(path("element"), "a shape needs an element type")),
    };
    let bytes = match v.bytes {
        Some(b) if b < computed => {
            let m = format!("{b} is below the footprint of {computed} bytes");
            return Err(AssignError::invalid(path("bytes"), m));
        }
        Some(b) if b > MAX_BYTES => {
            return Err(AssignError::invalid(path("bytes"), format!("more than {MAX_BYTES}")));
        }
        Some(b) => b,
        None => computed,
    };
    if bits.is_none() && v.bytes.is_none() && !no_payload {
        return Err(AssignError::invalid(
            path("element"),
            "a value with a payload has a shape and an element",
        ));
    }
    Ok((bits, bytes))
}

fn edges(problem: &Problem, ops: &[MOp], op_ids: &Ids) -> Result<Vec<MEdge>, AssignError> {
    let mut out = Vec::with_capacity(problem.edges.len());
    for (i, e) in problem.edges.iter().enumerate() {
        let src = find(op_ids, e.src, || format!("edges[{i}].src"))?;
        let dst = find(op_ids, e.dst, || format!("edges[{i}].dst"))?;
        if !(0..=MAX_DISTANCE).contains(&e.distance) {
            let m = format!("not within 0..={MAX_DISTANCE}");
            return Err(AssignError::invalid(format!("edges[{i}].distance"), m));
        }
        let (Some(a), Some(b)) = (ops[src].at, ops[dst].at) else {
            return Err(AssignError::invalid(format!("edges[{i}]"), "an end has no place in the schedule"));
        };
        if a.region > b.region {
            return Err(AssignError::invalid(format!("edges[{i}]"), "it runs to an earlier region"));
        }
        out.push(MEdge { src, dst, distance: e.distance });
    }
    out.sort_by_key(|e| (e.src, e.dst, e.distance));
    Ok(out)
}

fn reserved(model: &mut Model<'_>) -> Result<(), AssignError> {
    let mut seen: BTreeSet<(Space, u64, u64)> = BTreeSet::new();
    for (i, r) in model.problem.reserved.iter().enumerate() {
        let end = r.offset.checked_add(r.bytes).filter(|&e| e <= MAX_BYTES);
        if end.is_none() {
            return Err(AssignError::invalid(format!("reserved[{i}]"), "the range overflows"));
        }
        if r.bytes == 0 || !seen.insert((r.space, r.offset, r.bytes)) {
            continue;
        }
        let list = match r.space {
            Space::Smem => &mut model.reserved_smem,
            Space::Tmem => &mut model.reserved_tmem,
        };
        list.push((r.offset, r.bytes, r.name.clone()));
    }
    model.reserved_smem.sort();
    model.reserved_tmem.sort();
    Ok(())
}
