//! Happens-before analysis (E60-E65, E99).

pub(crate) mod access;
pub(crate) mod channel;
pub(crate) mod clock;
mod learnt;
pub(crate) mod mask;
pub(crate) mod released;
pub(crate) mod scope;
pub(crate) mod seen;
pub(crate) mod shadow;
pub(crate) mod told;
pub(crate) mod within;
