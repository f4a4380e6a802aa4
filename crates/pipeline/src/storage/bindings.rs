//! Which buffers of the author's storage the values of a kernel use, as data.

use warploom_alias::schedule::Binding;
use warploom_bufassign::{AuthorLayout, LayoutRef};
use warploom_ir::OpId;

/// The attribute that ties a value to a leaf.
pub const BUFFER: &str = "warploom.buffer";

/// Which buffers of the author's layout the values of a kernel use.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bindings {
    /// The bound operations, with the binding of each, in the order of the selection.
    pub(super) bound: Vec<(OpId, Binding)>,
    /// The storages as the assignment takes them: one leaf per binding.
    pub(super) layouts: Vec<AuthorLayout>,
    /// Where each binding stands in `layouts`.
    pub(super) refs: Vec<LayoutRef>,
    /// Buffers of each ring, where the author gave them.
    pub(super) depths: Vec<Option<u64>>,
}
