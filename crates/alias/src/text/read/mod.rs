//! From operations to a module: what the text declares, verified (A3 to A15).

mod kernel;
mod leaves;
mod reader;
mod trees;

pub(crate) use kernel::{Kernel, functions, open, users};
pub(crate) use reader::{ReadOptions, read};
