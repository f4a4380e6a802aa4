//! Kernels that one partition runs.
mod compile;
mod compiled;
mod explain;
mod forms;
pub use crate::engines::{PartitionShape, Products, RegisterLayout};
pub use crate::transports::{BlockingLoads, CopiedTile, OperandStores, PipelinedLoads, StoredOperand};
pub use compile::{applies, compile};
pub(crate) use compile::{compile_synchronous, resume};
pub use compiled::Single;
pub use explain::explain;
