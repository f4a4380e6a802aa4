//! What a descriptor stands for, as data.

use warploom_ir::ValueId;

/// What a descriptor stands for.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub(super) base: ValueId,
    /// Extents, `i64`.
    pub(super) shape: Vec<ValueId>,
    /// Strides in elements, `i64`; the innermost is 1 (C15).
    pub(super) strides: Vec<ValueId>,
    /// Whether elements outside read as NaN.
    pub(super) nan: bool,
}
