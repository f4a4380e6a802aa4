//! Who lies where another lay, and why that is safe (B48-B55, C93).

use std::fmt::Write;

use warploom_bufassign::{Assignment, Record, TmemPlace};

/// A line for each pair of values that share bytes or columns.
pub(crate) fn sharing(assignment: &Assignment) -> String {
    let mut out = String::new();
    let owners: Vec<&Record> = assignment.records.iter().filter(|r| r.byte_offset.is_none()).collect();
    for (index, first) in owners.iter().enumerate() {
        for second in owners.iter().skip(index + 1) {
            if let Some(places) = common(first, second) {
                let _ = writeln!(out, "  {}", line(assignment, first, second, &places));
            }
        }
    }
    out
}

/// What two values have in common, as text.
fn common(a: &Record, b: &Record) -> Option<String> {
    let span = |from: u64, count: u64| (from, from.saturating_add(count));
    let meet = |(a0, a1): (u64, u64), (b0, b1): (u64, u64)| (a0.max(b0), a1.min(b1));
    let (low, high, unit) = match (&a.tmem, &b.tmem) {
        (Some(x), Some(y)) => {
            let ring = |r: &Record, t: &TmemPlace| {
                span(t.column, t.stride.saturating_mul(r.depth.saturating_sub(1)).saturating_add(t.columns))
            };
            let (low, high) = if x.lanes == y.lanes { meet(ring(a, x), ring(b, y)) } else { (0, 0) };
            (low, high, "columns")
        }
        (None, None) => {
            let bytes = |r: &Record| Some(span(r.offset?, r.bytes?));
            let (low, high) = meet(bytes(a)?, bytes(b)?);
            (low, high, "bytes")
        }
        _ => return None,
    };
    (low < high).then(|| format!("{unit} {low}..{high}"))
}

fn line(assignment: &Assignment, a: &Record, b: &Record, places: &str) -> String {
    let both = format!("{} and {} share {places}", a.name, b.name);
    if a.region != b.region {
        let (early, late) = if a.region < b.region { (a, b) } else { (b, a) };
        let drained = assignment.drains.iter().any(|d| d.before_region == late.region);
        let how = if drained { ", and all of the earlier is waited for before" } else { "" };
        return format!("{both}: region {} comes behind region {}{how}", late.region, early.region);
    }
    let life = |r: &Record| {
        let [stage, cycle] = r.start;
        let [last, end] = r.end;
        format!("{} lives from stage {stage} cycle {cycle} to stage {last} cycle {end}", r.name)
    };
    if a.parent == b.parent {
        return format!("{both}: one storage, {}, {}", life(a), life(b));
    }
    format!("{both}: {}, {}", life(a), life(b))
}
