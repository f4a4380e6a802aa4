//! How spare memory was used (B81).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rings that are deeper than they need to be, and why (B81).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FillPlan {
    /// One step after the other, the best for its bytes first.
    pub steps: Vec<FillStep>,
    /// Why there is no further step.
    pub ended: FillEnd,
}

/// One slot more for each ring that holds a partition back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FillStep {
    /// Loop.
    pub region: u64,
    /// The partition that writes and can now run further ahead.
    pub partition: u64,
    /// Values whose rings get a slot, ascending.
    pub values: Vec<u64>,
    /// Bytes of one version of each of them.
    pub bytes: u64,
    /// Cycles that readers wait in a turn where every copy of the partition takes twice its latency, before the step.
    pub wait: u64,
    /// The same after it.
    pub left: u64,
}

/// Why rings were deepened no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FillEnd {
    /// No slot more makes a late copy cheaper.
    NothingHelps,
    /// What would help does not fit, or needs a wait.
    NoRoom,
    /// 256 steps were made.
    Steps,
    /// The time was up.
    Late,
}

impl std::fmt::Display for FillEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FillEnd::NothingHelps => "none would help",
            FillEnd::NoRoom => "what would help does not fit, or needs a wait",
            FillEnd::Steps => "256 steps were made",
            FillEnd::Late => "the time was up",
        })
    }
}
