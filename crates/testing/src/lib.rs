//! Proptest strategies with shrinking for every public input of Warploom's crates, and their invariants as laws.
//!
//! One module a crate, each behind a feature of its name. Nothing here needs LLVM.

#[cfg(feature = "alias")]
pub mod alias;
#[cfg(feature = "bufassign")]
pub mod bufassign;
#[cfg(feature = "emulator")]
pub mod emulator;
#[cfg(feature = "ir")]
pub mod ir;
#[cfg(feature = "pipeline")]
pub mod pipeline;
#[cfg(feature = "ptx")]
pub mod ptx;
#[cfg(feature = "sched")]
pub mod sched;
#[cfg(feature = "stablehlo")]
pub mod stablehlo;

#[cfg(all(doctest, feature = "sched"))]
#[doc = include_str!("../README.md")]
struct Readme;
