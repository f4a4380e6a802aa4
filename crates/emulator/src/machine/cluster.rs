//! A cluster that runs: what its warps share, and the warps.

use super::core::Core;
use super::warp::Warp;

/// A cluster that runs.
pub(crate) struct Machine<'a> {
    pub core: Core<'a>,
    pub warps: Vec<Warp>,
    /// The warp whose turn is next.
    pub next: usize,
}
