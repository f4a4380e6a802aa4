//! The answer as a whole (B9..B13).

use super::fill::FillPlan;
use super::record::Record;
use super::space::{SmemPlan, TmemPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What became of a problem that could be assigned (B9).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Assignment {
    /// Name of the problem.
    pub name: String,
    /// Name of the chip.
    pub target: String,
    /// Always true: failures are an `AssignError`.
    pub ok: bool,
    /// Whether code can be emitted: false only under a preset (B28, B36).
    pub emittable: bool,
    /// One record per value, in ascending id.
    pub records: Vec<Record>,
    /// Classes with storage, in ascending class id (B11).
    pub merge: Vec<MergeClass>,
    /// Shared-memory plan.
    pub smem: SmemPlan,
    /// Tensor-memory plan, if any value lives there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tmem: Option<TmemPlan>,
    /// Descriptor slots in use, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desc: Option<DescPlan>,
    /// Region boundaries a plan relies on (B55).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drains: Vec<Drain>,
    /// Named barriers in use.
    pub barriers: BarrierUse,
    /// Blocks per multiprocessor that the plans allow (B13).
    pub occupancy: Occupancy,
    /// Where the options ask for it, which rings have spare slots, and why (B81).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<FillPlan>,
    /// What was decided on the way, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<AssignNote>,
}

/// One storage class (B11).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MergeClass {
    /// Lowest member id.
    pub class: u64,
    /// Member ids, views excluded, ascending.
    pub members: Vec<u64>,
    /// Ring slots.
    pub depth: u64,
    /// The orders it relies on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<OrderEdge>,
}

/// The write of `from` in iteration i and every use of it complete before `to` of iteration i + `distance` is written.
///
/// `from` and `to` are one value where its own writes into a slot need the order: at the end of a loop nobody may
/// read between them (B78).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct OrderEdge {
    /// Value that had the storage.
    pub from: u64,
    /// Value that gets it.
    pub to: u64,
    /// Iterations between them.
    pub distance: i64,
    /// True if it holds anyway; false is an order to emit a wait.
    pub implied: bool,
}

/// Descriptor slots in use (B45).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DescPlan {
    /// Slots the parameter block has room for.
    pub limit: u64,
    /// Slots in use.
    pub used: u64,
    /// Bytes of 128-aligned workspace for device-built descriptors.
    pub workspace: u64,
}

/// A region boundary a plan relies on (B55).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drain {
    /// All earlier completions precede the first touch in this region.
    pub before_region: u64,
    /// Classes (or barrier holders) that overlay: [earlier, later].
    pub pairs: Vec<[u64; 2]>,
}

/// Named-barrier slots in use (B13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BarrierUse {
    /// Slots of the pool.
    pub pool: u32,
    /// Slots in use.
    pub used: u32,
    /// The colouring search replaced first-fit (B32).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recoloured: bool,
}

/// Blocks per multiprocessor that the plans allow (B13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Occupancy {
    /// By shared memory.
    pub smem_blocks_per_sm: u64,
    /// By tensor memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tmem_blocks_per_sm: Option<u64>,
}

/// A remark on a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AssignNote {
    /// Rule.
    pub rule: String,
    /// Phase.
    pub phase: u8,
    /// Text.
    pub text: String,
    /// Values concerned.
    pub values: Vec<u64>,
}

impl Assignment {
    /// The record of a value by id.
    pub fn record(&self, value: u64) -> Option<&Record> {
        let at = self.records.binary_search_by_key(&value, |r| r.value).ok()?;
        self.records.get(at)
    }

    /// One line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
