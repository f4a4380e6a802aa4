//! The printed map of a layout (A52) and its JSON (A54).

use std::fmt::Write;

use serde_json::{Value, json};

use crate::layout::{AliasLayout, LeafLayout, StorageLayout};
use crate::types::Storage;

/// Characters of a bar.
const WIDTH: u64 = 64;

/// Storages that the map in a message shows.
const MOST_STORAGES: usize = 16;

/// A map shows at most this many buffers of one leaf.
const MOST_ROWS: usize = 4096;

/// The map of every storage: one bar per leaf and index of group 0.
pub fn render(layout: &AliasLayout) -> String {
    let mut out = String::new();
    for storage in &layout.storages {
        render_storage(&mut out, storage);
    }
    out
}

/// The map of the storages of one space, for a message: the first few stand for all.
pub(crate) fn render_space(layout: &AliasLayout, space: Storage) -> String {
    let mut out = String::new();
    let mut of_space = layout.storages.iter().filter(|s| s.space == space);
    for storage in of_space.by_ref().take(MOST_STORAGES) {
        render_storage(&mut out, storage);
    }
    let more = of_space.count() as u64;
    if more > 0 {
        let _ = writeln!(out, "and {} more", plural(more, "storage"));
    }
    out
}

fn plural(n: u64, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

fn render_storage(out: &mut String, s: &StorageLayout) {
    let size = match s.space {
        Storage::Tmem => format!("{} rows x {} columns", s.rows, s.size),
        _ => format!("{} bytes", s.size),
    };
    let groups = plural(s.groups, "group");
    // Writing to a string cannot fail.
    let _ = writeln!(out, "storage {}: {}, {size}, {groups} of {}", s.name, s.space.name(), s.stride);
    for cell in s.cells.iter().filter(|c| c.implied.is_some()) {
        let leaf = s.leaves.iter().find(|l| Some(l.leaf) == cell.implied);
        let name = leaf.map_or("", |l| l.name.as_str());
        let _ = writeln!(out, "  {name}: implied group_size = {}", cell.radix);
    }
    let mut rows: Vec<(String, u64, u64)> = Vec::new();
    let mut longest = 0;
    let mut order: Vec<&LeafLayout> = s.leaves.iter().collect();
    order.sort_by_key(|l| (l.map.base, std::cmp::Reverse(l.unit)));
    let mut left_out = 0;
    for leaf in order {
        for (i, at) in leaf.positions().enumerate() {
            if at >= s.stride || i >= MOST_ROWS {
                left_out += usize::from(at < s.stride);
                break;
            }
            let name = format!("{}[{i}]", leaf.name);
            longest = longest.max(name.len());
            rows.push((name, at, at.saturating_add(leaf.unit)));
        }
    }
    let width = s.stride.to_string().len().max(2);
    for (name, from, to) in rows {
        let _ = writeln!(out, "  {name:longest$}  |{}| {from:>width$}..{to}", bar(from, to, s.stride));
    }
    if left_out > 0 {
        let _ = writeln!(out, "  ({left_out} leaves have more than {MOST_ROWS} buffers in a group)");
    }
    if s.groups == 2 {
        let _ = writeln!(out, "  group 1: + {}", s.stride);
    } else if s.groups > 2 {
        let _ = writeln!(out, "  groups 1..{}: + {} each", s.groups - 1, s.stride);
    }
    for leaf in &s.leaves {
        let per_group: u64 = leaf.map.radices.iter().product::<u64>().max(1);
        let used = match leaf.map.strides.first() {
            Some(first) if *first == s.stride => leaf.count.div_ceil(per_group),
            _ => s.groups,
        };
        if used < s.groups {
            let _ = writeln!(out, "  {}: only groups 0..{used}", leaf.name);
        }
    }
}

/// Character k is `#` if the range meets the k-th 64th of the group.
fn bar(from: u64, to: u64, group: u64) -> String {
    let group = u128::from(group.max(1));
    let (from, to) = (u128::from(from) * u128::from(WIDTH), u128::from(to) * u128::from(WIDTH));
    (0..u128::from(WIDTH)).map(|k| if from < (k + 1) * group && k * group < to { '#' } else { ' ' }).collect()
}

/// The layout as one JSON value (A54).
pub fn to_json(layout: &AliasLayout) -> Value {
    let storages: Vec<Value> = layout.storages.iter().map(storage_json).collect();
    json!({ "storages": storages })
}

fn storage_json(s: &StorageLayout) -> Value {
    let leaves: Vec<Value> = s
        .leaves
        .iter()
        .map(|l| {
            json!({
                "name": l.name, "base": l.map.base, "unit": l.unit, "count": l.count,
                "radices": l.map.radices, "strides": l.map.strides,
            })
        })
        .collect();
    json!({
        "name": s.name, "space": s.space.name(), "unit": s.space.unit(), "align": s.align, "rows": s.rows,
        "size": s.size, "groups": s.groups, "stride": s.stride, "leaves": leaves,
    })
}
