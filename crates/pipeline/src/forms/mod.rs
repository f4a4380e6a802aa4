//! The text forms between a kernel and its program: scheduled and assigned, written and read back.

mod allocs;
mod form;
mod json;
mod marks;

pub(crate) use allocs::records;
pub use allocs::{assigned, assignment_from};
pub use form::{TextForm, form};
pub(crate) use form::{mark_form, of_one_partition, strip};
pub(crate) use json::to_attrs;
pub(crate) use marks::{replicas, replicas_from};
pub use marks::{schedule_from, scheduled};
