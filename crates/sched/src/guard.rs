//! Outer guards on a search: wall time, and a caller who watches (S45). Counted steps are the deterministic bound;
//! these are not.

use crate::options::Options;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How far a search has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The II that is being asked about.
    pub ii: i64,
    /// Every smaller II is refuted.
    pub lower_bound: i64,
    /// The II of the best schedule so far.
    pub best_ii: Option<i64>,
    /// The length of the best schedule so far.
    pub best_length: Option<i64>,
}

/// A caller's function that is told of progress and may end the search (S45): what was found until then is
/// returned, with `stopped_by: "cancelled"`.
///
/// It is called at every II, whenever a schedule is found, and every 64 search nodes.
#[derive(Clone)]
pub struct Observer(Arc<Watch>);

type Watch = dyn Fn(&Progress) -> ControlFlow<()> + Send + Sync;

impl Observer {
    /// Wraps a function; `ControlFlow::Break` ends the search.
    pub fn new(watch: impl Fn(&Progress) -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        Observer(Arc::new(watch))
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

/// One function is equal to itself alone.
impl PartialEq for Observer {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Observer {}

/// Tells when to stop.
pub(crate) struct Guard {
    start: Instant,
    limit: Option<Duration>,
    observer: Option<Observer>,
    progress: Progress,
    stopped: Option<&'static str>,
}

impl Guard {
    pub fn new(options: &Options) -> Self {
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
            } else if self.observer.as_ref().is_some_and(|o| o.0(&self.progress).is_break()) {
                self.stopped = Some("cancelled");
            }
        }
        self.stopped.is_some()
    }

    /// Why the search was stopped, for the answer.
    pub fn stopped_by(&self) -> Option<String> {
        self.stopped.map(str::to_owned)
    }

    pub fn micros(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}
