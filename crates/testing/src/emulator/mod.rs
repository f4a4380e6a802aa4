//! Short programs for the emulator, and what must hold of every run.

mod laws;
mod programs;

pub use laws::{any_module_is_judged, runs_alike};
pub use programs::{Program, program_of, programs};
