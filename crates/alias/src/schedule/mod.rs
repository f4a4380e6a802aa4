//! Meeting the schedule: bindings of values to leaves, alias edges, and the simulation that checks them
//! (A44 to A48, L15).

mod binding;
mod edges;
mod simulate;
mod unordered;

pub use binding::{AliasEdge, Binding, Times, parse_binding};
pub use edges::{cycles, edges};
pub use simulate::check_schedule;
pub use unordered::unordered;
