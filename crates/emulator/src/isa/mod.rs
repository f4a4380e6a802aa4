//! Instructions in compact form: what the machine executes.

pub(crate) mod cvt;
pub(crate) mod decode;
pub(crate) mod formula;
pub(crate) mod lanes;
pub(crate) mod op;
pub(crate) mod types;
pub(crate) mod uses;
pub(crate) mod video;
