//! Where the slots of a record lie.

use crate::output::{Lanes, Record};

/// Slots of a record: bytes of shared memory or columns of some lanes.
pub(super) struct Place {
    pub start: u64,
    pub stride: u64,
    pub bytes: u64,
    pub lanes: [bool; 2],
}

/// The place of a record, if it has one.
pub(super) fn place(r: &Record) -> Option<Place> {
    if let Some(t) = r.tmem {
        let lanes = match t.lanes {
            Lanes::All => [true, true],
            Lanes::H0 => [true, false],
            Lanes::H1 => [false, true],
        };
        return Some(Place { start: t.column, stride: t.stride, bytes: t.columns, lanes });
    }
    Some(Place { start: r.offset?, stride: r.stride?, bytes: r.stage_bytes?, lanes: [true, true] })
}
