//! A bar on standard error while interleavings run; nothing where standard error is no terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// The bar, or nothing.
pub struct Progress(Option<ProgressBar>);

impl Progress {
    /// A bar of so many interleavings.
    pub fn new(interleavings: usize) -> Progress {
        if !std::io::stderr().is_terminal() {
            return Progress(None);
        }
        let bar = ProgressBar::new(interleavings as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(std::time::Duration::from_millis(200));
        Progress(Some(bar))
    }

    /// Says which interleaving runs now.
    pub fn begin(&self, policy: impl std::fmt::Display) {
        if let Some(bar) = &self.0 {
            bar.set_message(policy.to_string());
        }
    }

    /// One more is done.
    pub fn done(&self) {
        if let Some(bar) = &self.0 {
            bar.inc(1);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
