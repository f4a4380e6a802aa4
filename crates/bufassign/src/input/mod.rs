//! The problem: a scheduled kernel's partitions, regions, ops and values as plain data (B1, B2).

mod block;
mod builder;
mod chain;
mod chip;
mod element;
mod machine;
mod name;
mod options;
mod read;
mod role;

pub use block::{BlockSpec, ColumnsSpec, DescriptorSpec, RingBarrierSpec};
pub use builder::{OpBuilder, ProblemBuilder, ValueBuilder};
pub use element::element_bits;
pub use machine::{Access, MachineSpec, Proxy, RoleSpec, SpaceSpec};
pub use name::{NameTooLong, OwnName};
pub use options::{AssignOptions, Preset, Sharing};
pub use role::{AccessRole, Space};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One assignment problem: a modulo schedule and the values that cross it (B2).
///
/// Ids are unique unsigned integers per list; every list is walked in ascending id, so the order
/// of entries never shows in the result (B1). Bytes are `u64`, times are cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// Name of the kernel, repeated in the answer.
    pub name: String,
    /// The chip.
    pub target: TargetSpec,
    /// Whether the regions are the body of an outer loop.
    #[serde(default)]
    pub repeat: Repeat,
    /// Choices; `assign` takes them as its second argument, the command line from here.
    #[serde(default)]
    pub options: AssignOptions,
    /// Who executes: groups of warps with one program order each. Reads the earlier spelling `agents` too.
    #[serde(alias = "agents")]
    pub partitions: Vec<WarpPartition>,
    /// Loops and straight-line parts, in program order.
    pub regions: Vec<ScheduledRegion>,
    /// Operations with their place in the schedule.
    pub ops: Vec<ScheduledOp>,
    /// Values that need storage, a handshake, or both.
    pub values: Vec<BufferValue>,
    /// The author's storage specs, already laid out.
    #[serde(default)]
    pub layouts: Vec<AuthorLayout>,
    /// Synchronisation the caller guarantees.
    #[serde(default)]
    pub edges: Vec<CallerEdge>,
    /// Byte or column ranges nobody may use.
    #[serde(default)]
    pub reserved: Vec<Reserved>,
}

/// A chip by name, a named chip with some of its fields overridden (B2), or a machine given as data (B82).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[non_exhaustive]
pub enum TargetSpec {
    /// One of the built-in names, such as `sm_90a`.
    Named(String),
    /// A built-in chip with fields replaced.
    Custom {
        /// The built-in name to start from.
        base: String,
        /// Fields to replace, nested like the chip's own record.
        #[serde(flatten)]
        overrides: serde_json::Map<String, serde_json::Value>,
    },
    /// A machine of the caller's own (B82).
    Machine(MachineSpec),
}

/// Whether the regions are executed once or as the body of an outer loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Repeat {
    /// Executed once.
    #[default]
    None,
    /// Repeated; one turn is drained before the next begins.
    Drained,
    /// Repeated; turns overlap, so buffers of different regions may not overlay (B55).
    Overlapped,
}

/// A group of warps with one program order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarpPartition {
    /// Unique id.
    pub id: u64,
    /// Name for people.
    #[serde(default)]
    pub name: String,
    /// Number of warps, at least 1; 32 over all partitions at most. Where a unit is no group of warps, 1.
    #[serde(default = "one_warp")]
    pub warps: u32,
}

/// A loop or a straight-line part of the kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduledRegion {
    /// Unique id.
    pub id: u64,
    /// Loop or line.
    pub kind: RegionKind,
    /// Initiation interval in cycles; required for a loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ii: Option<u64>,
    /// Number of steady-state stages; required for a loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<u64>,
    /// How a loop ends.
    #[serde(default)]
    pub exit: Exit,
    /// The loop whose body holds this region, and where (B79); none at the top of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<Inside>,
}

/// Where a region stands in the body of a loop (B79): one op of that loop's schedule, for every partition with ops in it.
///
/// Turns of the loop around it overlap as their partitions drift, and rings of the region turn on from one to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Inside {
    /// Id of the loop, which stands earlier in the list.
    pub region: u64,
    /// Stage, below the loop's `stages`.
    #[serde(default)]
    pub stage: u64,
    /// Cycle within the stage, below the loop's II.
    pub cycle: u64,
    /// Rank among the loop's ops and the other regions of its body.
    pub order: u64,
    /// Cycles from the region's first issue to the last touch of storage, for the iterations that it usually has.
    pub latency: u64,
}

/// Kind of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RegionKind {
    /// A modulo-scheduled loop.
    Loop,
    /// Straight-line code.
    Line,
}

/// How a loop ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Exit {
    /// The trip count is known on entry: no copy is in flight at the end.
    #[default]
    Counted,
    /// May stop with copies in flight (B22).
    Early,
}

/// An operation and its place in the schedule (B3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduledOp {
    /// Unique id.
    pub id: u64,
    /// Name for people.
    #[serde(default)]
    pub name: String,
    /// Region; an op of a value without one is refused as `NoAnchor` (B15).
    #[serde(default)]
    pub region: Option<u64>,
    /// The partition that issues it. Reads the earlier spelling `agent` too.
    #[serde(alias = "agent")]
    pub partition: u64,
    /// Stage (loops), below the region's `stages`.
    #[serde(default)]
    pub stage: u64,
    /// Cycle within the stage (loops: below II), or within the line.
    #[serde(default)]
    pub cycle: Option<u64>,
    /// Rank in the emitted kernel row: unique per region, non-decreasing in `cycle`.
    #[serde(default)]
    pub order: Option<u64>,
    /// Cycles from issue to the last touch of storage.
    pub latency: u64,
    /// Completes some time after the partition has gone on.
    #[serde(default, rename = "async")]
    pub is_async: bool,
}

/// A value: what one op writes and others read (B2).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BufferValue {
    /// Unique id.
    pub id: u64,
    /// Name for people.
    #[serde(default)]
    pub name: String,
    /// Memory-flow root: values of one root share storage (B20).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<u64>,
    /// The value this one is a view of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view_of: Option<u64>,
    /// Where the view begins in it, in bytes.
    #[serde(default)]
    pub byte_offset: u64,
    /// Tile shape in elements, outermost first.
    #[serde(default)]
    pub shape: Vec<u64>,
    /// Element type: `f16`, `bf16`, `tf32`, `f8E4M3FN`, `f4E2M1FN`, `i8`, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// Bytes of one stage, if more than shape and element say (B6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Swizzle span in bytes: 0, 32, 64 or 128.
    #[serde(default)]
    pub swizzle: u64,
    /// Least alignment in bytes, a power of two.
    #[serde(default = "one")]
    pub align: u64,
    /// A binding of the author: the value must live there (B34).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<Space>,
    /// The op that writes it; none only if `live_in`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<Producer>,
    /// The uses.
    #[serde(default)]
    pub consumers: Vec<Consumer>,
    /// Initial versions exist for uses at distance > 0.
    #[serde(default)]
    pub init: bool,
    /// Written before its first region here.
    #[serde(default)]
    pub live_in: bool,
    /// Read after its region.
    #[serde(default)]
    pub live_out: bool,
    /// Every warp reads only what it wrote itself.
    #[serde(default)]
    pub warp_local: bool,
    /// Shares its bytes with no value of its region: what several warps own in it does not lie as in others (B49).
    #[serde(default)]
    pub alone: bool,
    /// The TMA descriptor is written on the device (B45).
    #[serde(default)]
    pub device_built: bool,
    /// Values with one pipe are acquired and released together (B21); default: its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipe: Option<u64>,
    /// Binding to a leaf of one of the author's layouts (B20).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<LayoutRef>,
}

fn one() -> u64 {
    1
}

fn one_warp() -> u32 {
    1
}

/// The op that writes a value, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Producer {
    /// Op id.
    pub op: u64,
    /// How it writes.
    pub role: AccessRole,
}

/// One use of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Consumer {
    /// Op id.
    pub op: u64,
    /// How it reads.
    pub role: AccessRole,
    /// Iterations between the write and this use.
    #[serde(default)]
    pub distance: i64,
    /// Leaves the next version in the same bytes, as an accumulator does (B19).
    #[serde(default)]
    pub in_place: bool,
}

/// A leaf of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LayoutRef {
    /// Layout id.
    pub id: u64,
    /// Index into its leaves.
    pub leaf: u64,
}

/// An author's storage spec, already laid out (B20).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuthorLayout {
    /// Unique id.
    pub id: u64,
    /// SMEM or TMEM.
    pub space: Space,
    /// Size: bytes (SMEM) or columns (TMEM).
    pub bytes: u64,
    /// Alignment in the same unit, a power of two.
    pub align: u64,
    /// The parts values bind to.
    pub leaves: Vec<LayoutLeaf>,
}

/// One part of a layout: the offsets of its ring slots, at a constant stride.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LayoutLeaf {
    /// Size of one slot: bytes (SMEM) or columns (TMEM).
    pub bytes: u64,
    /// Offset of each slot in the layout, same unit.
    pub slots: Vec<u64>,
}

/// `src` of iteration i completes before `dst` of iteration i + `distance` issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallerEdge {
    /// Op that completes.
    pub src: u64,
    /// Op that waits for it.
    pub dst: u64,
    /// Iterations between them.
    pub distance: i64,
}

/// A range nobody may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reserved {
    /// SMEM (bytes) or TMEM (columns).
    pub space: Space,
    /// First byte or column.
    pub offset: u64,
    /// Bytes or columns.
    pub bytes: u64,
    /// Name for people.
    #[serde(default)]
    pub name: String,
}
