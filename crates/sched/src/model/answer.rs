//! What a scheduler answers (S27).

use crate::model::binding::UseBinding;
use crate::model::error::ScheduleError;
use crate::model::graph::LoopPartition;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A schedule with its bounds, in normal form (S21).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The loop's name.
    #[serde(default)]
    pub name: String,
    /// What is known about the II.
    pub outcome: ScheduleOutcome,
    /// Initiation interval, cycles.
    pub ii: i64,
    /// `max(res_mii, rec_mii)` rounded up past self conflicts (S17).
    pub mii: i64,
    /// The bound by resources (S13).
    pub res_mii: i64,
    /// The bound by recurrences (S15).
    pub rec_mii: i64,
    /// Every smaller II is refuted (S17).
    pub lower_bound: i64,
    /// `ii == lower_bound` (S18).
    pub optimal: bool,
    /// Cycles from the first start to the last result (S23).
    pub length: i64,
    /// Whether no shorter schedule exists at this II.
    #[serde(default)]
    pub length_optimal: bool,
    /// Stages in which operations start (S24).
    pub stages: i64,
    /// Iterations under way at once (S24).
    pub in_flight: i64,
    /// The algorithm asked for.
    pub algorithm: Algorithm,
    /// Counted work: placements and search nodes (S45).
    #[serde(default)]
    pub steps: u64,
    /// Wall time; the only field exempt from determinism (S11).
    #[serde(default)]
    pub micros: u64,
    /// The start of every operation, by id.
    pub nodes: Vec<NodeTime>,
    /// Ring depth of every value, in the order of the graph's values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueDepth>,
    /// `sum bytes * depth` over all values, at most `u64::MAX`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The greatest recurrence ratio `[latency, distance]` in lowest terms, when a recurrence bounds the loop (S15).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rec_ratio: Option<[i64; 2]>,
    /// The operations of a recurrence of that ratio, in order. Read as `critical_circuit`, too.
    #[serde(default, alias = "critical_circuit", skip_serializing_if = "Vec::is_empty")]
    pub critical_recurrence: Vec<usize>,
    /// The resource that attains [`res_mii`](Self::res_mii).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critical_resource: Option<String>,
    /// The partitions that issue the operations, when they were assigned (S61). Read as `agents`, too.
    #[serde(default, alias = "agents", skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<LoopPartition>,
    /// What the partitions cost, and what others would have, when they were searched for (S97).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<PartitionSplit>,
    /// Which resource each use with alternatives takes (S103).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<UseBinding>,
    /// What the budget cost, when one was given (S57).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spaces: Vec<SpaceUse>,
    /// `"time"` or `"cancelled"` when an outer guard ended the search (S45).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<String>,
    /// Why the schedule to begin with was not taken (S105).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_refused: Option<String>,
}

/// The place of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeTime {
    /// The operation.
    pub id: usize,
    /// Start, cycles; the least of all is 0 (S21).
    pub time: i64,
    /// `time div II`.
    pub stage: i64,
    /// `time mod II`.
    pub cycle: i64,
    /// Position in the steady-state body, `0..n-1` (S22).
    pub order: usize,
    /// The partition that issues it. Read as `agent`, too.
    #[serde(default, alias = "agent", skip_serializing_if = "Option::is_none")]
    pub partition: Option<usize>,
}

/// The ring of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueDepth {
    /// The value.
    pub id: usize,
    /// Number of slots (S53).
    pub depth: u64,
    /// Cycles from the first write to the end of the last read of one instance (S51).
    pub lifetime: i64,
}

/// Why the operations are given to partitions as they are (S97).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionSplit {
    /// Cycles of crossing costs that an iteration pays, each pair of operations counted once (S69).
    pub crossings: i64,
    /// Whether no assignment at this II pays less.
    pub crossings_optimal: bool,
    /// Other assignments that were scheduled, the best of each number of partitions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<SplitAlternative>,
}

/// An assignment to partitions that was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SplitAlternative {
    /// How many partitions it has.
    pub partitions: usize,
    /// Its II.
    pub ii: i64,
    /// Cycles of crossing costs that an iteration pays.
    pub crossings: i64,
}

/// The footprint in one budgeted space (S57).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceUse {
    /// The space.
    pub space: String,
    /// Bytes taken, what is reserved included.
    pub used: u64,
    /// Bytes there are.
    pub budget: u64,
    /// Values that have fewer slots than at the II without a budget.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<usize>,
    /// The II without the budget.
    pub unlimited_ii: i64,
}

/// What is known about the II of an answer (S42).
///
/// The other two outcomes of the rule have no schedule: [`ScheduleError::Infeasible`] and
/// [`ScheduleError::GaveUp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ScheduleOutcome {
    /// No smaller II exists.
    ProvenOptimal,
    /// A checked schedule above the proven [`lower_bound`](Answer::lower_bound).
    Best,
}

/// A scheduling algorithm (S46).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Algorithm {
    /// Heuristic incumbent, then exact search within a step budget (S28).
    #[default]
    Auto,
    /// Iterative modulo scheduling (S37).
    Ims,
    /// Swing modulo scheduling (S39).
    Sms,
    /// Lexicographic optimum, each level proved (S41).
    Exact,
    /// One iteration after the other (S26).
    Serial,
}

impl Algorithm {
    /// All of them, for command lines and tables.
    pub const ALL: [Algorithm; 5] =
        [Algorithm::Auto, Algorithm::Ims, Algorithm::Sms, Algorithm::Exact, Algorithm::Serial];

    /// The name used in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Ims => "ims",
            Self::Sms => "sms",
            Self::Exact => "exact",
            Self::Serial => "serial",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Algorithm {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        Self::ALL.into_iter().find(|a| a.name() == text).ok_or_else(|| ScheduleError::BadOption {
            option: "algorithm",
            message: format!("`{text}` is none of auto, ims, sms, exact, serial"),
        })
    }
}
