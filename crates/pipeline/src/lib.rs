//! From a tile kernel to a pipelined, warp-specialised program.
//!
//! A kernel whose loop copies tiles and multiplies them becomes a *program*: partitions of warps copy into rings of
//! buffers and multiply out of them, and mbarriers hand the slots over. The way there, for every kernel:
//!
//! 1. [`normalize`]: branches nested, calls inlined, loop-invariant scalars outside the loop (C8, C9);
//! 2. the [`Strategy`]: who runs it, how tiles move, how products are issued (Q4). Each strategy is planned, or says every
//!    reason why not, with its place and remedy (C90-C92): which tiles are copied how ([`select`]), each loop as a graph
//!    for `warploom-sched`, priced by the chip's cost model ([`loops`]), its schedule, the buffers and barriers that
//!    `warploom-bufassign` gives its values, with fewer slots where the rings do not fit ([`RingDepth`]);
//! 3. the program form of the cheapest plan: partitions, pipelines, handshakes (C20-C33), checked.
//!
//! [`compile_to_program`] goes the whole way, or goes on from a kernel on which a schedule or an assignment is written
//! ([`forms`]); [`resume`] takes any form. [`check`] runs a program's handshakes alone, partitions interleaved at
//! random, and shares no code with the rest. [`explain()`] says what was decided and why.
//!
//! Warp-specialised, on chips with wgmma or tcgen05: one or more `scf.for` with `tt.dot`s of tiles loaded by
//! descriptor, and tile arithmetic, reductions and branches between them (attention); around the loops straight-line
//! code and `scf.if`, tiles loaded once, rows and columns loaded through pointers, and stores by descriptor or through
//! pointers. In one partition: products through pointers on every chip, the chips without asynchronous
//! products, and kernels that do not multiply. Everything else is refused; [`loop_graphs`] works for all of it.
//!
//! ```
//! use warploom_pipeline::{CompileOptions, compile_to_program, explain};
//!
//! let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/gemm.ttir"));
//! let kernel = warploom_ir::parse(text).expect("well-formed text");
//! let target = warploom_chips::Target::named("sm_90a").expect("a known chip");
//! let compiled = compile_to_program(&kernel, &target, &CompileOptions::default()).expect("a supported kernel");
//! assert_eq!((compiled.loops[0].answer.ii, compiled.depths[0].slots), (1024, 3));
//! assert!(warploom_ir::print(&compiled.program).contains("warploom.partition @math"));
//! assert!(explain(&compiled).contains("bound by TC"));
//! ```
//!
//! Rule numbers (C1 .., S1 .., B1 .., T1 ..) are those of `docs/rules`; `warploom rule C31` prints one.

mod bound;
mod buffers;
pub mod check;
mod classes;
mod columns;
mod compiled;
mod descriptor_record;
mod driver;
mod emit;
mod engines;
mod expand;
mod explain;
mod facts;
pub mod forms;
mod layout;
pub mod loops;
mod names;
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
mod specialize;
mod storage;
mod strategy;
mod tma;
mod transports;
mod views;
mod waits;
mod walk;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use buffers::depth::{DepthBound, DepthRound, RingDepth, ScheduledLoop};
pub use compiled::{Compiled, Expanded, Parts};
pub use driver::{check_program, compile_to_program, resume};
pub use engines::{PartitionShape, Products, RegisterLayout};
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
pub use strategy::{
    Moves, PartitionSplit, Partitions, SplitCandidate, SplitCost, SplitPrice, SplitVerdict, Strategy,
    TileCost,
};
pub use tma::{BoxError, TilePlan};
pub use transports::{BlockingLoads, CopiedTile, OperandStores, PipelinedLoads, StoredOperand};
