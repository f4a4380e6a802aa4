//! Modulo scheduling of loops: the smallest initiation interval (II), proved, and a short schedule at it.
//!
//! A [`LoopGraph`] lists the operations of one loop body, the units they hold and the dependences between them.
//! [`validate`] checks it, [`schedule`] finds a start for every operation, and [`check`] tests an answer, ours or
//! anyone's, without sharing code with the schedulers. Times are whole cycles; nothing here depends on a clock
//! (but for [`ScheduleOptions::time_limit`]), on hashing order or on global state.
//!
//! ```
//! use warploom_sched::{LoopGraph, ScheduleOptions, check, schedule, validate};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut gemm = LoopGraph::new("gemm");
//! gemm.add_resource("TMA", 1).add_resource("TC", 1);
//! let a = gemm.add_node("load a", 556, &[("TMA", 0, 96)]);
//! let b = gemm.add_node("load b", 556, &[("TMA", 0, 96)]);
//! let dot = gemm.add_node("dot", 559, &[("TC", 0, 256)]);
//! gemm.add_edge(a, dot, 556, 0).add_edge(b, dot, 556, 0).add_edge(dot, dot, 256, 1);
//! gemm.add_value(a, 16_384, "smem", &[(dot, 0, 559)]);
//! gemm.add_value(b, 16_384, "smem", &[(dot, 0, 559)]);
//!
//! let answer = schedule(&validate(&gemm)?, &ScheduleOptions::default())?;
//! assert_eq!((answer.ii, answer.length, answer.stages), (256, 1211, 3));
//! assert_eq!(answer.values.iter().map(|v| v.depth).collect::<Vec<_>>(), [5, 5]);
//! check::all(&gemm, &answer)?;
//! # Ok(())
//! # }
//! ```
//!
//! From [`schedule`] the way to an algorithm goes through three names: `schedule`, `optimise` (the passes), `scan` (the
//! IIs), and there are [`ims`](Algorithm::Ims), [`sms`](Algorithm::Sms) and the search.
//!
//! The rules cited throughout (`S1` ..) are those of `docs/rules`; `docs/scheduling.md` explains the algorithms and
//! proves what they rest on.

mod binding;
mod bounds;
pub mod check;
mod driver;
mod exact;
mod heuristic;
mod json;
mod model;
mod partition;
mod post;
pub mod render;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use bounds::least_ii::{Bounds, bounds};
pub use driver::batch::in_order;
pub use driver::core::loop_core;
pub use driver::nest::schedule_nest;
pub use driver::pareto::pareto;
pub use driver::rational::schedule_unrolled;
pub use driver::replicas::{ReplicatedLoop, replicas_answer, schedule_replicas};
pub use driver::schedule::schedule;
pub use driver::within::schedule_within;
pub use json::decode::{MOST_TEXT, decode_text, decode_text_within};
pub use json::read::{read_answer, read_graph, read_graphs, read_partition_model, read_start};
pub use json::write::{read_error_record, record, to_line};
pub use model::answer::{
    Algorithm, Answer, NodeTime, PartitionSplit, ScheduleOutcome, SpaceUse, SplitAlternative, ValueDepth,
};
pub use model::binding::UseBinding;
pub use model::budget::{DepthPricing, MemoryBudget};
pub use model::core::{CoreMember, LoopCore, LoopRemedy};
pub use model::error::ScheduleError;
pub use model::exit::LoopExit;
pub use model::graph::{
    LoopEdge, LoopGraph, LoopNode, LoopPartition, LoopReplica, LoopResource, LoopValue, PartitionKind,
    ValueUse,
};
pub use model::graph_error::{GraphError, GraphErrorKind, GraphErrors};
pub use model::inner::InnerLoop;
pub use model::nest::{InnerRun, NestAnswer};
pub use model::observer::{Observer, Progress};
pub use model::options::{Objective, ScheduleOptions};
pub use model::pareto::{ParetoCurve, ParetoPoint};
pub use model::partition::PartitionModel;
pub use model::rational::{CopyTime, FactorBound, UnrolledAnswer};
pub use model::read_error::{ReadError, ReadErrorKind};
pub use model::record::ErrorRecord;
pub use model::replicate::replicate;
pub use model::resource_use::ResourceUse;
pub use model::start::{StartSchedule, StartTime};
pub use model::unroll::unroll;
pub use model::validate::{ValidGraph, validate};
pub use post::depth::{RingDepth, depths};
pub use post::stages::{StageOptions, relax_stages};
