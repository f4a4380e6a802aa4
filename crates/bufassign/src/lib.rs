//! Buffers and barriers for modulo-scheduled loops.
//!
//! Between a schedule and a kernel stands the question where every value lives and who waits for
//! whom. [`assign`] answers it: given a modulo schedule it gives every value a buffer (bytes of
//! shared memory, columns of tensor memory, a TMA descriptor slot) and a handshake (mbarriers, a
//! named barrier, program order), or says precisely why not. [`check::check`] verifies an answer
//! from input and output alone and shares no code with the producer.
//!
//! ```
//! use warploom_bufassign::{AccessRole, Problem, assign, check};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut b = Problem::builder("gemm", "sm_90a");
//! let (load, math) = (b.partition("load", 1), b.partition("math", 4));
//! let body = b.add_loop(400, 2);
//! let copy = b.op("load k", body, load).takes(500).asynchronous().id();
//! let product = b.op("qk", body, math).at(1, 100).takes(200).asynchronous().id();
//! b.value("k", &[64, 128], "f16")
//!     .swizzle(128)
//!     .written_by(copy, AccessRole::TmaLoad)
//!     .read_by(product, AccessRole::WgmmaB);
//! let problem = b.finish();
//!
//! let answer = assign(&problem, &problem.options)?;
//! check::check(&problem, &answer)?;
//! let k = answer.record(0).ok_or("one record per value")?;
//! assert_eq!((k.depth, k.offset, answer.smem.used), (2, Some(0), 2 * 16384 + 32));
//! # Ok(())
//! # }
//! ```
//!
//! [`pack`] is the offset packer on plain data, usable alone; [`materialize`] turns buffers of an
//! IR function into allocations.
//!
//! Rule numbers (B1 ..) are those of `docs/rules`; `warploom rule B17` prints one. Everything is a pure function; a clock
//! is looked at only where a deadline is given ([`assign_within`], [`pack::PackOptions::deadline`]).

mod advice;
mod alternatives;
mod arcs;
mod assign;
mod barriers;
pub mod check;
mod circle;
mod classify;
mod descriptors;
mod failure;
mod fill;
mod forced;
#[cfg(test)]
mod generated;
mod handshake;
mod input;
mod lifetime;
pub mod materialize;
mod mbarriers;
mod model;
mod nest;
mod order;
mod orders;
mod output;
pub mod pack;
mod packed;
mod place;
mod plan;
mod price;
mod records;
pub mod render;
mod ring;
mod schema;
mod share;
pub mod straight;
mod succession;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use alternatives::{Alternative, PlanPrice, alternatives};
pub use assign::{assign, assign_json, assign_within};
pub use failure::CheckFailure;
pub use input::{
    Access, AccessRole, AssignOptions, AuthorLayout, BlockSpec, BufferValue, CallerEdge, ColumnsSpec,
    Consumer, DescriptorSpec, Exit, Inside, LayoutLeaf, LayoutRef, MachineSpec, NameTooLong, OpBuilder,
    OwnName, Preset, Problem, ProblemBuilder, Producer, Proxy, RegionKind, Repeat, Reserved, RingBarrierSpec,
    RoleSpec, ScheduledOp, ScheduledRegion, Sharing, Space, SpaceSpec, TargetSpec, ValueBuilder,
    WarpPartition, element_bits,
};
pub use output::*;
pub use schema::json_schema;
