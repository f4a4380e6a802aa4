//! How deep the rings are, and what decided it (S51-S57, B65-B67, C6).

mod refusal;
mod search;
mod types;

pub(crate) use refusal::assign_error;
pub(crate) use search::Search;
pub(crate) use types::Fitted;
pub use types::{DepthBound, DepthRound, RingDepth, ScheduledLoop};
