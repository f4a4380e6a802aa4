//! Offset packing: sizes and lifetimes in, offsets out (B56..B64). Usable alone.
//!
//! The problem is dynamic storage allocation with known lifetimes: give every item an offset so
//! that no two items that are live at the same moment share a byte. It is NP-hard; the answer says
//! what is known about it: [`PackOutcome::Fits`], [`PackOutcome::ProvedInfeasible`] or
//! [`PackOutcome::GaveUp`].
//!
//! ```
//! use warploom_bufassign::pack::{PackOptions, PackOutcome, PackProblem, pack};
//! let mut p = PackProblem::linear(Some(100));
//! p.push(40, 0, 5);
//! p.push(60, 3, 9);
//! p.push(40, 5, 9);
//! let outcome = pack(&p, &PackOptions::default());
//! assert!(matches!(outcome, PackOutcome::Fits { peak: 100, optimal: true, .. }));
//! ```

mod bound;
mod canon;
mod check;
mod cliques;
mod core;
mod csv;
mod decide;
mod exact;
mod greedy;
mod late;
mod learn;
mod memo;
mod portfolio;
mod prepare;
mod restarts;
mod skyline;
mod solve;
mod stack;
mod sweep;

pub(crate) use check::can_beat;
pub use check::{PackViolation, check_pack};
pub(crate) use prepare::align_up;

pub use csv::{CsvError, CsvProblem, pack_csv};
pub use solve::{load_bound, pack};

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A packing problem (B56).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PackProblem {
    /// What is to be placed.
    pub items: Vec<PackItem>,
    /// The time axes lifetimes lie on.
    pub segments: Vec<TimeSegment>,
    /// Byte ranges `[offset, offset + size)` nobody may use.
    #[serde(default)]
    pub reserved: Vec<(u64, u64)>,
    /// Pairs of items (indices) that must not share a byte whatever their lifetimes.
    #[serde(default)]
    pub separations: Vec<(usize, usize)>,
    /// Groups of items (indices) that get one offset.
    #[serde(default)]
    pub colocations: Vec<Vec<usize>>,
    /// Bytes there are; without it the peak is minimised.
    #[serde(default)]
    pub capacity: Option<u64>,
}

/// One item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PackItem {
    /// Bytes; an item of 0 bytes sits at offset 0 and takes nothing.
    pub size: u64,
    /// The offset is a multiple of this, at least 1; need not be a power of two.
    pub align: u64,
    /// The offset it must have.
    #[serde(default)]
    pub fixed: Option<u64>,
    /// When it is live: the union of these.
    pub live: Vec<LiveSpan>,
}

/// A half-open span of an item's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveSpan {
    /// Index of the segment.
    pub segment: usize,
    /// First moment.
    pub start: i64,
    /// Length; on a circle anything from the period up is the whole circle.
    pub len: i64,
    /// Only these bytes `[lo, hi)` of the item are in use meanwhile; `None` is all of them.
    #[serde(default)]
    pub window: Option<(u64, u64)>,
}

/// A time axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TimeSegment {
    /// Straight time.
    Linear,
    /// A circle of this many cycles, at least 1.
    Circular(i64),
}

/// How hard to try.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PackOptions<'a> {
    /// Nodes the exact search may visit in all.
    pub node_budget: u64,
    /// Run the exact search at all.
    pub exact: bool,
    /// Once set, from another thread, the search ends soon; the outcome is then not deterministic.
    pub stop: Option<&'a AtomicBool>,
    /// The moment by which there is an answer, whatever it is; behind it the outcome is not deterministic.
    pub deadline: Option<Instant>,
    /// Threads that may search at once; the answer is the same with any number.
    pub threads: usize,
    /// Plan the same whatever the order of the items: they are sorted first. Else they are taken in their own
    /// order where there is a capacity, and up to [`PackOptions::SORTED`] of them where there is none.
    pub any_order: bool,
}

impl Default for PackOptions<'_> {
    fn default() -> Self {
        PackOptions {
            node_budget: 2_000_000,
            exact: true,
            stop: None,
            deadline: None,
            threads: 1,
            any_order: false,
        }
    }
}

impl<'a> PackOptions<'a> {
    /// More items than this are always sorted first where the peak is minimised.
    pub const SORTED: usize = 64;

    /// Sets the nodes that the exact search may visit in all.
    pub fn node_budget(self, node_budget: u64) -> Self {
        PackOptions { node_budget, ..self }
    }

    /// Runs the exact search, or leaves it out.
    pub fn exact(self, exact: bool) -> Self {
        PackOptions { exact, ..self }
    }

    /// Ends soon after the flag is set.
    pub fn stop(self, stop: Option<&'a AtomicBool>) -> Self {
        PackOptions { stop, ..self }
    }

    /// Answers by this moment.
    pub fn deadline(self, deadline: Option<Instant>) -> Self {
        PackOptions { deadline, ..self }
    }

    /// Searches on so many threads; 0 is 1.
    pub fn threads(self, threads: usize) -> Self {
        PackOptions { threads, ..self }
    }

    /// Sorts the items first, however few they are.
    pub fn any_order(self, any_order: bool) -> Self {
        PackOptions { any_order, ..self }
    }

    /// Whether to come to an end.
    pub(crate) fn is_late(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|end| Instant::now() >= end)
    }
}

/// What is known after packing (B58).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum PackOutcome {
    /// A plan.
    Fits {
        /// Offset of every item, in the order of the problem.
        offsets: Vec<u64>,
        /// End of the highest byte in use.
        peak: u64,
        /// No plan has a lower peak than this.
        lower_bound: u64,
        /// `peak` is the least possible: it meets the bound, or the search was exhausted.
        optimal: bool,
    },
    /// No plan exists.
    ProvedInfeasible {
        /// No plan has a lower peak than this.
        lower_bound: u64,
        /// Items (indices) that cannot be placed together.
        core: Vec<usize>,
    },
    /// No plan was found within the budget; one may exist.
    GaveUp {
        /// The best plan found, whose peak exceeds the capacity.
        best: Option<(Vec<u64>, u64)>,
        /// No plan has a lower peak than this.
        lower_bound: u64,
    },
    /// The problem makes no sense.
    Invalid(PackError),
}

/// A packing problem that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PackError {
    /// Item concerned (index), if one is.
    pub item: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for PackError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.item {
            Some(i) => write!(f, "item {i}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for PackError {}

impl PackProblem {
    /// An empty problem with one linear segment.
    pub fn linear(capacity: Option<u64>) -> PackProblem {
        PackProblem { segments: vec![TimeSegment::Linear], capacity, ..PackProblem::default() }
    }

    /// Adds an item live in `[start, end)` of segment 0; gives its index.
    pub fn push(&mut self, size: u64, start: i64, end: i64) -> usize {
        self.push_aligned(size, 1, start, end)
    }

    /// Adds an item with an alignment.
    pub fn push_aligned(&mut self, size: u64, align: u64, start: i64, end: i64) -> usize {
        let live = vec![LiveSpan { segment: 0, start, len: end.saturating_sub(start), window: None }];
        self.items.push(PackItem { size, align, fixed: None, live });
        self.items.len() - 1
    }

    /// Checks that the problem makes sense: positive lengths, periods and alignments, indices in
    /// range, fixed offsets aligned, no overflow.
    ///
    /// # Errors
    /// The first thing that does not.
    pub fn validate(&self) -> Result<(), PackError> {
        let refuse = |item, message: &str| Err(PackError { item, message: message.to_string() });
        for s in &self.segments {
            if let TimeSegment::Circular(p) = s
                && !(1..=1 << 60).contains(p)
            {
                return refuse(None, "a circular segment has a period of at least 1");
            }
        }
        let mut total = 0u64;
        for (i, item) in self.items.iter().enumerate() {
            if item.align == 0 || item.align > 1 << 48 {
                return refuse(Some(i), "an alignment is at least 1");
            }
            if let Some(f) = item.fixed
                && (!f.is_multiple_of(item.align) || f > 1 << 60)
            {
                return refuse(Some(i), "its fixed offset is not aligned");
            }
            let sum = item.size.checked_add(item.align).and_then(|s| total.checked_add(s));
            match sum.filter(|&s| s <= 1 << 60) {
                Some(s) => total = s,
                None => return refuse(Some(i), "the sizes overflow"),
            }
            for s in &item.live {
                if s.segment >= self.segments.len() {
                    return refuse(Some(i), "no such segment");
                }
                if s.len < 1 {
                    return refuse(Some(i), "a lifetime ends before it starts");
                }
                if s.start.unsigned_abs() > 1 << 60 || s.len > 1 << 60 {
                    return refuse(Some(i), "a time is out of range");
                }
                if s.window.is_some_and(|(lo, hi)| lo > hi || hi > item.size) {
                    return refuse(Some(i), "a window does not lie inside the item");
                }
            }
        }
        for r in &self.reserved {
            if r.0.checked_add(r.1).is_none_or(|e| e > 1 << 60) {
                return refuse(None, "a reserved range overflows");
            }
        }
        let known = |i: &usize| *i < self.items.len();
        if !self.separations.iter().all(|(a, b)| known(a) && known(b) && a != b)
            || !self.colocations.iter().flatten().all(known)
        {
            return refuse(None, "a separation or colocation names no item");
        }
        Ok(())
    }
}
