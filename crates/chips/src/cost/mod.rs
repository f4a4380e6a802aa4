//! What operations cost (T30-T41).
//!
//! Two numbers that must not be mixed: the *duration* is how long a unit is held and bounds how often
//! the operation can be issued; the *latency* runs from issue to visible result and bounds who may come
//! after. [`Target::cost`](crate::Target::cost) computes both from a chip's data file and the operation's
//! size; where the numbers come from stands beside each of them ([`Origin`]).

mod amount;
mod entry;
mod eval;
mod kind;
mod native;
mod op;
mod validate;

pub use amount::Amount;
pub(crate) use entry::Terms;
pub use entry::{AlsoRule, DurationRule, LatencyRule, Measurement, Native, OpEntry, Origin, Unit, Work};
pub use kind::{OpClass, OpKind};
pub(crate) use validate::{Fault, validate};

pub use op::{Access, Combine, CostError, MmaOp, Op, OpCost, Use};

/// Names of the built-in units (T30); a cost file may add others.
pub mod unit {
    /// The copy engine.
    pub const TMA: &str = "TMA";
    /// Tensor cores.
    pub const TC: &str = "TC";
    /// FP32 lanes, which also multiply whole numbers.
    pub const FP32: &str = "FP32";
    /// Lanes for integers, comparison and packing.
    pub const ALU: &str = "ALU";
    /// Special functions.
    pub const SFU: &str = "SFU";
    /// The shared-memory port.
    pub const SMEM: &str = "SMEM";
    /// What reaches an SM from the second-level cache, by whichever way.
    pub const L2: &str = "L2";
    /// The tensor-memory port.
    pub const TMEM: &str = "TMEM";
    /// The four schedulers together: 128 lanes a clock.
    pub const ISSUE: &str = "ISSUE";
}
