//! The text forms between a kernel and its program: scheduled and assigned, written and read back.

mod allocs;
mod form;
mod json;
mod marks;

pub use allocs::assignment_from;
pub(crate) use allocs::{assigned, records};
pub use form::{TextForm, form};
pub(crate) use form::{mark_form, strip};
pub(crate) use marks::{replicas, replicas_from};
pub use marks::{schedule_from, scheduled};
