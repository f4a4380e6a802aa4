//! What is put into global memory, and how.

use warploom_ir::{Type, ValueId};

/// The name of an atomic load, which has no operand.
pub(super) const LOAD: &str = "ld";

/// The name of an atomic store.
pub(super) const STORE: &str = "st";

/// The name of a loop of relaxed loads.
pub(super) const POLL: &str = "poll";

/// What is done to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Atomic {
    /// PTX name of the operation.
    pub name: &'static str,
    /// PTX type of one element, and of two packed ones.
    pub ty: &'static str,
    pub(super) packed: Option<&'static str>,
    /// `relaxed`, `acquire`, ..
    pub order: &'static str,
    /// `gpu`, `cta`, `sys`.
    pub scope: &'static str,
}

impl Atomic {
    /// Whether PTX has no such operation, and its result is swapped in until nobody was faster.
    pub(super) fn by_swapping(self) -> bool {
        matches!((self.name, self.ty), ("max" | "min", "f16" | "bf16") | ("add", "bf16"))
    }
}

/// What goes where.
#[derive(Clone, Copy)]
pub(super) struct Stored<'m> {
    pub pointer: ValueId,
    pub value: ValueId,
    pub mask: Option<ValueId>,
    pub elem: &'m Type,
    pub bits: u32,
    /// What stands behind `st.global` of its caches.
    pub cache: &'static str,
    /// An operation on memory instead of a store.
    pub atomic: Option<Atomic>,
}
