//! Random loops and the laws every answer must keep (S87). Feature `fuzzing`; the crate's own tests run it too.

mod brute;
mod generate;
mod kernels;
mod laws;
#[cfg(test)]
mod tests;
mod tiles;

pub use brute::{Truth, enumerate};
pub use generate::{Shape, Source, gpu_loop, loop_graph};
pub use kernels::kernel_loop;
pub use laws::{check_anything, laws, small_laws};
pub use tiles::tile_loop;

use crate::validate::validate;

/// The fuzz target `schedule`: a loop from bytes, every law.
///
/// # Errors
/// The law that is broken.
pub fn schedule_bytes(data: &[u8]) -> Result<(), String> {
    let mut source = Source::bytes(data);
    let shape = if source.below(2) == 0 { Shape::SMALL } else { Shape::WIDE };
    let graph = loop_graph(&mut source, shape);
    let Ok(valid) = validate(&graph) else { return Ok(()) };
    if shape.ops <= Shape::SMALL.ops { small_laws(&valid) } else { laws(&valid) }
}

/// The fuzz target `check`: arbitrary text as a graph and as a schedule; nothing may panic, and what is accepted
/// must be scheduled or refused with a reason.
///
/// # Errors
/// The law that is broken.
pub fn check_bytes(data: &[u8]) -> Result<(), String> {
    check_anything(data)
}
