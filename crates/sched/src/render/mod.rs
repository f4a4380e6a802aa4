//! Pictures and explanations of a schedule.

mod claims;
mod explain;
mod gantt;
mod svg;
mod trace;

pub use claims::{pareto, unrolled, why};
pub use explain::explain;
pub use gantt::{gantt, gantt_width};
pub use svg::svg;
pub use trace::chrome_trace;
