//! Making operations of a program.

mod arith;
mod op;

pub(crate) use arith::clone;
pub(crate) use op::{Emit, number};
