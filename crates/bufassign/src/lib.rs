//! Buffers and barriers for modulo-scheduled loops.
//!
//! Between a schedule and a kernel stands the question where every value lives and who waits for
//! whom. [`assign`] answers it: given a modulo schedule it gives every value a buffer (bytes of
//! shared memory, columns of tensor memory, a TMA descriptor slot) and a handshake (mbarriers, a
//! named barrier, program order), or says precisely why not. [`check::check`] verifies an answer
//! from input and output alone and shares no code with the producer.
//!
//! [`pack`] is the offset packer on plain data, usable alone; [`materialize`] turns buffers of an
//! IR function into allocations.
//!
//! Rule numbers (B1 ..) are those of the buffer specification. Everything is a pure function.

mod advice;
mod arcs;
mod assign;
mod barriers;
pub mod check;
mod circle;
mod classify;
mod descriptors;
mod forced;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
#[cfg(test)]
mod generated;
mod handshake;
mod input;
mod lifetime;
pub mod materialize;
mod mbarriers;
mod model;
mod order;
mod orders;
mod output;
pub mod pack;
mod place;
mod plan;
mod records;
pub mod render;
#[cfg(any(test, feature = "fuzzing"))]
mod replay;
mod ring;
mod schema;
mod share;
mod succession;

pub use assign::{assign, assign_json};
pub use input::{
    Agent, Consumer, Edge, Exit, Layout, LayoutRef, Leaf, Op, Options, Preset, Problem, Producer, Region,
    RegionKind, Repeat, Reserved, Role, Sharing, Space, TargetSpec, Value, element_bits,
};
pub use output::*;
pub use schema::json_schema;
