//! What a program is made from, and the program under construction.

use warploom_ir::{Module, ValueId};

use crate::buffers::depth::ScheduledLoop;
use crate::layout::ProgramLayout;
use crate::select::Selection;
use crate::specialize::copy::Scope;

/// What a program is made from.
pub(crate) struct Source<'a> {
    /// The scheduled kernel.
    pub module: &'a Module,
    /// Its parts.
    pub selection: &'a Selection,
    /// Its loops with their schedules.
    pub loops: &'a [ScheduledLoop],
    /// Where everything lies, who takes part in which barrier, and the registers.
    pub layout: &'a ProgramLayout,
    /// Name of the chip.
    pub target: &'a str,
}

/// A program under construction.
pub(super) struct Builder<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) out: Module,
    /// Operations that every partition may use, by their copies.
    pub(super) shared: Scope,
    /// `arith.constant` 0 and 1.
    pub(super) zero: Option<ValueId>,
    pub(super) one: Option<ValueId>,
}
