//! Making operations of a program.

mod arith;
mod op;

pub(crate) use arith::{clone, flipped, place_all, transposition};
pub(crate) use op::{Emit, number};
