//! Modulo scheduling of loops: the smallest initiation interval (II), proved, and a short schedule at it.
//!
//! A [`LoopGraph`] lists the operations of one loop body, the units they hold and the dependences between them.
//! [`validate`] checks it, [`schedule`] finds a start for every operation, and [`check`] tests an answer, ours or
//! anyone's, without sharing code with the schedulers. Times are whole cycles; nothing here depends on a clock
//! (but for [`Options::time_limit`]), on hashing order or on global state.
//!
//! ```
//! use warploom_sched::{LoopGraph, Options, check, schedule, validate};
//!
//! let mut gemm = LoopGraph::new("gemm");
//! gemm.add_resource("TMA", 1).add_resource("TC", 1);
//! let a = gemm.add_node("load a", 556, &[("TMA", 0, 96)]);
//! let b = gemm.add_node("load b", 556, &[("TMA", 0, 96)]);
//! let dot = gemm.add_node("dot", 559, &[("TC", 0, 256)]);
//! gemm.add_edge(a, dot, 556, 0).add_edge(b, dot, 556, 0).add_edge(dot, dot, 256, 1);
//! gemm.add_value(a, 16_384, "smem", &[(dot, 0, 559)]);
//! gemm.add_value(b, 16_384, "smem", &[(dot, 0, 559)]);
//!
//! let valid = validate(&gemm).expect("a valid loop");
//! let answer = schedule(&valid, &Options::default()).expect("a schedule");
//! assert_eq!((answer.ii, answer.length, answer.stages), (256, 1211, 3));
//! assert_eq!(answer.values.iter().map(|v| v.depth).collect::<Vec<_>>(), [5, 5]);
//! check::all(&gemm, &answer).expect("the checker agrees");
//! ```
//!
//! The rules `S1`-`S96` cited throughout are those of the scheduler's specification; `docs/scheduling.md`
//! explains the algorithms and proves what they rest on.

mod agents;
mod answer;
mod auto;
mod bounds;
mod budget;
mod bytes;
pub mod check;
mod compact;
mod depth;
mod digraph;
mod error;
mod flow;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod graph;
mod guard;
mod ims;
mod joint;
mod json;
mod large;
mod normal;
mod options;
mod order;
mod paths;
mod problem;
mod random;
pub mod render;
mod schedule;
mod search;
mod serial;
mod sms;
mod stages;
mod table;
mod validate;

pub use agents::{AgentModel, assign_agents};
pub use answer::{Algorithm, Answer, NodeTime, Outcome, SpaceUse, ValueDepth};
pub use bounds::{Bounds, bounds};
pub use budget::{Budget, Footprint, schedule_within};
pub use depth::{Depth, depths};
pub use error::{ErrorRecord, GraphError, GraphErrorKind, ReadError, ScheduleError};
pub use graph::{Agent, AgentKind, Edge, LoopGraph, Node, Resource, Use, Value, ValueUse};
pub use guard::{Observer, Progress};
pub use json::{decode_text, read_answer, read_error_record, read_graph, read_graphs, record, to_line};
pub use options::{Objective, Options};
pub use schedule::schedule;
pub use stages::{StageOptions, relax_stages};
pub use validate::{ValidGraph, validate};
