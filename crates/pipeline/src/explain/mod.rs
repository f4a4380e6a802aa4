//! What was decided and why, as text (C93).

mod depths;
mod loops;
mod report;
mod rings;
mod stores;

pub use report::explain;
