//! Validation (B4): every refusal names the JSON path of the field at fault.

use super::canonical::Canonical;
use super::ids::{Ids, bad, find, index, time};
use super::limits::{Limits, resolve};
use super::ready;
use super::types::{Anchor, MAX_BYTES, MAX_DISTANCE, MEdge, MLayout, MLeaf, MOp, MPartition, MRegion, Model};
use super::values::values;
use crate::input::{AssignOptions, Exit, Problem, RegionKind, Space};
use crate::output::AssignError;
use std::collections::BTreeSet;

/// Validates a problem and resolves every id.
pub(crate) fn build<'a>(problem: &'a Problem, options: &'a AssignOptions) -> Result<Model<'a>, AssignError> {
    let limits = resolve(&problem.target)?;
    if !options.align_min.is_power_of_two() || options.align_min > MAX_BYTES {
        return Err(AssignError::invalid("options.align_min", "an alignment is a power of two"));
    }
    chips_only(&limits, options)?;
    let order = Canonical::of(problem);
    let (partitions, partition_ids) = partitions(problem, &order, &limits)?;
    let (mut regions, region_ids) = regions(problem)?;
    let (ops, op_ids) = ops(problem, &order, &mut regions, &region_ids, &partition_ids)?;
    let (layouts, layout_ids) = layouts(problem, &order)?;
    let (values, pipes) = values(problem, &limits, &order.values, &ops, &op_ids, &layouts, &layout_ids)?;
    let edges = edges(problem, &ops, &op_ids)?;
    let mut model = Model {
        problem,
        options,
        deadline: None,
        thorough: true,
        most_waits: usize::MAX,
        spare: vec![0; pipes.len()],
        limits,
        partitions,
        regions,
        ops,
        values,
        edges,
        layouts,
        pipes,
        reserved_smem: Vec::new(),
        reserved_tmem: Vec::new(),
        reserved_own: Vec::new(),
    };
    reserved(&mut model)?;
    ready::check(&model)?;
    Ok(model)
}

/// Options that speak of what only the built-in chips have are refused where they would be ignored.
fn chips_only(limits: &Limits, options: &AssignOptions) -> Result<(), AssignError> {
    if limits.machine.is_none() {
        return Ok(());
    }
    let refuse = |field: &str, why| Err(AssignError::invalid(format!("options.{field}"), why));
    if options.smem_limit.is_some() {
        return refuse(
            "smem_limit",
            "the spaces of a machine have sizes of their own: lower `bytes` in `target.spaces`",
        );
    }
    if options.preset.is_some() {
        return refuse("preset", "a preset speaks of the built-in chips");
    }
    Ok(())
}

fn partitions(
    problem: &Problem,
    order: &Canonical,
    limits: &Limits,
) -> Result<(Vec<MPartition>, Ids), AssignError> {
    let (list, ids) = index("partitions", &problem.partitions, &order.partitions, |a| a.id)?;
    let most = limits.max_threads.checked_div(limits.threads_per_warp).unwrap_or(0);
    let mut total = 0u64;
    for a in &list {
        if a.warps == 0 {
            return Err(bad("partitions", a.id, "warps", "a partition has at least one warp"));
        }
        total += u64::from(a.warps);
        if total > u64::from(most) {
            return Err(bad("partitions", a.id, "warps", format!("more than {most} warps in all")));
        }
    }
    Ok((list.iter().map(|a| MPartition { id: a.id, warps: a.warps }).collect(), ids))
}

/// Regions stay in program order, which is the order of the list.
fn regions(problem: &Problem) -> Result<(Vec<MRegion>, Ids), AssignError> {
    let all: Vec<usize> = (0..problem.regions.len()).collect();
    index("regions", &problem.regions, &all, |r| r.id)?;
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
        let early = is_loop && r.exit == Exit::Early;
        let (nest, inner) = (None, r.inside.is_some());
        out.push(MRegion { id: r.id, is_loop, ii, stages, early, nest, inner, ops: Vec::new() });
    }
    // A loop stands before what its body holds.
    for (k, r) in problem.regions.iter().enumerate() {
        if let Some(&outer) = r.inside.and_then(|i| ids.get(&i.region)) {
            let top = out[outer].nest.unwrap_or(outer);
            (out[outer].nest, out[k].nest) = (Some(top), Some(top));
        }
    }
    Ok((out, ids))
}

fn ops(
    problem: &Problem,
    order: &Canonical,
    regions: &mut [MRegion],
    region_ids: &Ids,
    partition_ids: &Ids,
) -> Result<(Vec<MOp>, Ids), AssignError> {
    let (list, ids) = index("ops", &problem.ops, &order.ops, |o| o.id)?;
    let mut out = Vec::with_capacity(list.len());
    for (k, o) in list.iter().enumerate() {
        let path = |f: &str| format!("ops[id={}].{f}", o.id);
        let partition = find(partition_ids, o.partition, || path("partition"))?;
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
        out.push(MOp { id: o.id, at, partition, latency, is_async: o.is_async });
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

fn layouts(problem: &Problem, order: &Canonical) -> Result<(Vec<MLayout>, Ids), AssignError> {
    let (list, ids) = index("layouts", &problem.layouts, &order.layouts, |l| l.id)?;
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

/// A space that the target has not.
fn no_space(path: String, space: Space) -> AssignError {
    AssignError::invalid(path, format!("the target has no space {space}"))
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
        let own = model.limits.machine.as_ref().map(|m| (m.space(r.space), m.spaces.len()));
        let list = match (r.space, own) {
            (_, Some((Some(space), spaces))) => {
                model.reserved_own.resize(spaces, Vec::new());
                &mut model.reserved_own[space]
            }
            (Space::Smem, None) => &mut model.reserved_smem,
            (Space::Tmem, None) => &mut model.reserved_tmem,
            _ => return Err(no_space(format!("reserved[{i}].space"), r.space)),
        };
        list.push((r.offset, r.bytes, r.name.clone()));
    }
    model.reserved_smem.sort();
    model.reserved_tmem.sort();
    model.reserved_own.iter_mut().for_each(|list| list.sort());
    Ok(())
}
