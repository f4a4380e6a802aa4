//! From a scheduled and assigned kernel to a program: partitions, pipelines, handshakes (C20-C33, C35).
//!
//! Each partition is made by walking the kernel and copying what that partition needs: the loading partition the
//! coordinates of its copies, the computing partition everything that results are made from. Values are copied when
//! somebody first asks for them, loops and branches where the partition has something to do inside. The (index, phase)
//! of each ring goes along as a value, round loops and out of branches. Inside a pipelined loop the computing
//! partition's operations may belong to two iterations at once ([`rotate`]).

mod accumulators;
mod build;
mod builder;
mod control;
mod copy;
mod fill;
mod needed;
mod operands;
mod partition;
mod products;
mod rotate;
mod shape;
mod store;
mod tensor_shape;
mod tiles;
mod turns;
mod walker;

pub(crate) use build::build;
pub(crate) use builder::Source;
pub(crate) use shape::shape;
pub(crate) use tensor_shape::{computing, issuing};
