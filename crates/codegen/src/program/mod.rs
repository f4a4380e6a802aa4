//! The declarations of a program, read into plain values and checked: parameters, rings, barriers, partitions
//! (C10, C15, C20..C22, C31, C32).

mod attributes;
mod maps;
mod partition;
mod read;
mod ring;
mod scratch;
mod turns;
mod types;

pub(crate) use types::{
    Columns, HALF_ROWS, Handshake, MAP_BYTES, MadeMap, Partition, Payload, Program, Ring, Scratch,
};
