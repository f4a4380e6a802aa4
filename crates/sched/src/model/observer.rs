//! A caller who watches a search, and may end it (S45).

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

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

    /// Tells of progress; true when the search is to end.
    pub(crate) fn cancels(&self, progress: &Progress) -> bool {
        self.0(progress).is_break()
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
