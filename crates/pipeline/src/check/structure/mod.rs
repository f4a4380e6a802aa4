//! What a program declares: memory, counts, bytes, warps, registers, named barriers (C15, C20-C24, C31, C32).

mod all;
mod arrivals;
mod memory;
mod operations;
mod partitions;
mod turns;

pub(super) use all::check;
