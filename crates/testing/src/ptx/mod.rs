//! PTX texts: well-formed ones, damaged ones, control flow of every shape; and what must hold of the reader.

mod flows;
mod laws;
mod texts;

pub use flows::flow_texts;
pub use laws::{any_text_is_judged, flow_is_right, prints_back};
pub use texts::{damaged, module_texts};
