//! Happens-before analysis (E60-E65).

pub(crate) mod clock;
pub(crate) mod shadow;
