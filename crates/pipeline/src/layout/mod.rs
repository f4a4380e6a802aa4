//! Where everything of a program lies: pipelines, named barriers, partitions with their warps and registers.

mod build;
mod tensor;
mod types;

pub(crate) use types::{ProgramLayout, Ring, RingUse};
