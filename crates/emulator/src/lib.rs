//! A PTX machine: runs PTX text with no GPU, and finds races, deadlocks and broken barriers.

mod error;
mod isa;
mod machine;
mod module;
mod number;
mod ptx;
mod race;
mod report;

pub use error::{Diagnostic, Refusal};
pub use machine::device::Device;
pub use machine::launch::{Arg, Launch, Options, Policy, Race};
pub use machine::tensormap::{ElemType, TENSOR_MAP_BYTES, TensorMap, TiledMap};
pub use module::{Entry, Module, Param};
pub use report::{Extent, Finding, Place, Report, Severity, Stats};
