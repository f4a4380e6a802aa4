//! Tile kernels as plain data: MLIR text in and out, a builder, a verifier, a reference interpreter.
//!
//! A [`Module`] holds what one `.ttir` file says. [`Opcode`] lists the operations; types, attributes and
//! locations are kept so that a file reads, prints and reads back to an equal module (C1).
//!
//! ```
//! use warploom_ir::build::kernel;
//! use warploom_ir::interp::{Arg, InterpOptions, Interpreter, Memory, Tensor};
//! use warploom_ir::{Type, difference, parse, print, verify};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Squares eight numbers: built here, or read from Triton's text.
//! let module = kernel("square", |f| {
//!     let data = f.pointer("data", &Type::F32);
//!     let (lanes, base) = (f.make_range(0, 8), f.splat(data, &[8]));
//!     let places = f.addptr(base, lanes);
//!     let x = f.load(places, None, None);
//!     let y = f.mulf(x, x);
//!     f.store(places, y, None);
//! })?;
//! let text = print(&module);
//! assert!(text.contains("arith.mulf"));
//! let read = parse(&text)?;
//! assert_eq!((verify(&read).len(), difference(&module, &read)), (0, None));
//!
//! // What it means, one program of the grid after the other.
//! let mut numbers = Tensor::zeros(Type::F32, &[8])?;
//! numbers.fill(|n| n as f64);
//! let mut memory = Memory::new();
//! let buffer = memory.upload(&numbers);
//! Interpreter::run(&read, None, [1, 1, 1], &[Arg::ptr(buffer)], &mut memory, &InterpOptions::default())?;
//! let squares = memory.download(buffer, &numbers).ok_or("the buffer is gone")?;
//! assert_eq!(squares.to_f64(), [0.0, 1.0, 4.0, 9.0, 16.0, 25.0, 36.0, 49.0]);
//! # Ok(())
//! # }
//! ```
//!
//! - [`parse`] and [`print()`] are the only reader and printer of MLIR; operations that the [table](OpFacts) does not
//!   know are kept in generic form.
//! - [`build`] makes kernels from Rust, [`walk`] goes through them, [`verify()`] says all that is wrong with one.
//! - [`interp`] is the oracle for compiled code: it knows nothing of schedules, layouts or chips.
//! - [`axis`] says how far neighbours in a tile go together.
//! - [`vectors`] says along which dimension of the matrices a vector runs.
//! - [`diag`] renders what is refused: the line with a caret, the rule, the remedy. [`Diagnostics`] is an error that
//!   `?` takes.

mod attr;
pub mod attributes;
pub mod axis;
mod block_scaled;
pub mod build;
pub mod diag;
mod dominators;
mod edit;
mod entity;
mod equal;
mod facts;
mod float;
pub mod flow;
pub mod interp;
mod loc;
mod module;
mod opcode;
pub mod renamed;
mod table;
pub mod text;
mod types;
pub mod vectors;
mod verify;
pub mod walk;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use attr::{Attr, AttrDict};
pub use block_scaled::BlockFormat;
pub use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
pub use diag::{Diagnostic, Diagnostics};
pub use entity::{BlockId, LocId, NameId, OpId, RegionId, ValueId};
pub use equal::{difference, equal};
pub use facts::{Category, CostClass, Effect, OpFacts};
pub use loc::Loc;
pub use module::{Block, Module, Operation, Region, Value, ValueDef};
pub use opcode::Opcode;
pub use text::{parse, print};
pub use types::{FloatKind, Shape, Signedness, Type};
pub use verify::verify;
