//! The reference interpreter, on kernels built by hand and on the kernels that Triton wrote.
#![allow(clippy::unwrap_used, clippy::panic)]

mod broken;
mod build;
mod by_hand;
mod control;
mod elementwise;
mod kernels;
mod memory;
mod tiles;
