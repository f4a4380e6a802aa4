//! The program checker (C35): an independent reading of a program, from its text alone.
//!
//! [`program`] first checks what is declared ([`Rule`]s about memory, counts, bytes, warps, registers, boxes), then
//! runs the handshakes without the arithmetic: every warp steps through its partition's region, mbarriers count
//! arrivals and bytes as the hardware's do, copies and products complete some time after they were issued, a product's
//! operands are read until a `warploom.mma_wait` retires it, and products that one lane issues into tensor memory
//! finish in their order, each commit behind the products before it. Warps are interleaved by several fixed policies
//! and by seeded random choice, for the trip counts of C28, and for each of them must hold: every read sees the write
//! of its own iteration, no slot is rewritten while it is read, every phase gets just the arrivals and bytes it counts,
//! nobody waits for ever, nothing is in flight at the end. Scalars are computed from made-up arguments, so that loops
//! and branches go as they would.
//!
//! It shares no code with the builders of programs. What it does not check: the arithmetic on tiles, and coordinates of
//! copies.

mod boxes;
mod columns;
mod inert;
mod machine;
mod model;
mod report;
mod rings;
mod run;
mod scenario;
mod structure;
mod turns;
mod verify;
mod warp;

pub use report::{MOST_VIOLATIONS, ProgramViolation, Rule};
pub use scenario::Effort;
pub use verify::{declarations, handshakes, program};
