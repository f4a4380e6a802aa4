//! The GPUs Warploom compiles for, as plain data: what they hold, what they can do, what things cost.
//!
//! [`Target::named`] reads one of nine built-in data files. Everything in it is a public field with a
//! unit; there is no hidden state, and a changed copy is as good as the original.
//!
//! Rule numbers (T1 ..) are those of the targets specification.

mod element;
mod error;
mod feature;
mod file;
mod limits;
mod named;
mod registers;
mod render;
mod residency;
mod swizzle;
mod target;
mod version;

pub mod barrier;
pub mod check;
pub mod cost;
pub mod mma;
pub mod tma;

pub use element::{Element, UnknownElement};
pub use error::TargetError;
pub use feature::Feature;
pub use limits::{
    Barriers, Chip, Cluster, Descriptors, Grid, LaneSet, RegisterFile, SetMaxNReg, SharedMemory,
    TensorMemory, Threads,
};
pub use registers::{AgentWarps, DEFAULT_KEEP, RegisterError, RegisterPlan};
pub use render::{describe, overview};
pub use residency::{CtaDemand, DoesNotFit, Residency, Resource};
pub use swizzle::{Swizzle, TmaSwizzle};
pub use target::Target;
pub use version::{PtxVersion, PtxVersionError};
