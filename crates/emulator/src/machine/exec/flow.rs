//! Where a warp goes on after a step.

use crate::machine::warp::Wait;

/// What a step does to the program counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// On to the next instruction.
    Next,
    /// The counters are set already, or the lanes are gone.
    Set,
    /// Wait, then run this instruction again.
    Stay(Wait),
    /// The instruction is done; wait before the next.
    Park(Wait),
}
