//! From a tile kernel to a pipelined program.

pub mod check;
mod classes;
mod compile;
mod depth;
pub mod forms;
mod graph;
mod layout;
mod normalize;
mod place;
mod problem;
mod program;
mod registers;
mod select;
mod tma;
mod views;
mod waits;
mod walk;

pub use compile::{Compiled, Options, check_program, compile_to_program};
pub use depth::{Bound, Depth, Round};
pub use graph::{GraphOptions, PipelinedLoop, Role, loop_graph};
pub use normalize::normalize;
pub use select::{Dot, Operand, Selection, TileLoad, TileStore, entry_function, select};
pub use tma::{BoxError, TilePlan};
