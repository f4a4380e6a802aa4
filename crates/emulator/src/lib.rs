//! A PTX machine: runs PTX text with no GPU, and finds races, deadlocks and broken barriers.
//!
//! Two questions are answered apart. *Is the result right?* The buffers hold what the kernel computed; the caller
//! compares. *Could another schedule have broken it?* A happens-before analysis of every access says so in the
//! [`Report`], whatever the schedule of this run was.
//!
//! ```
//! use warploom_emulator::{Arg, Device, Launch, Module, Policy, RunOptions};
//! use warploom_chips::Target;
//!
//! let ptx = "
//! .version 7.0
//! .target sm_80
//! .address_size 64
//! .visible .entry double(.param .u64 data) .reqntid 32 {
//!     .reg .b32 %r<3>;
//!     .reg .b64 %rd<3>;
//!     ld.param.u64 %rd1, [data];
//!     mov.u32 %r1, %tid.x;
//!     mad.wide.u32 %rd2, %r1, 4, %rd1;
//!     ld.global.u32 %r2, [%rd2];
//!     add.u32 %r2, %r2, %r2;
//!     st.global.u32 [%rd2], %r2;
//!     ret;
//! }";
//! let module = Module::parse(ptx)?;
//! let mut device = Device::new(&Target::named("sm_80")?);
//! let data = device.alloc_from(&[1; 128], "data")?;
//! let launch = Launch { args: vec![Arg::Ptr(data)], ..Launch::of(module.entry("double")?) };
//! let report = device.run(&module, &launch, &RunOptions::default().policy(Policy::Random(7)))?;
//! assert!(report.clean(), "{report}");
//! assert_eq!(device.read(data)?, [2; 128]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Module`] reads and decodes PTX once; an entry with unsupported instructions says which ([`Entry::refusal`]).
//! - [`Device`] is a chip with buffers; [`Device::run`] runs a [`Launch`] under [`RunOptions`] and gives a [`Report`].
//! - [`TensorMap::tiled`] makes the 128 bytes of a descriptor argument.
//! - [`Policy`] chooses the schedule; run several from clones of one device ([`Policy::defaults`]).
//!
//! Rule numbers (E1 .., T1 ..) and codes of findings (`R01`) are those of `docs/rules`. What is modelled
//! and what is not, and how to read a report, is in `docs/emulator.md`.

mod code;
mod error;
mod isa;
mod load;
mod look;
mod machine;
mod module;
mod number;
mod place;
mod race;
mod report;
mod sight;
mod texture;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use error::{EmulatorRefusal, RefusalReason};
pub use look::{Break, Look, Watch};
pub use machine::arg::Arg;
pub use machine::device::Device;
pub use machine::launch::{Launch, Policy, Race, RunOptions};
pub use machine::tensormap::{ElemType, TENSOR_MAP_BYTES, TensorMap, TiledMap};
pub use module::{Entry, Module, Param};
pub use place::{Extent, FindingPlace, Values};
pub use report::{Coverage, Finding, Hint, Report, Severity, Stats, TraceEvent};
pub use sight::{Sight, SightKind};
pub use texture::{Addressing, Channel, Filter, Texture, TextureKind};
