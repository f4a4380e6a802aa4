//! Loops with their schedules, and how deep their rings are.

use warploom_bufassign::{Assignment, Problem};
use warploom_sched::Answer;

use crate::loops::PipelinedLoop;

/// Why a ring has as many slots as it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DepthBound {
    /// The depth law of S51, B17, and the slots added by option.
    Law,
    /// More do not fit into shared memory.
    Capacity,
    /// `tt.num_stages` (C6).
    NumStages,
    /// The caller asked for just this depth.
    Asked,
    /// The leaf that the author bound has so many buffers (A45).
    Author,
}

/// One attempt at a depth (B67).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DepthRound {
    /// Slots of the first ring tried.
    pub depth: u64,
    /// Products that may be unfinished when a slot is given back.
    pub pending: u64,
    /// The II of the first loop's schedule with so many slots, cycles.
    pub ii: i64,
    /// Bytes of shared memory it needed, if it did not fit.
    pub need: Option<u64>,
}

/// The depth of a ring, and how it was found.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RingDepth {
    /// Slots.
    pub slots: u64,
    /// What the depth law asks for at the best II, without a limit.
    pub law: u64,
    /// Slots added beyond the law.
    pub slack: u64,
    /// What decided.
    pub bound: DepthBound,
    /// The II of the first loop without a limit on slots, cycles.
    pub unlimited_ii: i64,
    /// Every attempt, in order.
    pub rounds: Vec<DepthRound>,
}

/// A pipelined loop with its schedule.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ScheduledLoop {
    /// The loop graph.
    pub pipelined: PipelinedLoop,
    /// Its schedule.
    pub answer: Answer,
    /// Where replicas take turns, the same loop of one partition that has all rows (Q40).
    pub together: Option<Box<ScheduledLoop>>,
}

/// Schedules, their assignment, and the depths they agree on.
pub(crate) struct Fitted {
    pub loops: Vec<ScheduledLoop>,
    pub problem: Problem,
    pub assignment: Assignment,
    /// One per ring.
    pub depths: Vec<RingDepth>,
}
