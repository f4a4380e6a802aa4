//! Tile kernels as plain data.
//!
//! A [`Module`] holds what one `.ttir` file says. [`Opcode`] lists the operations; types, attributes and
//! locations are kept so that a file reads, prints and reads back to an equal module (C1).

mod attr;
pub mod build;
pub mod diag;
mod edit;
mod entity;
mod equal;
mod float;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
pub mod interp;
mod loc;
mod module;
mod opcode;
pub mod text;
mod types;
mod verify;
pub mod walk;

pub use attr::{Attr, AttrDict};
pub use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
pub use diag::Diagnostic;
pub use entity::{BlockId, LocId, NameId, OpId, RegionId, ValueId};
pub use equal::{difference, equal};
pub use loc::Loc;
pub use module::{Block, Module, Operation, Region, Value, ValueDef};
pub use opcode::Opcode;
pub use text::{parse, print};
pub use types::{FloatKind, Shape, Signedness, Type};
pub use verify::verify;
