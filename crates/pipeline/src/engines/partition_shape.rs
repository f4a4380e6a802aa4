//! Warps and registers of one partition, and how its tiles lie, as data (C31, C61, C66, C67).

use warploom_chips::mma::MmaInstruction;

/// How tiles lie in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RegisterLayout {
    /// Accumulators of mma.sync: warps along M and along N.
    MmaSync {
        /// Warps along the rows.
        m: u64,
        /// Warps along the columns.
        n: u64,
    },
    /// Accumulators of wgmma: 64 rows of a tile to each warpgroup in turn.
    Wgmma {
        /// Warpgroups side by side, which have a part of the columns each.
        columns: u64,
    },
    /// The same where products lie in tensor memory: 64 rows.
    TensorHalves {
        /// Warpgroups side by side, which have a part of the columns each.
        columns: u64,
    },
    /// The same, pairs of warpgroups sharing 128 rows of tensor memory: products of 64 rows use half of the tensor core.
    TensorPairs,
    /// Rows of tensor memory: 128 rows of a tile to each warpgroup in turn, one to each lane.
    TensorRows,
    /// Neighbours in a lane, lanes in rows.
    Blocked {
        /// Neighbouring elements of a lane.
        vector: u64,
        /// Lanes along the columns.
        across: u64,
    },
}

/// What one partition is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PartitionShape {
    /// Its warps.
    pub warps: u64,
    /// Registers per thread.
    pub registers: u64,
    /// The layout of its tiles.
    pub layout: RegisterLayout,
    /// Bytes by which its warps exchange what they reduce together (C65).
    pub scratch: u64,
}

impl PartitionShape {
    /// How its products are issued.
    pub fn instruction(&self) -> MmaInstruction {
        match self.layout {
            RegisterLayout::Wgmma { .. } => MmaInstruction::Wgmma,
            RegisterLayout::TensorHalves { .. }
            | RegisterLayout::TensorPairs
            | RegisterLayout::TensorRows => MmaInstruction::Tcgen05,
            RegisterLayout::MmaSync { .. } | RegisterLayout::Blocked { .. } => MmaInstruction::MmaSync,
        }
    }

    /// Warps or warpgroups along the columns.
    pub fn columns(&self) -> u64 {
        match self.layout {
            RegisterLayout::MmaSync { n: columns, .. }
            | RegisterLayout::Wgmma { columns }
            | RegisterLayout::TensorHalves { columns } => columns,
            _ => 1,
        }
    }

    /// Whether products of the asynchronous proxy read what lanes copied and stored (C26).
    pub fn asynchronous(&self) -> bool {
        self.instruction() != MmaInstruction::MmaSync
    }
}
