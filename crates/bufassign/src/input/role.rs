//! How ops touch storage, and where that is legal (B5).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A storage space a value can be bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Space {
    /// Shared memory, in bytes.
    Smem,
    /// Tensor memory, in 32-bit columns.
    Tmem,
}

/// How an op writes or reads a value (B5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
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
}

impl Role {
    /// Whether the role can touch shared memory and tensor memory, in that order (B5).
    pub(crate) fn legal(self) -> (bool, bool) {
        use Role::*;
        match self {
            TmaLoad | TmaStore | TmaReduce | CpAsync | SharedWrite | SharedRead | WgmmaA | WgmmaB
            | Tcgen05B | Tcgen05CpSrc => (true, false),
            RegWrite | RegRead | Tcgen05A => (true, true),
            Tcgen05D | Tcgen05Scale | Tcgen05CpDst | Tcgen05St | Tcgen05Ld => (false, true),
            Signal | TmaDesc => (false, false),
        }
    }

    /// A TMA copy on one side or the other.
    pub(crate) fn is_tma(self) -> bool {
        matches!(self, Role::TmaLoad | Role::TmaStore | Role::TmaReduce)
    }

    /// Completion is signalled on an mbarrier by the hardware (B27).
    pub(crate) fn completes_on_mbarrier(self) -> bool {
        matches!(self, Role::TmaLoad | Role::Tcgen05D | Role::Tcgen05CpDst)
    }

    /// Writes shared memory through the generic proxy.
    pub(crate) fn is_generic_write(self) -> bool {
        matches!(self, Role::RegWrite | Role::SharedWrite | Role::CpAsync)
    }

    /// Reads shared memory through the async proxy.
    pub(crate) fn is_async_proxy_read(self) -> bool {
        use Role::*;
        matches!(self, TmaStore | TmaReduce | WgmmaA | WgmmaB | Tcgen05A | Tcgen05B | Tcgen05CpSrc)
    }

    /// May produce a value.
    pub(crate) fn can_write(self) -> bool {
        use Role::*;
        matches!(
            self,
            TmaLoad
                | CpAsync
                | SharedWrite
                | RegWrite
                | Signal
                | Tcgen05D
                | Tcgen05CpDst
                | Tcgen05St
                | TmaDesc
        )
    }

    /// May consume a value.
    pub(crate) fn can_read(self) -> bool {
        use Role::*;
        !matches!(self, TmaLoad | CpAsync | SharedWrite | RegWrite | Tcgen05CpDst | Tcgen05St)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Role::TmaLoad => "tma_load",
            Role::TmaStore => "tma_store",
            Role::TmaReduce => "tma_reduce",
            Role::CpAsync => "cp_async",
            Role::SharedWrite => "shared_write",
            Role::SharedRead => "shared_read",
            Role::WgmmaA => "wgmma_a",
            Role::WgmmaB => "wgmma_b",
            Role::RegWrite => "reg_write",
            Role::RegRead => "reg_read",
            Role::Signal => "signal",
            Role::Tcgen05B => "tcgen05_b",
            Role::Tcgen05CpSrc => "tcgen05_cp_src",
            Role::Tcgen05A => "tcgen05_a",
            Role::Tcgen05D => "tcgen05_d",
            Role::Tcgen05Scale => "tcgen05_scale",
            Role::Tcgen05CpDst => "tcgen05_cp_dst",
            Role::Tcgen05St => "tcgen05_st",
            Role::Tcgen05Ld => "tcgen05_ld",
            Role::TmaDesc => "tma_desc",
        };
        f.write_str(name)
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Space::Smem => "smem",
            Space::Tmem => "tmem",
        })
    }
}
