//! The way from a loop to an answer: bounds, a scan of the IIs, the length, the bytes, the check (S28).

pub(crate) mod batch;
mod begin;
mod bytes;
mod capped;
pub(crate) mod core;
pub(crate) mod fixed;
mod improve;
mod length;
pub(crate) mod nest;
mod optimise;
pub(crate) mod pareto;
mod place;
pub(crate) mod rational;
pub(crate) mod replicas;
mod scan;
pub(crate) mod schedule;
mod session;
mod shortening;
pub(crate) mod stride;
mod sweep;
mod unfold;
pub(crate) mod within;
