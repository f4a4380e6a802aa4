//! What some lanes of a warp learnt that the rest of it did not: a lane that waits, waits for itself (E60, E100).

use super::channel::Done;

/// What lanes know beyond their warp's clock, until they meet the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told<C> {
    /// The lanes that learnt it. They are taken to know each other's: lanes that wait for different things are rare.
    pub(super) lanes: u32,
    pub(super) clock: Option<C>,
    /// Copies by `cp.async` of this warp that are over for the lanes that issued them.
    pub(super) copies: Option<(u32, Done)>,
}

impl<C> Default for Told<C> {
    fn default() -> Self {
        Told { lanes: 0, clock: None, copies: None }
    }
}

impl<C> Told<C> {
    /// The clock, if all of these lanes were told.
    pub(crate) fn of(&self, lanes: u32) -> Option<&C> {
        self.clock.as_ref().filter(|_| lanes & !self.lanes == 0)
    }

    /// The copies that are over for the lanes that issued them.
    pub(crate) fn own_copies(&self) -> Option<&Done> {
        self.copies.as_ref().map(|(_, done)| done)
    }

    /// Whether a copy of a warp is over for the lane that issued it.
    pub(crate) fn copied(&self, warp: u32, number: u32) -> bool {
        self.copies.as_ref().is_some_and(|(w, done)| *w == warp && done.contains(number))
    }
}
