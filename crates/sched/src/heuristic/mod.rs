//! Schedules without search: iterative and swing modulo scheduling, slots laid out at once, one iteration after the
//! other, and the table that all of them fill.

pub(crate) mod compact;
pub(crate) mod forward;
pub(crate) mod ims;
pub(crate) mod insertion;
pub(crate) mod reservations;
pub(crate) mod serial;
pub(crate) mod settle;
pub(crate) mod sms;
pub(crate) mod wrap_around;
