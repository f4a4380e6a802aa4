//! The problem after validation: dense indices in an order that no id decides, bounded numbers (B1, B4, B14, B80).

mod build;
mod canonical;
mod cycles;
mod ids;
mod limits;
mod machine;
mod ready;
mod types;
mod values;

pub(crate) use build::build;
pub(crate) use cycles::{owner, zero_distance_cycles};
pub(crate) use machine::Machine;
pub(crate) use types::{Anchor, MAX_TIME, Model, is_accumulation};
