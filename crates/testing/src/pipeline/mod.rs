//! Kernels made up at random: matrix products of all shapes and types with all kinds of epilogues, strategies of them,
//! and the laws that whatever compiles them must keep.
//!
//! ```
//! use warploom_pipeline::CompileOptions;
//! use warploom_testing::pipeline::{Kernel, Outcome, exercise};
//!
//! let hopper = warploom_chips::Target::named("sm_90a").expect("a known chip");
//! let outcome = exercise(&Kernel::default().text(), &hopper, &CompileOptions::default(), 2);
//! assert_eq!(outcome, Ok(Outcome::Compiled));
//! ```

mod kernel;
mod laws;
mod looped;
mod print;
mod source;
mod strategy;
mod tiles;

pub use kernel::{Activation, Kernel};
pub use laws::{Outcome, exercise, reasoned};
pub use source::text;
pub use strategy::{any_kernels, kernels, options};
pub use tiles::{TileArg, TileKernel};
