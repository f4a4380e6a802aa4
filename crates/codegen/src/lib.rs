//! From a pipelined program to PTX.
//!
//! The input is a [`warploom_ir::Module`] in program form: one function whose agents run loops over rings of
//! shared-memory slots (C20..C35). [`emit`] lowers it to LLVM IR, lets LLVM's NVPTX back end write PTX, and
//! scans the text before it returns it. Nothing else in the project knows LLVM.
//!
//! - [`emit`], [`Options`], [`Emitted`], [`Metadata`]: the compiler.
//! - [`scan`]: what LLVM and ptxas let through and we do not (C41, C43, C46); independent of the compiler.
//! - [`assemble`]: runs ptxas and reads its report (C80).
//! - [`sass`]: counts the instructions of each loop in machine code (C81, C82).

mod approx;
pub mod assemble;
mod descriptor;
mod emit;
mod error;
mod flow;
mod intrinsic;
mod layout;
mod llvm;
mod lower;
mod machine;
mod metadata;
mod program;
pub mod sass;
pub mod scan;
mod scratch;

pub use emit::{Emitted, Options, Timings, emit};
pub use metadata::{Metadata, TensorDescriptor};
