//! A PTX machine: runs PTX text with no GPU, and finds races, deadlocks and broken barriers.

mod error;
mod isa;
mod module;
mod number;
mod ptx;

pub use error::{Diagnostic, Refusal};
pub use module::{Entry, Module, Param};
