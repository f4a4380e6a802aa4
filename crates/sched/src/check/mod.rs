//! Independent checkers (S71-S82).
//!
//! They take the graph and the answer, are plain integer loops over the definitions, and share no code, cached
//! bound or table with the schedulers. They collect all violations in fixed order (at most [`MOST_VIOLATIONS`]),
//! each naming the operation, edge or residue, the two numbers compared and the rule.
//!
//! What is *not* checked: that a claimed `lower_bound` above the recomputed MII was really proved, that a claimed
//! `length_optimal` holds, and anything about how fast the loop runs on a chip.

mod bindings;
mod bounds;
mod budget;
mod core;
mod crowds;
mod depths;
mod every;
mod exits;
mod form;
mod nests;
mod pareto;
mod partitions;
mod replay;
mod report;
mod schedule;
mod shape;
mod slices;
mod start;
mod times;
mod unrolled;
mod verdict;
mod violation;

pub use self::core::core;
pub use budget::budget;
pub use depths::depths;
pub use every::all;
pub use nests::nest;
pub use pareto::pareto;
pub use partitions::partitions;
pub use replay::replay;
pub use schedule::schedule;
pub use start::start;
pub use times::times;
pub use unrolled::unrolled;
pub use verdict::{ScheduleVerdict, verdict};
pub use violation::{MOST_VIOLATIONS, ScheduleViolation, ScheduleViolationKind, ScheduleViolations};
