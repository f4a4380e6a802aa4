//! The GPUs Warploom compiles for, as plain data: what they hold, what they can do, what things cost.
//!
//! [`Target::named`] reads one of nine built-in data files. Everything in it is a public field with a
//! unit; there is no hidden state, and a changed copy is as good as the original.
//!
//! ```
//! use warploom_chips::cost::{Op, unit};
//! use warploom_chips::{CtaDemand, Feature, Target};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let hopper = Target::named("sm_90a")?;
//! assert_eq!((hopper.smem.per_cta, hopper.has(Feature::Wgmma)), (232_448, true));
//!
//! // What a 16 KiB copy costs four warps: cycles until the tile is there, cycles that the copy engine is held.
//! let copy = Op::TmaLoad { bytes: 16 << 10, inner_bytes: 128 };
//! let cost = hopper.cost(&copy, 4)?;
//! assert!(cost.latency > cost.duration_on(unit::TMA));
//!
//! // Numbers of your own, in the place of an entry.
//! let measured = "[op.tma_load]
//! duration = { unit = \"TMA\", work = \"bytes\", rate = 32, origin = \"derived\" }
//! latency = { fixed = 600, plus_duration = true, origin = \"derived\" }
//! ";
//! assert_eq!(hopper.with_costs(measured)?.cost(&copy, 4)?.duration_on(unit::TMA), 512);
//!
//! // How many CTAs an SM holds at once, and what stops more.
//! let residency = hopper.residency(&CtaDemand { threads: 128, registers: 128, smem_bytes: 64 << 10, tmem_columns: 0 })?;
//! assert_eq!(residency.ctas, 3);
//! # Ok(())
//! # }
//! ```
//!
//! Rule numbers (T1 ..) are those of `docs/rules`; `warploom rule T5` prints one.

mod built_in;
mod element;
mod error;
mod feature;
mod file;
mod limits;
mod named;
mod registers;
mod render;
mod residency;
mod swizzle;
mod target;
mod version;

pub mod barrier;
pub mod check;
pub mod cost;
pub mod mma;
pub mod tma;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use element::{Element, UnknownElement};
pub use error::TargetError;
pub use feature::Feature;
pub use limits::{
    Barriers, Chip, Cluster, Descriptors, Grid, LaneSet, RegisterFile, SetMaxNReg, SharedMemory,
    TensorMemory, Threads,
};
pub use registers::{DEFAULT_KEEP, PartitionWarps, RegisterError, RegisterPlan};
pub use render::{describe, overview};
pub use residency::{CtaDemand, DoesNotFit, Residency, Resource};
pub use swizzle::{Swizzle, TmaSwizzle};
pub use target::Target;
pub use version::{PtxVersion, PtxVersionError};
