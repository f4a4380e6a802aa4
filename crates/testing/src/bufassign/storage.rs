//! Which value's storage lies where, from input and output alone.

use std::collections::{BTreeMap, BTreeSet};
use warploom_bufassign::{Assignment, BufferValue, Class, Lanes, Problem, Record};

/// Values that update each other in place are one lifetime and may meet (B19).
pub(super) struct InPlace {
    /// Values that some op overwrites in place.
    overwritten: BTreeSet<u64>,
    /// What such ops write.
    written: BTreeSet<u64>,
}

impl InPlace {
    pub fn new(p: &Problem) -> InPlace {
        let (mut overwritten, mut written) = (BTreeSet::new(), BTreeSet::new());
        for v in &p.values {
            for c in v.consumers.iter().filter(|c| c.in_place) {
                overwritten.insert(v.id);
                let by = |w: &&BufferValue| w.producer.is_some_and(|q| q.op == c.op);
                written.extend(p.values.iter().filter(by).map(|w| w.id));
            }
        }
        InPlace { overwritten, written }
    }

    /// Whether two versions, each of a value in a class, are one storage by the author's word.
    pub fn one(&self, x: (u64, u64), y: (u64, u64)) -> bool {
        let part = |v: u64| self.overwritten.contains(&v) || self.written.contains(&v);
        x.1 == y.1 && if x.0 == y.0 { self.overwritten.contains(&x.0) } else { part(x.0) && part(y.0) }
    }
}

/// The bytes or columns of slot `iteration` of a value, if it is stored; initial versions are of turns below 0.
pub(super) fn cells(r: &Record, iteration: i64) -> Option<(u8, u64, u64)> {
    let turn = i128::from(iteration) + i128::from(r.slot_shift.unwrap_or(0));
    let slot = turn.rem_euclid(i128::from(r.depth.max(1))) as u64;
    match r.class {
        Class::Smem => {
            let at = r.offset? + slot * r.stride?;
            Some((1, at, at + r.stage_bytes?))
        }
        Class::Tmem => {
            let t = r.tmem?;
            let lanes = match t.lanes {
                Lanes::All => 2 | 4,
                Lanes::H0 => 2,
                _ => 4,
            };
            let at = t.column + slot * t.stride;
            Some((lanes, at, at + t.columns))
        }
        _ => None,
    }
}

/// Whether the version of a loop's last turn is read behind the loop.
pub(super) fn outlives(p: &Problem, v: &BufferValue) -> bool {
    let region = |op: u64| p.ops.iter().find(|o| o.id == op).and_then(|o| o.region);
    let own = v.producer.and_then(|w| region(w.op));
    v.live_out
        || p.values
            .iter()
            .filter(|w| w.id == v.id || w.view_of == Some(v.id))
            .any(|w| w.consumers.iter().any(|c| region(c.op) != own))
}

/// Owners of storage in a region: values with a producer there, no views.
pub(super) fn stored<'a>(
    p: &'a Problem,
    a: &'a Assignment,
    region: u64,
) -> Vec<(&'a BufferValue, &'a Record)> {
    let records: BTreeMap<u64, &Record> = a.records.iter().map(|r| (r.value, r)).collect();
    let own = p.values.iter().filter(|v| v.view_of.is_none() && v.producer.is_some());
    own.filter_map(|v| Some((v, *records.get(&v.id)?))).filter(|(_, r)| r.region == region).collect()
}
