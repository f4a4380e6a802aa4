//! Outer guards on a search: wall time (S45). Counted steps are the deterministic bound; this is not.

use std::time::{Duration, Instant};

/// Tells when to stop.
pub(crate) struct Guard {
    start: Instant,
    limit: Option<Duration>,
    stopped: bool,
}

impl Guard {
    pub fn new(limit: Option<Duration>) -> Self {
        Guard { start: Instant::now(), limit, stopped: false }
    }

    /// Whether the limit is reached; once it is, it stays so.
    pub fn expired(&mut self) -> bool {
        if !self.stopped && self.limit.is_some_and(|limit| self.start.elapsed() >= limit) {
            self.stopped = true;
        }
        self.stopped
    }

    /// Why the search was stopped, for the answer.
    pub fn stopped_by(&self) -> Option<String> {
        self.stopped.then(|| "time".to_owned())
    }

    pub fn micros(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}
