//! From a tile kernel to a pipelined program.

pub mod check;
mod classes;
mod compile;
mod depth;
mod explain;
pub mod forms;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
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

pub use compile::{Compiled, Options, Resumed, check_program, compile_to_program, resume};
pub use depth::{Bound, Depth, Round};
pub use explain::explain;
pub use forms::{Form, form};
pub use graph::{GraphOptions, PipelinedLoop, Role, loop_graph};
pub use normalize::normalize;
pub use select::{Dot, Operand, Selection, TileLoad, TileStore, entry_function, select};
pub use tma::{BoxError, TilePlan};
