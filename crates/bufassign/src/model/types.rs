//! A validated problem: dense indices, bounded numbers (B1, B4).

use super::limits::Limits;
use crate::input::{AccessRole, AssignOptions, BufferValue, Problem, Space};
use crate::output::LoopInfo;
use std::time::Instant;

/// Times are bounded so that sums and products of a few of them cannot overflow an `i64`.
pub(crate) const MAX_TIME: u64 = 1 << 40;
/// Iteration distances are bounded likewise.
pub(crate) const MAX_DISTANCE: i64 = 1 << 16;
/// Bytes of one stage are bounded so that sums fit in a `u64`.
pub(crate) const MAX_BYTES: u64 = 1 << 44;

/// A validated problem. Indices (`usize`) are positions in the canonical order.
pub(crate) struct Model<'a> {
    pub problem: &'a Problem,
    pub options: &'a AssignOptions,
    /// The moment by which there must be an answer.
    pub deadline: Option<Instant>,
    /// Whether plans with fewer waits are looked for: not where only the bytes of a plan are asked for.
    pub thorough: bool,
    /// Merges that may need a wait where sharing is `always`.
    pub most_waits: usize,
    /// Slots of each pipe's rings beyond what its lifetimes ask for (B81).
    pub spare: Vec<i64>,
    pub limits: Limits,
    pub partitions: Vec<MPartition>,
    pub regions: Vec<MRegion>,
    pub ops: Vec<MOp>,
    pub values: Vec<MValue<'a>>,
    pub edges: Vec<MEdge>,
    pub layouts: Vec<MLayout>,
    /// Values of each pipe, pipes in the order of their first values.
    pub pipes: Vec<MPipe>,
    /// Reserved (offset, bytes, name) per space.
    pub reserved_smem: Vec<(u64, u64, String)>,
    pub reserved_tmem: Vec<(u64, u64, String)>,
    /// By space of a machine, where something is reserved.
    pub reserved_own: Vec<Vec<(u64, u64, String)>>,
}

pub(crate) struct MPartition {
    pub id: u64,
    pub warps: u32,
}

pub(crate) struct MRegion {
    pub id: u64,
    pub is_loop: bool,
    /// 1 in a line, where no time wraps.
    pub ii: i64,
    pub stages: u64,
    pub early: bool,
    /// The loop at the top of the nest that the region belongs to (B79).
    pub nest: Option<usize>,
    /// It stands in the body of a loop.
    pub inner: bool,
    /// Anchored ops in `order`.
    pub ops: Vec<usize>,
}

pub(crate) struct MOp {
    pub id: u64,
    /// Place in the schedule; `None` if region, cycle or order is missing.
    pub at: Option<Anchor>,
    pub partition: usize,
    pub latency: i64,
    pub is_async: bool,
}

#[derive(Clone, Copy)]
pub(crate) struct Anchor {
    pub region: usize,
    pub stage: i64,
    pub order: u64,
    /// stage*II + cycle.
    pub t: i64,
}

pub(crate) struct MUse {
    pub op: usize,
    pub role: AccessRole,
    pub distance: i64,
    pub in_place: bool,
}

pub(crate) struct MValue<'a> {
    pub src: &'a BufferValue,
    pub id: u64,
    /// Bits of the element type, if there is one.
    pub bits: Option<u64>,
    /// Bytes of one stage; 0 without payload.
    pub bytes: u64,
    pub producer: Option<(usize, AccessRole)>,
    /// Its own uses.
    pub uses: Vec<MUse>,
    pub view_of: Option<usize>,
    pub pipe: usize,
    pub layout: Option<(usize, usize)>,
}

pub(crate) struct MEdge {
    pub src: usize,
    pub dst: usize,
    pub distance: i64,
}

pub(crate) struct MLayout {
    pub space: Space,
    pub bytes: u64,
    pub align: u64,
    pub leaves: Vec<MLeaf>,
}

pub(crate) struct MLeaf {
    pub bytes: u64,
    pub first: u64,
    pub stride: u64,
    pub slots: u64,
}

pub(crate) struct MPipe {
    pub id: u64,
    pub values: Vec<usize>,
}

impl Model<'_> {
    /// Whether what is not needed for an answer is to be left.
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    /// Regions that run while another does, since both belong to one nest of loops (B79).
    pub fn beside(&self, region: usize) -> impl Iterator<Item = usize> + '_ {
        let nest = self.regions[region].nest;
        let all = self.regions.iter().enumerate();
        all.filter(move |(k, r)| *k != region && nest.is_some() && r.nest == nest).map(|(k, _)| k)
    }

    /// The loop of a region for diagnostics; `None` for a line.
    pub fn loop_info(&self, region: usize) -> Option<LoopInfo> {
        let r = self.regions.get(region)?;
        r.is_loop.then_some(LoopInfo { region: r.id, ii: r.ii.unsigned_abs(), stages: r.stages })
    }

    /// A time of a region as [stage, cycle].
    pub fn stage_cycle(&self, region: usize, t: i64) -> [u64; 2] {
        match self.regions.get(region) {
            Some(r) if r.is_loop => [t.div_euclid(r.ii).unsigned_abs(), t.rem_euclid(r.ii).unsigned_abs()],
            _ => [0, t.unsigned_abs()],
        }
    }

    /// All roles of a value: its producer's and its uses'.
    pub fn roles(&self, v: usize) -> impl Iterator<Item = AccessRole> + '_ {
        let value = &self.values[v];
        value.producer.iter().map(|p| p.1).chain(value.uses.iter().map(|u| u.role))
    }

    /// Whether a value has no payload: every role is `signal`.
    pub fn is_signal(&self, v: usize) -> bool {
        self.roles(v).next().is_some() && self.roles(v).all(|r| r == AccessRole::Signal)
    }
}

/// An in-place update, by a unit that keeps their order, by the partition that wrote before.
pub(crate) fn is_accumulation(model: &Model<'_>, p: usize, role: AccessRole, u: &MUse) -> bool {
    u.in_place
        && role == u.role
        && model.limits.is(role, |r| r.accumulates)
        && model.ops[p].partition == model.ops[u.op].partition
}
