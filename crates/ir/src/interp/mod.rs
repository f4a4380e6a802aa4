//! The reference interpreter: what a kernel means, plain and sequential.
//!
//! [`Interpreter::run`] executes a kernel on a [`Memory`] of byte buffers, one program of the grid after the
//! other. It is the oracle for compiled code: it knows nothing of schedules, layouts or chips.
//!
//! Numbers. Values have the format that their type says: loads, stores, casts and each arithmetic operation
//! round to nearest even, casts to 8-bit floats saturate (C68), tf32 dots drop 13 bits of their operands,
//! sums of dots are rounded to `f32` one by one; [`Accumulate::F64`] keeps `f32` values unrounded instead.
//! Subnormals are kept, functions of `math` are evaluated in `f64`: the approximations and flushes that C68
//! allows to compiled code are not part of a kernel's meaning. Integers wrap; shifts by the width or more push
//! out all bits; a division by zero is an error; floats beyond an integer's range convert to its nearest end,
//! NaN to 0.
//!
//! Memory. Pointers are addresses in buffers a tebibyte apart; any access outside a buffer is an error.
//! Descriptor loads outside their tensor find zero or NaN, stores there are dropped (C7). Masked-off elements
//! of a load without `other` are zero. Atomics run in element order.
//!
//! Limits are typed errors: see [`InterpOptions`] and [`Fault`].

mod access;
mod args;
mod assembly;
mod attrs;
mod casts;
mod context;
mod control;
mod data;
mod descriptor;
mod descriptor_ops;
mod dot;
mod dot_block_scaled;
mod dot_scaled;
mod elementwise;
mod entry;
mod error;
pub mod float;
mod functions;
mod inline_asm;
mod libdevice;
mod machine;
mod map;
mod memory;
mod options;
mod reduce;
mod shape;
mod tensor;
mod value;

pub use args::{Arg, bind_args};
pub use assembly::{Assembly, AssemblyCall};
pub use descriptor::Padding;
pub use error::{Fault, FaultPlace, InterpError};
pub use machine::Interpreter;
pub use memory::{BufferId, Memory};
pub use options::{Accumulate, InterpOptions};
pub use tensor::{Difference, Tensor};

use data::{Data, elem_bytes};
