//! Problems for `warploom-bufassign`, and the laws its answers keep (B64, B75, B76).
//!
//! ```
//! use warploom_bufassign::Problem;
//! use warploom_testing::bufassign::{Choices, assignment_holds, problem};
//!
//! let mine: Problem = problem(&mut Choices::seeded(7));
//! assignment_holds(&mine, &mut Choices::seeded(1))?;
//! # Ok::<(), String>(())
//! ```
//!
//! [`problems`] and [`packings`] are strategies of `proptest`; what fails shrinks to the least input that still does.

mod choices;
mod families;
mod laws;
mod machines;
mod nested;
mod nests;
mod packings;
mod problems;
mod replay;
mod run;
mod shrink;
mod storage;
mod strategies;
mod timings;

pub use choices::Choices;
pub use families::Family;
pub use laws::{assign_bytes, assignment_holds, pack_bytes, packing_holds};
pub use nested::nested;
pub use packings::packing;
pub use problems::{problem, problem_of};
pub use replay::{delayed, steady};
pub use shrink::{Shrink, ShrinkTree};
pub use strategies::{Generated, packings, problems};
pub use timings::every_timing;
