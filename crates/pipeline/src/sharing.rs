//! Who lies where another lay, and why that is safe (B48-B55, C93).

use std::fmt::Write;

use warploom_bufassign::{Assignment, Record, TmemPlace};
use warploom_ir::diag::{Code, Diagnostic};

/// Programs have no waits but those of their handshakes: an assignment that asks for another is refused. Without it the
/// last copies of a loop may overtake each other (B78), or one value the other with which it shares bytes (B48).
pub(crate) fn writes_are_ordered(assignment: &Assignment) -> Result<(), Box<Diagnostic>> {
    let mut edges = assignment.merge.iter().flat_map(|class| &class.edges);
    let Some(edge) = edges.find(|edge| !edge.implied) else { return Ok(()) };
    let name = |value| assignment.record(value).map_or("", |r| r.name.as_str());
    if edge.from != edge.to {
        let text = format!("{} shares bytes with {} and waits for it", name(edge.to), name(edge.from));
        return Err(Box::new(Diagnostic::error(Code::Internal, text).rule("B48")));
    }
    let text = format!(
        "nothing orders the copies of {} in the last trips: each is read more than {} trips later",
        name(edge.to),
        edge.distance
    );
    let refusal = Diagnostic::error(Code::Loop, text).rule("B78");
    Err(Box::new(refusal.note("instead", "read it in the trip that copies it, or in the next one")))
}

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
    let (mine, others, unit) = match (&a.tmem, &b.tmem) {
        (Some(x), Some(y)) if x.lanes == y.lanes => (columns(a, x), columns(b, y), "columns"),
        (None, None) => (bytes(a)?, bytes(b)?, "bytes"),
        _ => return None,
    };
    let meet = |x: (u64, u64), y: (u64, u64)| (x.0.max(y.0), x.1.min(y.1));
    let mut shared: Vec<(u64, u64)> = Vec::new();
    for (low, high) in mine.iter().flat_map(|&x| others.iter().map(move |&y| meet(x, y))) {
        match shared.last_mut().filter(|last| last.1 == low) {
            Some(last) => last.1 = high,
            None if low < high => shared.push((low, high)),
            None => {}
        }
    }
    let ranges: Vec<String> = shared.iter().map(|(low, high)| format!("{low}..{high}")).collect();
    (!ranges.is_empty()).then(|| format!("{unit} {}", ranges.join(", ")))
}

/// The columns of each slot of a ring.
fn columns(record: &Record, place: &TmemPlace) -> Vec<(u64, u64)> {
    let first = |slot: u64| place.column.saturating_add(place.stride.saturating_mul(slot));
    (0..record.depth).map(|slot| (first(slot), first(slot).saturating_add(place.columns))).collect()
}

/// The bytes of a ring, whose slots follow each other.
fn bytes(record: &Record) -> Option<Vec<(u64, u64)>> {
    let from = record.offset?;
    Some(vec![(from, from.saturating_add(record.bytes?))])
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
