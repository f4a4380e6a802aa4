//! The modulo reservation table as text: one row per unit, time folded modulo II.

use crate::model::answer::Answer;
use crate::model::graph::{LoopGraph, LoopResource};
use std::fmt::Write;

/// Columns of the table in [`gantt`].
const WIDTH: usize = 72;
/// Symbols of operations, in order of their id; the last stands for all others.
const SYMBOLS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789#";

/// The table 72 columns wide; see [`gantt_width`].
pub fn gantt(graph: &LoopGraph, answer: &Answer) -> String {
    gantt_width(graph, answer, WIDTH)
}

/// The modulo reservation table of a schedule, `width` columns wide: one row per unit of each resource, `.` for
/// free cycles and a letter for the operation that holds the unit, then a legend with time, stage and cycle.
///
/// Units are interchangeable (S4): rows show how many are held, not which. A use that wraps goes on at the left.
pub fn gantt_width(graph: &LoopGraph, answer: &Answer, width: usize) -> String {
    let graph = &*graph.bound_by(&answer.bindings);
    let mut text = String::new();
    let ii = answer.ii.max(1);
    let columns = (width.clamp(8, 4096) as i64).min(ii);
    let _ = writeln!(
        text,
        "{}: II {} ({:?}, MII {} = max(resources {}, recurrences {})), length {}, {} stages",
        graph.name,
        ii,
        answer.outcome,
        answer.mii,
        answer.res_mii,
        answer.rec_mii,
        answer.length,
        answer.stages
    );
    let label = graph.resources.iter().map(|r| r.name.chars().count()).max().unwrap_or(0).min(24) + 4;
    let _ = writeln!(text, "{:label$} 0{:>pad$}", "", ii - 1, pad = columns.max(2) as usize - 1);
    for (r, resource) in graph.resources.iter().enumerate() {
        if resource.interleaved {
            let _ = writeln!(text, "{:label$} {}", clip(&resource.name), in_turn(graph, resource, ii));
            continue;
        }
        for (unit, row) in rows(graph, answer, r, columns).iter().enumerate() {
            let name = match resource.count {
                1 => clip(&resource.name),
                _ => format!("{}.{unit}", clip(&resource.name)),
            };
            let _ = writeln!(text, "{name:label$} {}", String::from_utf8_lossy(row));
        }
    }
    legend(graph, answer, &mut text);
    text
}

/// The cycles that an iteration holds of a resource.
pub(super) fn held(graph: &LoopGraph, name: &str) -> u64 {
    let uses = graph.nodes.iter().flat_map(|v| &v.uses).filter(|u| u.resource == name);
    uses.fold(0, |sum, u| sum.saturating_add(u.duration))
}

/// What stands for the row of an interleaved resource.
pub(super) fn in_turn(graph: &LoopGraph, resource: &LoopResource, ii: i64) -> String {
    let there = i128::from(ii) * i128::from(resource.count);
    format!("{} of {there} cycles, in turn", held(graph, &resource.name))
}

fn clip(name: &str) -> String {
    name.chars().take(22).collect()
}

/// At most so many units of one resource are drawn.
const MOST_UNITS: usize = 16;

fn rows(graph: &LoopGraph, answer: &Answer, r: usize, columns: i64) -> Vec<Vec<u8>> {
    let Some(resource) = graph.resources.get(r) else { return Vec::new() };
    let ii = answer.ii.max(1);
    let units = usize::try_from(resource.count).unwrap_or(MOST_UNITS).clamp(1, MOST_UNITS);
    // A column stands for several cycles; per unit, the cycle ranges held, to find a unit that is free.
    let mut rows = vec![vec![b'.'; columns as usize]; units];
    let mut held: Vec<Vec<(i64, i64)>> = vec![Vec::new(); units];
    let mut uses: Vec<(i64, i64, usize)> = Vec::new();
    for v in &answer.nodes {
        let Some(node) = graph.nodes.get(v.id) else { continue };
        for u in node.uses.iter().filter(|u| u.resource == resource.name && u.duration > 0) {
            let from = (v.time.saturating_add_unsigned(u.start)).rem_euclid(ii);
            uses.push((from, i64::try_from(u.duration).unwrap_or(i64::MAX), v.id));
        }
    }
    uses.sort_unstable();
    for (from, duration, id) in uses {
        for (start, len) in pieces(from, duration, ii) {
            let free = held.iter().position(|h| h.iter().all(|&(s, e)| start + len <= s || start >= e));
            let unit = free.unwrap_or(units - 1);
            let symbol = SYMBOLS[id.min(SYMBOLS.len() - 1)];
            let scale = |cycle: i64| (i128::from(cycle) * i128::from(columns) / i128::from(ii)) as usize;
            let (first, last) = (scale(start), scale(start + len - 1));
            if let (Some(row), Some(h)) = (rows.get_mut(unit), held.get_mut(unit)) {
                row.iter_mut().take(last + 1).skip(first).for_each(|c| *c = symbol);
                h.push((start, start + len));
            }
        }
    }
    rows
}

/// The parts of a folded use that do not wrap.
fn pieces(from: i64, duration: i64, ii: i64) -> Vec<(i64, i64)> {
    let wraps = (duration / ii).min(MOST_UNITS as i64);
    let rest = duration % ii;
    let mut parts = vec![(0, ii); wraps as usize];
    if rest > 0 {
        parts.push((from, rest.min(ii - from)));
        if from + rest > ii {
            parts.push((0, from + rest - ii));
        }
    }
    parts
}

fn legend(graph: &LoopGraph, answer: &Answer, text: &mut String) {
    let mut nodes: Vec<_> = answer.nodes.iter().collect();
    nodes.sort_by_key(|v| v.order);
    let _ = writeln!(text, "  order  stage  cycle   time  node");
    for v in nodes {
        let name = graph.nodes.get(v.id).map_or("", |n| n.name.as_str());
        let symbol = char::from(SYMBOLS[v.id.min(SYMBOLS.len() - 1)]);
        let used = graph.nodes.get(v.id).is_some_and(|n| n.uses.iter().any(|u| u.duration > 0));
        let symbol = if used { symbol } else { ' ' };
        let partition = v.partition.map(|a| format!("  partition {a}")).unwrap_or_default();
        let _ = writeln!(
            text,
            "{symbol} {:5}  {:5}  {:5}  {:5}  {} {name}{partition}",
            v.order, v.stage, v.cycle, v.time, v.id
        );
    }
    for d in &answer.values {
        let value = graph.values.get(d.id);
        let words = value
            .map(|v| [&v.name, &v.space].map(|s| if s.is_empty() { s.clone() } else { format!(" {s}") }));
        let size = value.map(|v| format!(" of {} bytes", v.bytes)).unwrap_or_default();
        let slots = if d.depth == 1 { "slot" } else { "slots" };
        let [name, space] = words.unwrap_or_default();
        let _ = writeln!(
            text,
            "  value {}{name}{space}: lifetime {} cycles, {} {slots}{size}",
            d.id, d.lifetime, d.depth
        );
    }
    if let Some(bytes) = answer.bytes {
        let _ = writeln!(text, "  in all spaces: {bytes} bytes");
    }
}
