//! The second opinion: plans are carried out element by element (G12, G15).
//!
//! A checker evaluates layouts at points and knows what instructions do; it solves nothing and takes nothing from the
//! planner but the plan. Not checked: how many selects and byte permutes a plan needs, and its price.

mod axis;
mod conversion;
mod machine;
mod memory;
mod violation;

pub use axis::{reduction, scan};
pub use conversion::conversion;
pub use violation::{Place, Violation};
