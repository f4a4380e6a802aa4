//! When a run reached what: the first schedule at its final II, and the proof.

use crate::processor_micros;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use warploom_sched::{Observer, Progress};

/// What was known of the II, and from when on.
#[derive(Clone, Default)]
pub struct Stations(Arc<Mutex<Vec<Station>>>);

/// A change of what is known.
struct Station {
    micros: f64,
    best: Option<i64>,
    bound: i64,
}

impl Stations {
    /// Notes every change.
    pub fn observer(&self) -> Observer {
        let stations = Arc::clone(&self.0);
        Observer::new(move |p: &Progress| {
            let mut stations = stations.lock().unwrap_or_else(PoisonError::into_inner);
            if stations.last().is_none_or(|s| (s.best, s.bound) != (p.best_ii, p.lower_bound)) {
                let micros = processor_micros();
                stations.push(Station { micros, best: p.best_ii, bound: p.lower_bound });
            }
            ControlFlow::Continue(())
        })
    }

    /// When there was a schedule at this II.
    pub fn scheduled(&self, ii: i64) -> Option<f64> {
        self.first(|s| s.best.is_some_and(|best| best <= ii))
    }

    /// When all smaller ones were refuted.
    pub fn proved(&self, ii: i64) -> Option<f64> {
        self.first(|s| s.bound >= ii)
    }

    fn first(&self, reached: impl Fn(&Station) -> bool) -> Option<f64> {
        let stations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stations.iter().find(|s| reached(s)).map(|s| s.micros)
    }
}
