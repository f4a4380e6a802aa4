//! The barrier chart on a terminal.

use super::axis::{WIDTH, axis, busy};
use crate::Assignment;
use crate::output::{Class, Record};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Handshakes as text: named-barrier slots with their holders over time, then mbarrier pipes.
pub fn barriers(a: &Assignment) -> String {
    let mut out = String::new();
    let recoloured = if a.barriers.recoloured { ", recoloured" } else { "" };
    let _ = writeln!(out, "named barriers: {} of {} slots{recoloured}", a.barriers.used, a.barriers.pool);
    let mut slots: BTreeMap<u32, Vec<&Record>> = BTreeMap::new();
    let mut pipes: BTreeMap<u64, Vec<&Record>> = BTreeMap::new();
    for r in a.records.iter().filter(|r| r.byte_offset.is_none()) {
        if let Some(b) = r.barrier {
            slots.entry(b.slot).or_default().push(r);
        }
        if let Some(p) = r.pipe {
            pipes.entry(p).or_default().push(r);
        }
    }
    for (slot, holders) in &slots {
        for r in holders {
            let Some(b) = r.barrier else { continue };
            let (ii, horizon) = axis(a, r.region);
            let start = r.start[0].saturating_mul(ii.unwrap_or(0)).saturating_add(r.start[1]);
            let cells = busy(WIDTH, horizon, start, r.length, ii);
            let bar: String = cells.iter().map(|&b| if b { '#' } else { '.' }).collect();
            let id = b.id.map_or("(no id)".to_string(), |id| format!("(id {id})"));
            let _ = writeln!(
                out,
                "  slot {slot:>2} {id:<7} region {} |{bar}| {} ({} threads, {})",
                r.region,
                r.name,
                b.threads,
                format!("{:?}", b.mode).to_lowercase()
            );
        }
    }
    if !pipes.is_empty() {
        let _ = writeln!(out, "mbarriers:");
    }
    for (pipe, members) in &pipes {
        let names: Vec<&str> = members.iter().map(|r| r.name.as_str()).collect();
        let Some(r) = members.first() else { continue };
        let empty = r.empty.map_or(String::new(), |e| format!(", empty at {e}"));
        let tx = r.tx_bytes.map_or(String::new(), |t| format!(", {t} bytes per phase"));
        let _ = writeln!(
            out,
            "  pipe {pipe:>2} x{:<3} full at {}{empty}{tx}: {}",
            r.depth,
            r.full.unwrap_or(0),
            names.join(" + ")
        );
    }
    for m in &a.merge {
        for e in &m.edges {
            let how = if e.implied { "implied" } else { "wait to emit" };
            let _ = writeln!(
                out,
                "  order: {} releases before {} is written {} iterations later ({how})",
                name(a, e.from),
                name(a, e.to),
                e.distance
            );
        }
    }
    out
}

fn name(a: &Assignment, v: u64) -> String {
    match a.record(v) {
        Some(r) if !r.name.is_empty() && r.class != Class::BarrierOnly => format!("'{}'", r.name),
        _ => format!("value {v}"),
    }
}
