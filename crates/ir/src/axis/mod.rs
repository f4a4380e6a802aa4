//! Axis analysis: how far neighbouring elements of a tile go together along each dimension: consecutive numbers or
//! pointers, equal values, multiples of a power of two (G20). It decides how many elements one access to global memory
//! takes, and along which dimension a tile is copied.
//!
//! A fixed point over a function, from what the text says: `tt.divisibility` of parameters, constants, bounds and
//! steps of loops, and the author's hints `tt.contiguity`, `tt.divisibility`, `tt.constancy`, which are taken at their
//! word. What cannot be derived is 1.
//!
//! Index arithmetic is taken not to leave the range of its type.

mod hints;
mod integers;
pub mod intervals;
mod number;
mod run;
mod shapes;
mod sign;
mod solve;
mod state;
mod transfer;

pub use run::Run;
pub use solve::{AxisFacts, facts};
