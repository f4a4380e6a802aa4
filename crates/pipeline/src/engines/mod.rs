//! What multiplies: which instruction each product of a partition has, its warps, and how tiles lie in their registers
//! (Q20, Q21).

pub(crate) mod asynchronous;
mod blocked;
pub(crate) mod chain;
pub(crate) mod covered;
mod held;
pub(crate) mod misfits;
mod partition_shape;
mod pressure;
pub(crate) mod scratch;
pub(crate) mod shape;
pub(crate) mod sums;
pub(crate) mod tensor;
mod warpgroups;

pub use asynchronous::Products;
pub(crate) use blocked::WHOLE;
pub use partition_shape::{PartitionShape, RegisterLayout};
