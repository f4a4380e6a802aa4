//! Why an II is refuted: a small part of the loop that has no schedule at it (S102).

use serde::{Deserialize, Serialize};

/// A part of a loop that has no schedule at an II, and less of which has one (S102).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopCore {
    /// The II that the members refute together.
    pub ii: i64,
    /// What refutes it, in the order of the graph.
    pub members: Vec<CoreMember>,
    /// For each member the starts of all operations, by id, in a schedule of the others at this II; empty where none was
    /// found, so that the member may not be needed.
    pub witnesses: Vec<Vec<i64>>,
    /// Every member has its witness.
    pub minimal: bool,
    /// Changes of one member, or one more unit, that allow this II, the cheapest first; each has been scheduled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<LoopRemedy>,
}

/// A constraint of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CoreMember {
    /// An edge, by its position.
    Edge(usize),
    /// That a value is read after it is written: the positions of the value and of its use.
    Read(usize, usize),
    /// That a use of a value ends before its slot is written again, where `max_depth` says when: the positions of both.
    Slot(usize, usize),
    /// That an operation holds a unit: the operation, and the position of its use.
    Use(usize, usize),
}

/// A change of the loop that allows an II which is refuted as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LoopRemedy {
    /// The latency of an edge, by its position, falls by so many cycles.
    Latency {
        /// The edge.
        edge: usize,
        /// The least number of cycles that suffices.
        cycles: i64,
    },
    /// A use, by the operation and its position, holds its unit for so many cycles less.
    Hold {
        /// The operation.
        node: usize,
        /// The position of the use.
        at: usize,
        /// The least number of cycles that suffices.
        cycles: i64,
    },
    /// One more unit of a resource.
    Unit {
        /// Its name.
        resource: String,
    },
}
