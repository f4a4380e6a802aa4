//! Loop graphs for `warploom-sched`, and the laws its answers keep (S87).
//!
//! ```
//! use warploom_sched::{LoopGraph, ScheduleOptions};
//! use warploom_testing::sched::laws;
//!
//! let mut mine = LoopGraph::new("mine");
//! mine.add_resource("ALU", 1);
//! let x = mine.add_node("x", 3, &[("ALU", 0, 2)]);
//! mine.add_edge(x, x, 3, 1);
//! laws::schedule_is_legal(&mine, &ScheduleOptions::default()).expect("a legal schedule");
//! laws::algorithms_agree(&mine).expect("no algorithm contradicts another");
//! ```
//!
//! [`loops`] and its siblings are strategies of `proptest`; what fails shrinks to the least loop that still does.

mod alternatives;
mod enumerate;
mod generate;
mod kernels;
pub mod laws;
mod limits;
mod machines;
pub mod mutants;
mod nests;
mod planted;
mod shrink;
mod source;
mod split;
mod strategies;
mod tiles;

pub use alternatives::{least_bound_ii, with_alternatives};
pub use enumerate::{TooLarge, least_length};
pub use generate::{LoopShape, gpu_loop, loop_graph};
pub use kernels::kernel_loop;
pub use limits::limit_loop;
pub use machines::{Chip, attention_in_tiles, gradient_in_tiles, kernels_to_split, ping_pong};
pub use nests::nest_of_two;
pub use planted::{Planted, planted_loop};
pub use shrink::LoopTree;
pub use source::Source;
pub use split::{least_split, small_machine, split_loop};
pub use strategies::{
    LoopStrategy, gpu_loops, kernel_loops, limit_loops, loops, planted_loops, split_loops, tile_loops,
};
pub use tiles::tile_loop;
