//! What phase 1 knows of lifetimes, and how its failures read.

use crate::model::Model;
use crate::output::{AssignError, ErrorKind, ValueInfo};

const PHASE: &str = "fails to resolve lifetime";

/// One lifetime: a value, or several that update each other in place (B19).
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// Values in the order of their updates, views excluded.
    pub values: Vec<usize>,
    pub region: usize,
    /// The op that writes the first version; `None` if live on entry only.
    pub producer: Option<usize>,
    /// Issue of the producer and completion of the last use, in cycles.
    pub start: i64,
    pub end: i64,
    /// Ring slots (B17), the maximum over its pipe (B21).
    pub depth: i64,
    /// Updated in place across iterations (B19).
    pub carried: bool,
    /// Live on the whole circle, or throughout a line, of its region: never shared there.
    pub whole: bool,
    /// Other regions in which the storage is live.
    pub elsewhere: Vec<(usize, Span)>,
    /// Uses in its own region: (op, distance, updates in place across iterations).
    pub uses: Vec<UnitUse>,
    /// Ops that use it in later regions, with the region.
    pub far: Vec<(usize, usize)>,
    pub pipelined: bool,
    /// Every value is `warp_local`.
    pub warp_local: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitUse {
    /// The value (owner) it reads.
    pub value: usize,
    pub op: usize,
    pub distance: i64,
    /// Closes a carried chain: it is itself the write of the next version.
    pub carries: bool,
}

/// When storage is live in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    Whole,
    /// `[from, to)` in cycles of a line region.
    Range(i64, i64),
}

impl Unit {
    pub fn length(&self) -> i64 {
        self.end - self.start
    }

    /// What must have completed before a slot is written again `d` turns after this version's write, as ops and turns:
    /// its uses, and the write itself where no use is sure to stand between. A use in a turn that a run does not have
    /// stands for nothing: versions that nobody reads, and the last ones of a loop, are written all the same (B78).
    pub fn ends(&self, d: i64) -> impl Iterator<Item = (usize, i64)> + '_ {
        let unread = self.uses.iter().all(|u| u.distance > d.max(0));
        let write = self.producer.filter(|_| unread).map(|p| (p, 0));
        self.uses.iter().map(|u| (u.op, u.distance)).chain(write)
    }

    /// Turns from a version's write to its furthest read.
    pub fn reach(&self) -> i64 {
        self.uses.iter().map(|u| u.distance).max().unwrap_or(0)
    }
}

/// What phase 1 knows.
#[derive(Clone, Debug)]
pub(crate) struct Lifetimes {
    /// Owner of every value: itself unless it is a view.
    pub owner: Vec<usize>,
    /// Offset in the owner.
    pub offset: Vec<u64>,
    /// An owner with its views, ascending; empty for a view.
    pub family: Vec<Vec<usize>>,
    /// Unit of every value (a view's is its owner's).
    pub unit_of: Vec<usize>,
    /// Units in ascending first value.
    pub units: Vec<Unit>,
    /// Last completion in each line region.
    pub horizon: Vec<i64>,
}

pub(crate) fn fail(
    model: &Model<'_>,
    kind: ErrorKind,
    rule: &str,
    v: usize,
    why: impl std::fmt::Display,
) -> AssignError {
    let value = &model.values[v];
    let m = format!("{PHASE}: value {} '{}': {why}", value.id, value.src.name);
    let mut e = AssignError::new(kind, rule, Some(1), m);
    e.value = Some(ValueInfo {
        id: value.id,
        name: value.src.name.clone(),
        start: None,
        end: None,
        length: None,
        depth: None,
    });
    let at = value.producer.and_then(|(p, _)| model.ops[p].at);
    e.in_loop = at.and_then(|a| model.loop_info(a.region));
    e
}

/// Adds what is known of a unit to a failure.
pub(crate) fn describe(model: &Model<'_>, unit: &Unit, e: &mut AssignError) {
    e.in_loop = model.loop_info(unit.region);
    if let Some(v) = &mut e.value {
        v.start = Some(model.stage_cycle(unit.region, unit.start));
        v.end = Some(model.stage_cycle(unit.region, unit.end));
        v.length = Some(unit.length().unsigned_abs());
        v.depth = Some(unit.depth.unsigned_abs());
    }
}
