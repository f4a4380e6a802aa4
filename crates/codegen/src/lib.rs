//! From a pipelined program to PTX.
//!
//! The input is a [`warploom_ir::Module`] in program form: one function whose partitions run loops over rings of
//! shared-memory slots (C20..C35). [`emit`] lowers it to LLVM IR, lets LLVM's NVPTX back end write PTX, and
//! scans the text before it returns it. Nothing else in the project knows LLVM.
//!
//! ```
//! use warploom_codegen::{EmitOptions, emit};
//!
//! let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/gemm_bf16.mlir"));
//! let program = warploom_ir::parse(text).expect("well-formed text");
//! let target = warploom_chips::Target::named("sm_90a").expect("a known chip");
//! let emitted = emit(&program, &target, &EmitOptions::default()).expect("a right program");
//! assert!(emitted.ptx.contains("wgmma.mma_async"));
//! ```
//!
//! - [`emit`], [`EmitOptions`], [`Emitted`], [`Metadata`]: the compiler.
//! - [`scan`]: what LLVM and ptxas let through and we do not (C41, C43, C46); independent of the compiler.
//! - [`assemble`]: runs ptxas and reads its report (C80).
//! - [`sass`]: counts the instructions of each loop in machine code (C81, C82).

mod approx;
pub mod assemble;
mod descriptor;
mod double;
mod emit;
mod error;
mod family;
mod flow;
mod gate;
mod intrinsic;
mod layout;
mod llvm;
mod lower;
mod machine;
mod metadata;
pub mod pipe;
mod program;
pub mod sass;
pub mod scan;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use emit::{EmitOptions, Emitted, Timings, emit};
pub use metadata::{Metadata, TensorDescriptor};
