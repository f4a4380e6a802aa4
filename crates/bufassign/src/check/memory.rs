//! Places: alignment, stride, bounds, mbarriers, columns, descriptors, maps
//! (B12, B37..B45).

use super::barriers::required;
use super::description;
use super::facts::Facts;
use super::machine;
use super::report::Report;
use super::ways::way;
use crate::input::{Space, element_bits};
use crate::output::{Assignment, Class, Handshake, Lanes, MapEntry, MapKind, MergeClass, Record, SmemKind};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(f: &Facts<'_>, a: &Assignment, report: &mut Report) {
    let smem = shown(a.smem.map.iter().filter(|e| e.kind.is_none()));
    let tmem = shown(a.tmem.iter().flat_map(|t| &t.map));
    for m in &a.merge {
        let Some(first) = a.record(m.class) else { continue };
        let in_map = |map: &Shown| map.get(&m.class).cloned().unwrap_or_default();
        match first.class {
            Class::Smem => smem_class(f, a, m, &in_map(&smem), report),
            Class::Tmem => tmem_class(f, a, m, &in_map(&tmem), report),
            Class::Desc | Class::BarrierOnly => {}
        }
    }
    maps(f, a, report);
    mbarriers(f, a, report);
    totals(f, a, report);
    tmem_totals(f, a, report);
    descriptors(f, a, report);
}

/// First byte or column and size of the entries that show a class.
type Shown = BTreeMap<u64, Vec<(u64, u64)>>;

fn shown<'a>(entries: impl Iterator<Item = &'a MapEntry>) -> Shown {
    let mut all = Shown::new();
    for (class, e) in entries.filter_map(|e| Some((e.class?, e))) {
        all.entry(class).or_default().push((e.offset, e.bytes));
    }
    all
}

/// Alignment that one owner asks for in shared memory (B37).
pub(super) fn smem_align(f: &Facts<'_>, owner: u64) -> u64 {
    let mut align = f.options.align_min.max(machine::align(f));
    for v in f.family(owner) {
        let bits = v.element.as_deref().and_then(element_bits).unwrap_or(8);
        align = align.max(bits.div_ceil(8).next_power_of_two()).max(v.align).max(8 * v.swizzle);
    }
    f.roles(owner).into_iter().map(|r| way(f, r).align).fold(align, u64::max)
}

fn up(x: u64, align: u64) -> u64 {
    x.div_ceil(align.max(1)).saturating_mul(align.max(1))
}

/// A class in shared memory: padded stages, one alignment, inside the block (B37, B38, B40).
fn smem_class(f: &Facts<'_>, a: &Assignment, m: &MergeClass, in_map: &[(u64, u64)], report: &mut Report) {
    let layout = m.members.first().and_then(|v| f.values[v].layout);
    let layout = layout.and_then(|l| f.problem.layouts.iter().find(|x| x.id == l.id));
    let mut align = m.members.iter().map(|&v| smem_align(f, v)).max().unwrap_or(1);
    let stage = m.members.iter().map(|&v| f.stage_bytes(v)).max().unwrap_or(0);
    align = align.max(layout.map_or(1, |l| l.align));
    let own = machine::machine(f).map(description::ranges).unwrap_or_default();
    let space = a.record(m.class).and_then(|r| own.iter().find(|s| Some(s.name) == r.space));
    align = align.max(space.map_or(1, |s| s.align));
    let stride = up(stage, align);
    let bytes = layout.map_or(stride.saturating_mul(m.depth), |l| l.bytes);
    let mut bases = BTreeSet::new();
    for &v in &m.members {
        let Some(r) = a.record(v) else { continue };
        let (Some(offset), Some(found_stride), Some(found_bytes)) = (r.offset, r.stride, r.bytes) else {
            report.add("B10", &[v], "a value in shared memory has offset, stride and bytes");
            continue;
        };
        report.same("B10", v, "stage_bytes", &r.stage_bytes, &Some(f.stage_bytes(v)));
        report.same("B37", v, "align", &r.align, &Some(align));
        let (mut base, mut step) = (offset, stride);
        if let (Some(l), Some(at)) = (layout, f.values[&v].layout)
            && let Some(leaf) = l.leaves.get(at.leaf as usize)
        {
            let first = leaf.slots.first().copied().unwrap_or(0);
            base = offset.wrapping_sub(first);
            step = leaf.slots.get(1).map_or(leaf.bytes, |s| s.wrapping_sub(first));
            if leaf.bytes < f.stage_bytes(v) {
                report.add("B20", &[v], "its leaf is smaller than its stage");
            }
        }
        if base % align != 0
            || offset % smem_align(f, v) != 0
            || (r.depth > 1 && step % smem_align(f, v) != 0)
        {
            report.add("B37", &[v], format!("offset {offset} is not aligned to {align}"));
        }
        report.same("B38", v, "stride", &found_stride, &step);
        report.same("B38", v, "bytes", &found_bytes, &bytes);
        if base.checked_add(bytes).is_none_or(|end| end > a.smem.limit) {
            report.add("B40", &[v], format!("it ends past the capacity of {}", a.smem.limit));
        }
        bases.insert(base);
        for (from, size) in reserved(f, Space::Smem) {
            if base < from + size && from < base.saturating_add(bytes) {
                report.add("B56", &[v], format!("it lies in the reserved range at {from}"));
            }
        }
    }
    if bases.len() > 1 {
        report.add("B11", &m.members, "one class has one place");
    }
    if bases.len() == 1 && in_map != bases.iter().map(|&b| (b, bytes)).collect::<Vec<_>>() {
        report.add("B12", &m.members, "the map shows the class once, where its records say");
    }
}

/// Reserved ranges of a space; those of a machine's spaces, at their addresses, count as shared memory.
fn reserved(f: &Facts<'_>, space: Space) -> Vec<(u64, u64)> {
    let own = machine::machine(f).map(description::ranges).unwrap_or_default();
    let at = |r: &crate::input::Reserved| match own.iter().find(|s| Space::Own(s.name) == r.space) {
        Some(s) => (space == Space::Smem).then_some((s.base + r.offset, r.bytes)),
        None => (r.space == space).then_some((r.offset, r.bytes)),
    };
    f.problem.reserved.iter().filter(|r| r.bytes > 0).filter_map(at).collect()
}

/// Rows and columns of an owner's stage and the lanes they take (B42, B43).
fn tile(f: &Facts<'_>, v: u64) -> Option<(u64, bool)> {
    let value = f.values[&v];
    let (lanes, cell) = f.target.tmem.as_ref().map(|t| (u64::from(t.lanes), u64::from(t.cell_bits)))?;
    let bits = value.element.as_deref().and_then(element_bits).unwrap_or(cell);
    let (columns, rest) = value.shape.split_last()?;
    let (rows, leading) = rest.split_last()?;
    let per = (u128::from(*columns) * u128::from(bits)).div_ceil(cell.into());
    let all = leading.iter().fold(per, |n, &d| n.saturating_mul(d.into()));
    let half = *rows == lanes / 2;
    (half || *rows == lanes).then_some((u64::try_from(all).ok()?, half))
}

/// A class in tensor memory (B41..B44).
fn tmem_class(f: &Facts<'_>, a: &Assignment, m: &MergeClass, in_map: &[(u64, u64)], report: &mut Report) {
    let Some(plan) = &a.tmem else {
        report.add("B12", &m.members, "there is no plan for tensor memory");
        return;
    };
    let tiles: Vec<Option<(u64, bool)>> = m.members.iter().map(|&v| tile(f, v)).collect();
    let widest = tiles.iter().flatten().map(|t| t.0).max().unwrap_or(0);
    let half = tiles.iter().flatten().all(|t| t.1);
    let layout = m.members.first().and_then(|v| f.values[v].layout);
    let layout = layout.and_then(|l| f.problem.layouts.iter().find(|x| x.id == l.id));
    let least = f.target.tmem.as_ref().map_or(1, |t| u64::from(t.min_alloc));
    let align = widest.next_power_of_two().min(least);
    for (&v, tile) in m.members.iter().zip(&tiles) {
        let Some(t) = a.record(v).and_then(|r| r.tmem) else {
            report.add("B10", &[v], "a value in tensor memory has a place there");
            continue;
        };
        let Some(tile) = tile else {
            report.add("B42", &[v], "a tile has as many rows as there are lanes, or half");
            continue;
        };
        report.same("B42", v, "columns", &t.columns, &tile.0);
        let mut stride = up(widest, align);
        if let (Some(l), Some(at)) = (layout, f.values[&v].layout)
            && let Some(leaf) = l.leaves.get(at.leaf as usize)
        {
            stride = leaf.slots.get(1).map_or(leaf.bytes, |s| s - leaf.slots.first().copied().unwrap_or(0));
        }
        report.same("B44", v, "stride", &t.stride, &stride);
        let own_align = tile.0.next_power_of_two().min(least);
        if t.column % own_align != 0 {
            report.add("B44", &[v], format!("column {} is not aligned to {own_align}", t.column));
        }
        let depth = a.record(v).map_or(1, |r| r.depth);
        let end = t.column.saturating_add(stride.saturating_mul(depth.max(1) - 1)).saturating_add(t.columns);
        if end > plan.limit || end > plan.used {
            report.add("B44", &[v], format!("its columns end at {end}, past those in use"));
        }
        if (t.lanes == Lanes::All) == (half && layout.is_none()) {
            report.add("B43", &[v], "a tile of half the rows takes one lane set, another all lanes");
        }
        for x in f.problem.reserved.iter().filter(|x| x.space == Space::Tmem && x.bytes > 0) {
            if t.column < x.offset + x.bytes && x.offset < end {
                report.add("B56", &[v], format!("it lies in the reserved columns at {}", x.offset));
            }
        }
        let covers = in_map.iter().filter(|e| e.0 <= t.column && end <= e.0 + e.1).count();
        if covers != 1 {
            report.add("B12", &[v], "the map shows the class once, around its records");
        }
    }
}

/// The maps hold classes and reserved ranges and nothing else, in order (B12).
fn maps(f: &Facts<'_>, a: &Assignment, report: &mut Report) {
    for (space, map) in [(Space::Smem, Some(&a.smem.map)), (Space::Tmem, a.tmem.as_ref().map(|t| &t.map))] {
        let Some(map) = map else { continue };
        if !map
            .windows(2)
            .all(|w| (w[0].offset, w[0].region, w[0].class) <= (w[1].offset, w[1].region, w[1].class))
        {
            report.add("B12", &[], "the map is sorted by offset, region, class");
        }
        let classes: BTreeMap<u64, &MergeClass> = a.merge.iter().map(|m| (m.class, m)).collect();
        for e in map {
            match (e.kind, e.class) {
                (None, Some(c)) => {
                    let class = classes.get(&c);
                    let region = class.and_then(|m| {
                        m.members.iter().map(|v| f.lives[f.life_of[v]].region).min().map(|r| f.region_id(r))
                    });
                    if class.is_none() || e.region != region {
                        report.add("B12", &[c], "a map entry shows no class of the merge map in its region");
                    }
                }
                (Some(MapKind::Mbarrier), None) if space == Space::Smem => {}
                (Some(MapKind::Reserved), None) => {}
                _ => report.add("B12", &[], "a map entry is a class, mbarriers or reserved"),
            }
        }
        let ranges = |it: &mut dyn Iterator<Item = (u64, u64)>| it.collect::<BTreeSet<_>>();
        let shown = ranges(
            &mut map.iter().filter(|e| e.kind == Some(MapKind::Reserved)).map(|e| (e.offset, e.bytes)),
        );
        let asked: BTreeSet<(u64, u64)> = reserved(f, space).into_iter().collect();
        if shown != asked {
            report.add("B12", &[], "the map shows every reserved range");
        }
    }
}

/// mbarrier words behind the data, pipes ascending, full then empty (B27, B39).
fn mbarriers(f: &Facts<'_>, a: &Assignment, report: &mut Report) {
    let entry = a.smem.map.iter().find(|e| e.kind == Some(MapKind::Mbarrier));
    let counting = machine::machine(f).is_some();
    let mut next = entry.map_or(0, |e| e.offset);
    let mut pipes = Vec::new();
    let all: BTreeSet<u64> = f.life_of.keys().map(|&v| f.pipe(v)).collect();
    for pipe in all {
        let members = f.pipe_members(pipe);
        let (kind, _) = required(f, &members);
        let arrays = match kind {
            Handshake::Pair => 2,
            Handshake::Full => 1,
            _ => 0,
        };
        let slots = members.iter().filter_map(|&v| a.record(v)).map(|r| r.depth).max().unwrap_or(1);
        let load = |v: &u64| f.values[v].producer.is_some_and(|p| way(f, p.role).counted);
        let tx: u64 = members.iter().filter(|v| load(v)).map(|&v| f.stage_bytes(v)).sum();
        let word = u64::from(f.target.barriers.mbarrier_bytes);
        let array = if counting { 1 } else { word * slots };
        let (full, empty) = (next, next + array);
        for r in members.iter().filter_map(|&v| a.record(v)) {
            let v = r.value;
            report.same("B39", v, "pipe", &r.pipe, &(arrays > 0).then_some(pipe));
            report.same("B39", v, "full", &r.full, &(arrays > 0).then_some(full));
            report.same("B39", v, "empty", &r.empty, &(arrays > 1).then_some(empty));
            report.same("B39", v, "tx_bytes", &r.tx_bytes, &(arrays > 0 && tx > 0).then_some(tx));
        }
        if tx > u64::from(f.target.barriers.mbarrier_tx_bytes) && arrays > 0 {
            report.add("B39", &members, "more bytes per phase than an mbarrier counts");
        }
        if arrays > 0 {
            pipes.push(pipe);
        }
        next += array * arrays;
    }
    if counting {
        if next > f.target.barriers.named.into() || entry.is_some() {
            report.add("B82", &[], format!("rings need {next} semaphores, and no memory for them"));
        }
        return;
    }
    let data_end = a.records.iter().filter_map(data_end).max().unwrap_or(0);
    match entry {
        None if next > 0 => report.add("B39", &[], "the map shows no mbarriers"),
        None => {}
        Some(e) => {
            if e.offset % u64::from(f.target.barriers.mbarrier_bytes) != 0 || e.offset < data_end {
                report.add(
                    "B39",
                    &[],
                    format!("mbarriers at {} do not follow the data, which ends at {data_end}", e.offset),
                );
            }
            if e.bytes != next - e.offset || e.pipes != pipes {
                report.add(
                    "B39",
                    &[],
                    format!("{} bytes of mbarriers, required {}", e.bytes, next - e.offset),
                );
            }
            for x in f.problem.reserved.iter().filter(|x| x.space == Space::Smem && x.bytes > 0) {
                if e.offset < x.offset + x.bytes && x.offset < e.offset + e.bytes {
                    report.add("B56", &[], "mbarriers lie in a reserved range");
                }
            }
        }
    }
}

/// End of the storage of an owner's record in shared memory.
fn data_end(r: &Record) -> Option<u64> {
    if r.byte_offset.is_some() {
        return None;
    }
    let last = r.stride?.checked_mul(r.depth.max(1) - 1)?;
    r.offset?.checked_add(last)?.checked_add(r.stage_bytes?)
}

/// Limit, use, kind, alignment, residency of shared memory (B12, B13, B37, B40).
fn totals(f: &Facts<'_>, a: &Assignment, report: &mut Report) {
    let chip = f.target.smem.per_cta;
    let limit = f.options.smem_limit.map_or(chip, |l| l.min(chip));
    report.same("B40", 0, "smem.limit", &a.smem.limit, &limit);
    let ends = a.smem.map.iter().filter(|e| e.kind != Some(MapKind::Reserved)).map(|e| e.offset + e.bytes);
    report.same("B12", 0, "smem.used", &a.smem.used, &ends.max().unwrap_or(0));
    if a.smem.used > limit {
        report.add("B40", &[], format!("{} bytes of {limit}", a.smem.used));
    }
    let small = a.smem.used <= f.target.smem.per_cta_default;
    report.same(
        "B40",
        0,
        "smem.kind",
        &a.smem.kind,
        &if small { SmemKind::Static } else { SmemKind::Dynamic },
    );
    let words = a.smem.map.iter().any(|e| e.kind == Some(MapKind::Mbarrier));
    let aligns = a.records.iter().filter(|r| r.class == Class::Smem).filter_map(|r| r.align);
    let align = aligns.chain(words.then_some(f.target.barriers.mbarrier_bytes.into())).max().unwrap_or(1);
    report.same("B37", 0, "smem.align", &a.smem.align, &align);
    let block = a.smem.used + f.target.smem.reserved_per_cta;
    let blocks = f.target.smem.per_sm.checked_div(block).unwrap_or(0);
    report.same("B13", 0, "smem_blocks_per_sm", &a.occupancy.smem_blocks_per_sm, &blocks);
}

/// The allocation of tensor memory (B44).
fn tmem_totals(f: &Facts<'_>, a: &Assignment, report: &mut Report) {
    let any = a.records.iter().any(|r| r.class == Class::Tmem && r.byte_offset.is_none());
    let Some(plan) = &a.tmem else { return };
    let Some(chip) = &f.target.tmem else {
        report.add("B41", &[], "the chip has no tensor memory");
        return;
    };
    if !any {
        report.add("B12", &[], "a plan for tensor memory without a value in it");
    }
    report.same("B44", 0, "tmem.limit", &plan.limit, &u64::from(chip.columns));
    let ends = plan.map.iter().filter(|e| e.kind.is_none()).map(|e| e.offset + e.bytes);
    report.same("B12", 0, "tmem.used", &plan.used, &ends.max().unwrap_or(0));
    let sizes = std::iter::successors(Some(u64::from(chip.min_alloc)), |c| Some(2 * c));
    let allocated = sizes.take_while(|&c| c <= chip.columns.into()).find(|&c| c >= plan.used);
    report.same("B44", 0, "tmem.allocated", &Some(plan.allocated), &allocated);
    let blocks = u64::from(chip.columns).checked_div(plan.allocated);
    report.same("B13", 0, "tmem_blocks_per_sm", &a.occupancy.tmem_blocks_per_sm, &blocks);
}

/// One descriptor slot per root in first-seen order (B45).
fn descriptors(f: &Facts<'_>, a: &Assignment, report: &mut Report) {
    let mut slots: BTreeMap<u64, (u64, Option<u64>)> = BTreeMap::new();
    let step = up(f.target.descriptors.bytes.into(), f.target.descriptors.align_device_built.into());
    let mut workspace = 0;
    let of = |v: u64| f.owner.get(&v).map_or(v, |o| o.0);
    for r in a.records.iter().filter(|r| r.class == Class::Desc) {
        let owner = of(r.value);
        let n = slots.len() as u64;
        let e = slots.entry(f.values[&owner].root.unwrap_or(owner)).or_insert((n, None));
        if f.values[&owner].device_built && e.1.is_none() {
            e.1 = Some(workspace);
            workspace += step;
        }
    }
    for r in &a.records {
        let owner = of(r.value);
        let root = f.values[&owner].root.unwrap_or(owner);
        let required = slots.get(&root).filter(|_| r.class == Class::Desc);
        report.same("B45", r.value, "desc", &r.desc.map(|d| (d.slot, d.workspace)), &required.copied());
    }
    let used = slots.len() as u64;
    let limit = u64::from(f.target.descriptors.slots);
    if used > limit {
        report.add("B45", &[], format!("{used} descriptor slots of {limit}"));
    }
    let plan = a.desc.map(|d| (d.limit, d.used, d.workspace));
    report.same("B45", 0, "desc", &plan, &(used > 0).then_some((limit, used, workspace)));
}
