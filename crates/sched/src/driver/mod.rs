//! The way from a loop to an answer: bounds, a scan of the IIs, the length, the bytes, the check (S28).

mod bytes;
mod capped;
pub(crate) mod fixed;
mod length;
mod optimise;
mod place;
mod scan;
pub(crate) mod schedule;
mod session;
pub(crate) mod stride;
mod sweep;
pub(crate) mod within;
