//! The memory map on a terminal: space x time, and space x ring slot.

use super::axis::{WIDTH, axis, busy, caption, letter};
use crate::Assignment;
use crate::output::{Lanes, MapEntry, Record};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The memory map as text: one row per range of the offset map, lowest first, with its ring slots
/// and when in its region it is live.
pub fn memory_map(a: &Assignment) -> String {
    let mut out = String::new();
    let s = &a.smem;
    let optimal = if s.optimal { ", optimal" } else { "" };
    let _ = writeln!(
        out,
        "shared memory: {} of {} bytes ({}, align {}; no plan needs less than {}{optimal})",
        s.used,
        s.limit,
        format!("{:?}", s.kind).to_lowercase(),
        s.align,
        s.load_bound
    );
    table(&mut out, a, &s.map, ["offset", "bytes"]);
    if let Some(t) = &a.tmem {
        let optimal = if t.optimal { ", optimal" } else { "" };
        let _ = writeln!(
            out,
            "tensor memory: {} of {} columns, {} allocated (no plan needs less than {}{optimal})",
            t.used, t.limit, t.allocated, t.load_bound
        );
        table(&mut out, a, &t.map, ["column", "columns"]);
    }
    for s in a.fill.iter().flat_map(|f| &f.steps) {
        let values: Vec<String> = s.values.iter().map(u64::to_string).collect();
        let _ = writeln!(
            out,
            "a slot more for {}: {} bytes; if the copies of partition {} take twice their latency, readers wait {} cycles, not {}",
            values.join(", "),
            s.bytes,
            s.partition,
            s.left,
            s.wait
        );
    }
    if let Some(fill) = &a.fill {
        let _ = writeln!(out, "no further slot: {}", fill.ended);
    }
    for d in &a.drains {
        let pairs: Vec<String> = d.pairs.iter().map(|p| format!("{} before {}", p[0], p[1])).collect();
        let _ = writeln!(out, "drain before region {}: {}", d.before_region, pairs.join(", "));
    }
    out
}

/// The rows of a space by region, under what its offsets and sizes count.
fn table(out: &mut String, a: &Assignment, map: &[MapEntry], [offset, size]: [&str; 2]) {
    let regions: BTreeSet<u64> = a.records.iter().map(|r| r.region).collect();
    for region in &regions {
        let (ii, horizon) = axis(a, *region);
        let axis = match ii {
            Some(ii) => format!("loop, II {ii}"),
            None => format!("line, {horizon} cycles"),
        };
        let mut rows = String::new();
        for (n, e) in map.iter().enumerate() {
            if e.region.is_some_and(|r| r != *region) {
                continue;
            }
            let live = live(a, e, *region, ii, horizon);
            let bar: String = live.iter().map(|&b| if b { letter(n) } else { '.' }).collect();
            let lanes = match e.lanes {
                Some(Lanes::H0) => " lower lanes",
                Some(Lanes::H1) => " upper lanes",
                Some(Lanes::All) | None => "",
            };
            let _ = writeln!(rows, "  {:>8} {:>8} |{bar}| {}{lanes}", e.offset, e.bytes, caption(a, e));
            slots(&mut rows, a, e, n);
        }
        if !rows.is_empty() {
            let _ = writeln!(out, " region {region} ({axis})\n  {offset:>8} {size:>8}");
            out.push_str(&rows);
        }
    }
}

/// Members of an entry's class with storage of their own.
fn members<'a>(a: &'a Assignment, e: &MapEntry) -> Vec<&'a Record> {
    let class = a.merge.iter().find(|m| Some(m.class) == e.class);
    class.into_iter().flat_map(|m| &m.members).filter_map(|v| a.record(*v)).collect()
}

/// Cells of the time axis in which an entry is live.
fn live(a: &Assignment, e: &MapEntry, region: u64, ii: Option<u64>, horizon: u64) -> Vec<bool> {
    let mut row = vec![e.class.is_none(); usize::try_from(WIDTH).unwrap_or(0)];
    for r in members(a, e).into_iter().filter(|r| r.region == region) {
        let start = r.start[0].saturating_mul(ii.unwrap_or(0)).saturating_add(r.start[1]);
        let cells = if r.depth > 1 {
            busy(WIDTH, horizon, 0, horizon, None)
        } else {
            busy(WIDTH, horizon, start, r.length, ii)
        };
        row.iter_mut().zip(cells).for_each(|(a, b)| *a |= b);
    }
    row
}

/// One line per slot of a ring: which version sits there.
fn slots(out: &mut String, a: &Assignment, e: &MapEntry, n: usize) {
    let members = members(a, e);
    let Some(ring) = members.iter().find(|r| r.depth > 1) else { return };
    for slot in 0..ring.depth.min(16) {
        let who: Vec<String> = members
            .iter()
            .map(|r| {
                let shift = r.slot_shift.unwrap_or(0);
                let first = (slot + r.depth - shift % r.depth.max(1)) % r.depth.max(1);
                format!("{}[i = {first} mod {}]", r.name, r.depth)
            })
            .collect();
        let at = ring.offset.or(ring.tmem.map(|t| t.column)).unwrap_or(e.offset);
        let stride = ring.stride.or(ring.tmem.map(|t| t.stride)).unwrap_or(0);
        let _ = writeln!(
            out,
            "  {:>8} slot {slot:<3} |{}{slot}| {}",
            at + slot * stride,
            letter(n),
            who.join(", ")
        );
    }
    if ring.depth > 16 {
        let _ = writeln!(out, "           .. {} slots in all", ring.depth);
    }
}
