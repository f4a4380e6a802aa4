//! Where everything of a program lies: pipelines, named barriers, partitions with their warps and registers.

mod build;
mod declare;
mod expanded;
mod tensor;
mod types;

pub(crate) use build::SCRATCH_ALIGN;
pub(crate) use expanded::BARRIER;
pub(crate) use types::{ProgramLayout, Ring, RingUse};
