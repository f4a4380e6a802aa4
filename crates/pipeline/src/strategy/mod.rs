//! Strategies (Q4): who runs a kernel, how its tiles move, how its products are issued. Each says whether it is legal,
//! with every reason why not, by planning the kernel: selection, loop graphs, schedules, buffers, layout. Plans are
//! priced on their loop graphs, and the cheapest becomes a program.

mod candidates;
mod choose;
mod expanded;
mod plan;
mod price;
mod source;
mod specialized;
mod split;
mod tile_cost;
mod tiles;
mod types;

pub(crate) use candidates::explain;
pub use candidates::{SplitCandidate, SplitVerdict};
pub(crate) use choose::choose;
pub(crate) use plan::{Plan, Work};
pub use price::SplitPrice;
pub(crate) use source::Source;
pub use split::{PartitionSplit, SplitCost};
pub use tile_cost::TileCost;
pub use types::{Moves, Partitions, Strategy};
