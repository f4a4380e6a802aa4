//! Which partition (warps with one program order) issues what (S61-S69, S97, S98).

pub(crate) mod assign;
mod capacity;
mod cost;
mod frame;
mod placed;
mod registers;
mod search;
mod seeds;
mod settle;
