//! What a descriptor stands for, as data.

use warploom_ir::ValueId;

/// What a descriptor stands for.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) base: ValueId,
    /// Extents, `i64`.
    pub(crate) shape: Vec<ValueId>,
    /// Strides in elements, `i64`; the innermost is 1 (C15).
    pub(crate) strides: Vec<ValueId>,
    pub(crate) outside: Outside,
}

/// What elements outside a tensor read as.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outside {
    Zero,
    Nan,
    /// NaN where this `i1` of the launch is true.
    Flag(ValueId),
}
