//! How deep each ring is, where everything lies, and who hands what over by which barrier (S51-S57, B1-B75).

pub mod depth;
pub(crate) mod draft;
mod fit;
pub(crate) mod given;
pub(crate) mod plan;
pub(crate) mod planned;
pub(crate) mod problem;
mod resume;
