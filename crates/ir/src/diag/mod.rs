//! What users get on error (C90, C91): one structured record for every refusal and remark, a list of them that is an
//! error, and the one way in which they are shown.

mod code;
mod diagnostic;
mod list;
mod place;
mod render;
mod report;
mod source;

pub use code::{Code, Severity};
pub use diagnostic::Diagnostic;
pub use list::Diagnostics;
pub use place::TextPlace;
pub use render::{render, render_reports};
pub use report::Report;
pub use source::source_location;
