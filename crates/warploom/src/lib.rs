//! A compiler backend for GPU kernels whose time is spent in pipelined loops.
//!
//! [`compile`] takes a kernel in Triton's tile IR, modulo-schedules its loop, gives every pipelined value a buffer
//! and a barrier, writes warp-specialised PTX, and runs the checker of every step. Each step is a crate of its own
//! and can be used alone; they are re-exported here as [`ir`], [`target`], [`sched`], [`alias`],
//! [`stablehlo`], [`bufassign`], [`pipeline`], [`emulator`] and, with the feature `llvm` (on by default), [`codegen`].
//!
//! A DSL that embeds Warploom builds its kernel and compiles it:
//!
//! ```
#![doc = include_str!("../examples/embed.rs")]
//! ```

// The command speaks of this crate by its name.
extern crate self as warploom;

pub mod cli;
mod command;
mod compile;
mod html;
mod io;
#[cfg(feature = "llvm")]
pub mod run;
pub mod storage;
#[cfg(feature = "llvm")]
mod tolerance;
#[cfg(feature = "llvm")]
mod tools;
mod tune;

#[cfg(all(doctest, feature = "llvm"))]
#[doc = include_str!("../README.md")]
struct Readme;

pub use compile::{Options, lower, read};
#[cfg(feature = "llvm")]
pub use compile::{Output, compile, emit};
pub use tune::{Candidate, TuneOptions, Tuned, lower_for_share, tune};
pub use warploom_alias as alias;
pub use warploom_bufassign as bufassign;
pub use warploom_chips as target;
pub use warploom_chips::Target;
#[cfg(feature = "llvm")]
pub use warploom_codegen as codegen;
pub use warploom_emulator as emulator;
pub use warploom_ir as ir;
pub use warploom_ir::{Diagnostic, Diagnostics, Module};
pub use warploom_pipeline as pipeline;
pub use warploom_pipeline::{Partitions, Resumed};
pub use warploom_sched as sched;
pub use warploom_stablehlo as stablehlo;
