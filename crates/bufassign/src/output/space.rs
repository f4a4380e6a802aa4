//! Plans of the memory spaces (B12).

use super::record::Lanes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The shared-memory plan (B12).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SmemPlan {
    /// Capacity in bytes.
    pub limit: u64,
    /// Bytes from 0 to the last byte in use.
    pub used: u64,
    /// No plan for these classes can use less.
    pub load_bound: u64,
    /// `used` is the least possible.
    pub optimal: bool,
    /// Whether the block is declared statically.
    pub kind: SmemKind,
    /// Alignment of the whole block in bytes.
    pub align: u64,
    /// Every byte range, sorted by (offset, region, class).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub map: Vec<MapEntry>,
}

/// How the shared-memory block is declared (B40).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SmemKind {
    /// Up to 48 KiB.
    Static,
    /// Above: the launch must raise its limit to exactly `used`.
    Dynamic,
}

/// One range of an offset map: bytes (SMEM) or columns (TMEM).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MapEntry {
    /// First byte or column.
    pub offset: u64,
    /// Bytes or columns.
    pub bytes: u64,
    /// Region in which the class is live, its own; none for ranges of the whole kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<u64>,
    /// Storage class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<u64>,
    /// What it is, if not data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<MapKind>,
    /// Lanes, in tensor memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lanes: Option<Lanes>,
    /// Pipes whose mbarriers lie there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pipes: Vec<u64>,
    /// Name of a reserved range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// What a map entry holds, if not data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MapKind {
    /// mbarrier words.
    Mbarrier,
    /// A range nobody may use.
    Reserved,
}

/// The tensor-memory plan (B12, B44).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TmemPlan {
    /// Columns of the chip.
    pub limit: u64,
    /// Columns in use.
    pub used: u64,
    /// Columns to allocate: a power of two, at least 32.
    pub allocated: u64,
    /// No plan for these classes can use fewer columns.
    pub load_bound: u64,
    /// `used` is the least possible.
    pub optimal: bool,
    /// Every column range.
    pub map: Vec<MapEntry>,
}
