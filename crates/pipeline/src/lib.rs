//! From a tile kernel to a pipelined, warp-specialised program.
//!
//! A kernel whose loop copies tiles and multiplies them becomes a *program*: one partition of warps copies into rings
//! of buffers, another one multiplies out of them, and mbarriers hand the slots over. The way there:
//!
//! 1. [`normalize`]: branches nested, calls inlined, loop-invariant scalars outside the loop (C8, C9);
//! 2. [`select`]: the loops, their copies, rings and products, the stores, or every reason why not, each with its place
//!    and remedy (C90-C92);
//! 3. [`loop_graph`]: each loop as a graph for `warploom-sched`, priced by the chip's cost model ([`loops`]);
//! 4. the schedule, and the buffers and barriers that `warploom-bufassign` gives its values; where the rings do not
//!    fit, the scheduler is asked again with fewer slots ([`RingDepth`] tells what bound them);
//! 5. the program form: partitions, pipelines, handshakes (C20-C33).
//!
//! [`compile_to_program`] goes the whole way, or goes on from a kernel on which a schedule or an assignment is written
//! ([`forms`]); [`resume`] takes any form. [`check`] runs a program's handshakes alone, partitions interleaved at
//! random, and shares no code with the rest. [`explain()`] says what was decided and why.
//!
//! Warp-specialised, on chips with wgmma or tcgen05: one or more `scf.for` with `tt.dot`s of tiles loaded by
//! descriptor, and tile arithmetic, reductions and branches between them (attention); around the loops straight-line
//! code and `scf.if`, tiles loaded once, rows and columns loaded through pointers, and stores by descriptor or through
//! pointers. In one partition ([`single`]): products through pointers on every chip, the chips without asynchronous
//! products, and kernels that do not multiply. Everything else is refused; [`loop_graphs`] works for all of it.
//!
//! ```
//! use warploom_pipeline::{CompileOptions, compile_to_program, explain};
//!
//! let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/gemm.ttir"));
//! let kernel = warploom_ir::parse(text).expect("well-formed text");
//! let target = warploom_chips::Target::named("sm_90a").expect("a known chip");
//! let compiled = compile_to_program(&kernel, &target, &CompileOptions::default()).expect("a supported kernel");
//! assert_eq!((compiled.answer.ii, compiled.depth.slots), (1024, 3));
//! assert!(warploom_ir::print(&compiled.program).contains("warploom.partition @math"));
//! assert!(explain(&compiled).contains("bound by TC"));
//! ```
//!
//! Rule numbers (C1 .., S1 .., B1 .., T1 ..) are those of `docs/rules`; `warploom rule C31` prints one.

mod bound;
mod buffers;
mod candidates;
pub mod check;
mod choice;
mod classes;
mod columns;
mod compile;
mod compiled;
mod descriptor_record;
mod driver;
mod emit;
mod engines;
mod expand;
mod explain;
mod facts;
mod fallback;
pub mod forms;
mod layout;
pub mod loops;
mod nest;
mod normalize;
mod options;
mod orient;
mod place;
mod registers;
mod resumed;
mod select;
mod sets;
mod sharing;
pub mod single;
mod specialize;
mod storage;
mod tma;
mod transports;
mod views;
mod waits;
mod walk;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use buffers::depth::{DepthBound, DepthRound, RingDepth, ScheduledLoop};
pub use candidates::{PartitionSplit, SplitCandidate, SplitCost, SplitVerdict};
pub use compile::compile_to_program;
pub use compiled::Compiled;
pub use driver::{check_program, resume};
pub use explain::explain;
pub use facts::{Facts, LoopFacts, PartitionFacts};
pub use forms::{TextForm, form};
pub use loops::{
    GraphOptions, LoopNode, Part, PartitionRole, PipelinedLoop, Replicas, loop_graph, loop_graphs,
};
pub use normalize::normalize;
pub use options::CompileOptions;
pub use resumed::Resumed;
pub use select::{
    Dot, Filling, OperandSource, Selection, TileLoad, TileRing, TileStore, entry_function, select,
};
pub use storage::BUFFER;
pub use tma::{BoxError, TilePlan};
