//! Loop graphs and answers as JSON (S10, S27): one object, or one per line, plain or gzipped.

pub(crate) mod decode;
mod raw;
pub(crate) mod read;
pub(crate) mod write;
