//! The problem after validation: dense indices, ascending ids, bounded numbers (B1, B4, B14).

mod build;
mod cycles;
mod ids;
mod limits;
mod ready;
mod types;
mod values;

pub(crate) use build::build;
pub(crate) use cycles::{owner, zero_distance_cycles};
pub(crate) use types::{Anchor, Model, is_accumulation};
