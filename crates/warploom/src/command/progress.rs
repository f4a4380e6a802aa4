//! The interleavings that run one after another: how long one takes, and a bar on standard error where that is a
//! terminal.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// The progress of a list of interleavings.
pub struct Progress {
    bar: Option<ProgressBar>,
    begun: Instant,
    longest: Duration,
}

impl Progress {
    /// Of so many interleavings.
    pub fn new(interleavings: usize) -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| ProgressBar::new(interleavings as u64));
        if let Some(bar) = &bar {
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} {elapsed}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Progress { bar, begun: Instant::now(), longest: Duration::ZERO }
    }

    /// How long the longest so far took.
    pub fn longest(&self) -> Duration {
        self.longest
    }

    /// Says which interleaving runs now.
    pub fn begin(&mut self, policy: impl std::fmt::Display) {
        self.begun = Instant::now();
        if let Some(bar) = &self.bar {
            bar.set_message(policy.to_string());
        }
    }

    /// One more is done.
    pub fn done(&mut self) {
        self.longest = self.longest.max(self.begun.elapsed());
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
