//! Shapes the tensor-core instructions take (T12, T13).
//!
//! [`mma_sync`], [`wgmma`] and [`tcgen05`] say what an instruction family takes on chips that have it;
//! [`Target::mma_instruction`](crate::Target::mma_instruction) says which family a chip has.

use serde::{Deserialize, Serialize};

pub mod mma_sync;
pub mod tcgen05;
pub mod wgmma;

/// A family of tensor-core instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MmaInstruction {
    /// Synchronous, by one warp, all operands in registers.
    MmaSync,
    /// Asynchronous, by a warpgroup, accumulator in registers.
    Wgmma,
    /// Asynchronous, by one thread, accumulator in tensor memory.
    Tcgen05,
}

impl MmaInstruction {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            MmaInstruction::MmaSync => "mma.sync",
            MmaInstruction::Wgmma => "wgmma",
            MmaInstruction::Tcgen05 => "tcgen05.mma",
        }
    }
}

/// Where an operand lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OperandPlace {
    /// Registers of the issuing threads.
    Registers,
    /// Shared memory.
    Shared,
    /// Tensor memory.
    TensorMemory,
}

/// Which dimension of an operand tile is contiguous. Exhaustive: there are two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Major {
    /// The reduced dimension.
    K,
    /// The dimension that stays, M of A or N of B.
    Mn,
}
