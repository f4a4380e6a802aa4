//! After the times: the body's order, ring depths, stages moved to make rings short, the answer in normal form.

pub(crate) mod depth;
mod flow;
pub(crate) mod normal;
pub(crate) mod order;
pub(crate) mod rings;
pub(crate) mod stages;
