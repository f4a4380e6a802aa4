//! How ops touch storage, and where that is legal (B5).

use super::name::{NameTooLong, OwnName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A storage space a value can be bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Space {
    /// Shared memory, in bytes.
    Smem,
    /// Tensor memory, in 32-bit columns.
    Tmem,
    /// A space of a machine given as data, in bytes (B82).
    #[serde(untagged)]
    Own(OwnName),
}

/// How an op writes or reads a value (B5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AccessRole {
    /// Write by a TMA load.
    TmaLoad,
    /// Read by a TMA store.
    TmaStore,
    /// Read by a TMA reduction.
    TmaReduce,
    /// Write by `cp.async`.
    CpAsync,
    /// Plain shared-memory store.
    SharedWrite,
    /// Plain shared-memory load.
    SharedRead,
    /// Operand A of `wgmma`.
    WgmmaA,
    /// Operand B of `wgmma`.
    WgmmaB,
    /// Write from registers, lowered by class.
    RegWrite,
    /// Read into registers, lowered by class.
    RegRead,
    /// No payload.
    Signal,
    /// Operand B of `tcgen05.mma`.
    #[serde(rename = "tcgen05_b")]
    Tcgen05B,
    /// Source of `tcgen05.cp`.
    #[serde(rename = "tcgen05_cp_src")]
    Tcgen05CpSrc,
    /// Operand A of `tcgen05.mma`.
    #[serde(rename = "tcgen05_a")]
    Tcgen05A,
    /// Accumulator of `tcgen05.mma`, both ways.
    #[serde(rename = "tcgen05_d")]
    Tcgen05D,
    /// Block scales of `tcgen05.mma`.
    #[serde(rename = "tcgen05_scale")]
    Tcgen05Scale,
    /// Destination of `tcgen05.cp`.
    #[serde(rename = "tcgen05_cp_dst")]
    Tcgen05CpDst,
    /// Write by `tcgen05.st`.
    #[serde(rename = "tcgen05_st")]
    Tcgen05St,
    /// Read by `tcgen05.ld`.
    #[serde(rename = "tcgen05_ld")]
    Tcgen05Ld,
    /// A TMA descriptor.
    TmaDesc,
    /// A role of a machine given as data (B82).
    #[serde(untagged)]
    Own(OwnName),
}

impl std::str::FromStr for AccessRole {
    type Err = NameTooLong;

    /// A role of the chips by its name, or one that a machine is to have.
    fn from_str(name: &str) -> Result<AccessRole, NameTooLong> {
        let known = serde_json::from_value(serde_json::Value::String(name.to_string()));
        known.map_err(|_| NameTooLong(name.to_string()))
    }
}

impl fmt::Display for AccessRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            AccessRole::TmaLoad => "tma_load",
            AccessRole::TmaStore => "tma_store",
            AccessRole::TmaReduce => "tma_reduce",
            AccessRole::CpAsync => "cp_async",
            AccessRole::SharedWrite => "shared_write",
            AccessRole::SharedRead => "shared_read",
            AccessRole::WgmmaA => "wgmma_a",
            AccessRole::WgmmaB => "wgmma_b",
            AccessRole::RegWrite => "reg_write",
            AccessRole::RegRead => "reg_read",
            AccessRole::Signal => "signal",
            AccessRole::Tcgen05B => "tcgen05_b",
            AccessRole::Tcgen05CpSrc => "tcgen05_cp_src",
            AccessRole::Tcgen05A => "tcgen05_a",
            AccessRole::Tcgen05D => "tcgen05_d",
            AccessRole::Tcgen05Scale => "tcgen05_scale",
            AccessRole::Tcgen05CpDst => "tcgen05_cp_dst",
            AccessRole::Tcgen05St => "tcgen05_st",
            AccessRole::Tcgen05Ld => "tcgen05_ld",
            AccessRole::TmaDesc => "tma_desc",
            AccessRole::Own(name) => return name.fmt(f),
        };
        f.write_str(name)
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Space::Smem => "smem",
            Space::Tmem => "tmem",
            Space::Own(name) => return name.fmt(f),
        })
    }
}
