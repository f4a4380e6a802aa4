//! How far neighbouring elements of a tile go together: consecutive numbers or pointers, equal values, multiples of
//! a power of two. It decides how many elements one access to global memory takes (C8, C48).
//!
//! Everything is derived from the text: `tt.divisibility` of parameters, constants, bounds and steps of loops. What
//! cannot be derived is 1; no element is ever said to be more regular than it is.

mod divisor;
mod tiles;
mod types;

pub(super) use types::Runs;
