//! What of a kernel is pipelined and how: its loops, its copies and the rings they fill, its products, its stores.
//!
//! Selection refuses everything that cannot be compiled, all at once and in file order (C90).

mod accumulators;
mod descriptors;
mod dot;
mod epilogue;
mod find;
mod ops;
mod order;
mod pass;
mod rings;
mod selection;

pub use find::entry_function;
pub use pass::select;
pub use selection::{
    Accumulator, AccumulatorKind, Dot, Filling, OperandSource, Selection, TileLoad, TileRing, TileStore,
    TmemOperand,
};
