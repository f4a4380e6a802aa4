//! The loop graph of any pipelined loop on any chip (C9, S1-S8): what its operations occupy, what waits for what, which
//! partition issues what, and which values need room.
//!
//! One node for every operation of the loop that occupies a unit by the chip's cost model, and one for every move that
//! the chip asks for beside it: a copied tile read into registers, a product read out of tensor memory, an operand
//! written into it. Scalars, views and index functions are no nodes (C8); what depends on them depends on what they are
//! made of.
//!
//! | operation | partition | unit |
//! |---|---|---|
//! | `tt.descriptor_load` | load | TMA |
//! | `tt.load` of a tile | math (`cp.async`) | SMEM |
//! | `tt.dot` | math, or mma where one thread issues it (tcgen05) | TC |
//! | everything else | math | FP32, SFU, SMEM, TMEM, ISSUE |
//!
//! An edge carries the latency of its source, and the synchronisation cost where the two ends belong to different
//! partitions (S66). Values: tiles in shared memory from the issue of their copy until their last reader has given the
//! slot back, products in tensor memory, and register tiles, where operations that overwrite their operand share one
//! value.

mod access;
mod beside;
mod bits;
mod build;
mod edges;
mod graph;
mod index;
mod nodes;
mod price;
mod refusal;
mod replicas;
mod rows;
mod trip;
mod values;

pub use crate::nest::pipelined_loops;
pub(crate) use beside::beside;
pub use build::{loop_graph, loop_graphs};
pub use graph::{GraphOptions, LoopNode, Part, PartitionRole, PipelinedLoop, Replicas};
pub(crate) use refusal::{invalid_graph, no_schedule};
pub(crate) use replicas::refused as replicas_refused;
pub use trip::TripPrices;
pub(crate) use trip::TripWarps;
