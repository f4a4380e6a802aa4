//! What blocks of threads have on the machines that run them (B82).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Threads, barriers and descriptors of a block; its memory is the space `smem`, and a space `tmem` may have columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockSpec {
    /// Threads of a warp.
    pub threads_per_warp: u32,
    /// Most threads of a block.
    pub threads: u32,
    /// Bytes of its memory that a block may take without asking for more at its launch.
    pub default_bytes: u64,
    /// Bytes of memory that the blocks of one multiprocessor share.
    pub shared_bytes: u64,
    /// Bytes that every block takes of those beside its own.
    pub reserved_bytes: u64,
    /// Named barriers: ids from 0 on.
    pub barriers: u32,
    /// Ids among them that are not to be given out.
    #[serde(default)]
    pub reserved_barriers: Vec<u32>,
    /// Barriers in memory, of which a ring takes one or two for each slot.
    pub ring_barriers: RingBarrierSpec,
    /// Descriptor slots, where there are any.
    #[serde(default)]
    pub descriptors: DescriptorSpec,
}

/// A barrier in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RingBarrierSpec {
    /// Its size and alignment, a power of two.
    pub bytes: u64,
    /// Most bytes of copies that it counts in one phase.
    pub counts: u64,
}

/// Slots of descriptors; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DescriptorSpec {
    /// How many there are.
    pub slots: u64,
    /// Bytes of one.
    pub bytes: u64,
    /// Alignment in bytes of one that the device builds.
    pub align: u64,
}

/// A memory of columns: every column has a cell in each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ColumnsSpec {
    /// Lanes; a tile takes all of them or half.
    pub lanes: u64,
    /// Columns.
    pub columns: u64,
    /// Bits of one cell.
    pub cell_bits: u64,
    /// Columns are allocated in powers of two from this on.
    pub min_alloc: u64,
}

impl ColumnsSpec {
    /// Bytes of all cells, unless that overflows.
    pub(crate) fn bytes(&self) -> Option<u64> {
        Some(self.lanes.checked_mul(self.columns)?.checked_mul(self.cell_bits)? / 8)
    }
}
