//! Lower bounds on the II and on the length, without search.

pub(crate) mod assignment;
pub(crate) mod crowds;
pub(crate) mod jackson;
pub(crate) mod joint;
pub(crate) mod least_ii;
pub(crate) mod length;
pub(crate) mod ratio;
pub(crate) mod self_fit;
