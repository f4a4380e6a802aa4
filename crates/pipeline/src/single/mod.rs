//! Kernels that one partition runs: all warps copy, all warps compute (C9, C24, C28).
//!
//! This is how the chips without asynchronous products work, and loops without a product on every chip. A loop that
//! loads tiles through pointers is expanded: its loads are pipelined, `D - 1` iterations ahead of their use, D being
//! the depth of the ring that the schedule asks for.
//!
//! ```text
//! prologue   copies of iterations 0 .. D-2, one group each
//! loop       wait for the group of this iteration, meet; copies of the iteration D-1 further on; compute
//! drain      copies beyond the last iteration are masked off; wait for all groups
//! ```
//!
//! The copies of iterations that do not exist touch no memory, so that every trip count is right, 0 included (C7).
//!
//! Tiles behind descriptors come by TMA where the chip has it and a loop has pipelined loads of them (`engine`);
//! elsewhere their descriptors are taken apart (`descriptors`).

mod asynchronous;
mod blocking;
mod build;
mod compile;
mod compiled;
mod covered;
mod declare;
mod descriptors;
mod draft;
mod engine;
mod expand;
mod explain;
mod find;
mod fit;
mod forms;
mod given;
mod induction;
mod issue;
mod loads;
mod operand_stores;
mod operands;
mod order;
mod partition_shape;
mod plan;
mod planned;
mod product_waits;
mod program;
mod relaid;
mod resume;
mod roots;
mod rounds;
mod scaled;
mod scratch;
mod shape;
mod slice;
mod tensor;
mod thread;
mod turns;
mod widened;

pub use asynchronous::Products;
pub use blocking::BlockingLoads;
pub use compile::{applies, compile};
pub(crate) use compile::{compile_synchronous, resume};
pub use compiled::Single;
pub use explain::explain;
pub use find::CopiedTile;
pub use loads::PipelinedLoads;
pub use operand_stores::{OperandStores, StoredOperand};
pub use partition_shape::{PartitionShape, RegisterLayout};
pub(crate) use shape::split;
