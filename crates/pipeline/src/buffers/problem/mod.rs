//! The assignment problem of a scheduled kernel (B1-B5).

mod build;
mod numbering;
mod spare;
mod tensor;

pub(crate) use build::{Source, problem};
pub(crate) use numbering::{
    accumulator_value, filled, operand_value, payload_value, staging_value, value_fill,
};
