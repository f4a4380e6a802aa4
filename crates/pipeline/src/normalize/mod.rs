//! Normal form: branches nested, calls inlined, loop-invariant scalars outside the loop; and what a strategy asks of a
//! kernel beside that (C8, C9, C17).

pub(crate) mod block_scaled;
mod calls;
pub(crate) mod chosen;
pub(crate) mod descriptors;
mod each;
mod either;
pub(crate) mod filled;
mod folds;
mod handed;
pub(crate) mod induction;
mod live;
mod mapped;
mod normal_form;
mod parts;
mod plain;
pub(crate) mod relaid;
pub(crate) mod scaled;
mod settled;
pub(crate) mod small;
mod split;
pub(crate) mod swapped;
mod turned;
pub(crate) mod widened;

pub(crate) use either::loaded_once;
pub(crate) use folds::by_axes;
pub(crate) use handed::handed;
pub use normal_form::normalize;
pub(crate) use plain::{plain, with_fma};
pub(crate) use settled::settled;
pub(crate) use split::split;
