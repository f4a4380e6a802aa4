//! Outer guards on a search: wall time, and a caller who watches (S45). Counted steps are the deterministic bound;
//! these are not.

use crate::model::observer::{Observer, Progress};
use crate::model::options::ScheduleOptions;
use std::time::{Duration, Instant};

/// Tells when to stop.
pub(crate) struct Guard {
    start: Instant,
    limit: Option<Duration>,
    observer: Option<Observer>,
    progress: Progress,
    stopped: Option<&'static str>,
}

impl Guard {
    pub fn new(options: &ScheduleOptions) -> Self {
        Guard {
            start: Instant::now(),
            limit: options.time_limit,
            observer: options.observer.clone(),
            progress: Progress::default(),
            stopped: None,
        }
    }

    /// Notes progress, for the observer.
    pub fn note(&mut self, change: impl FnOnce(&mut Progress)) {
        change(&mut self.progress);
        self.expired();
    }

    /// Whether a limit is reached; once it is, it stays so.
    pub fn expired(&mut self) -> bool {
        if self.stopped.is_none() {
            if self.limit.is_some_and(|limit| self.start.elapsed() >= limit) {
                self.stopped = Some("time");
            } else if self.observer.as_ref().is_some_and(|o| o.cancels(&self.progress)) {
                self.stopped = Some("cancelled");
            }
        }
        self.stopped.is_some()
    }

    /// Why the search was stopped, for the answer.
    pub fn stopped_by(&self) -> Option<String> {
        self.stopped.map(str::to_owned)
    }

    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    pub fn micros(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}
