//! Pictures of a schedule.

mod gantt;

pub use gantt::{gantt, gantt_width};
