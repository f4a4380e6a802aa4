//! Loops with pipelined loads, expanded (C23, C24, C28): loads are issued `D - 1` iterations ahead of their use, D being
//! the depth of the ring that the schedule asks for.
//!
//! ```text
//! prologue   copies of iterations 0 .. D-2, one group each
//! loop       wait for the group of this iteration, meet; copies of the iteration D-1 further on; compute
//! drain      copies beyond the last iteration are masked off; wait for all groups
//! ```
//!
//! The copies of iterations that do not exist touch no memory, so that every trip count is right, 0 included (C7).

mod given_back;
mod issue;
mod met;
pub(crate) mod order;
mod product_waits;
mod program;
mod returned;
pub(crate) mod rounds;
mod thread;
mod trips;

pub(crate) use program::build;
