//! Which of several resources each use takes, found together with the times (S103).

pub(crate) mod bind;
mod frame;
mod seeds;
