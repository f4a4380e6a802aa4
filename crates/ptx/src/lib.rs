//! PTX text: reads it into a tree, prints the tree back, resolves names and control flow.
//!
//! ```
//! let text = "
//! .version 8.6
//! .target sm_90a
//! .address_size 64
//! .visible .entry scale(.param .u64 data) .reqntid 32 {
//!     .reg .b32 %r<3>;
//!     .reg .b64 %rd<2>;
//!     ld.param.u64 %rd1, [data];
//! $again:
//!     ld.global.u32 %r1, [%rd1+4];
//!     bra $again;
//! }";
//! let module = warploom_ptx::parse(text)?;
//! let kernel = module.functions().next().ok_or("no function")?;
//! assert_eq!(kernel.name, "scale");
//!
//! // What is read prints, and reads back as the same tree.
//! let printed = module.to_string();
//! assert_eq!(warploom_ptx::parse(&printed)?, module);
//!
//! // Names are resolved by scope; control flow is a graph of blocks.
//! let code = warploom_ptx::Code::of(kernel)?;
//! let flow = warploom_ptx::Flow::of(&code);
//! assert_eq!(flow.loops()[0].instructions(&flow).collect::<Vec<_>>(), [1, 2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`parse`] reads a module. It knows the grammar, not the instruction set: any opcode, any number of operands.
//! - [`Module`] and its parts are plain data; `Display` prints them as PTX.
//! - [`Code`] is a body as a list of instructions with the names that each of them sees.
//! - [`Flow`] is the control flow of a [`Code`]: blocks, dominators, loops.

mod code;
mod error;
mod flow;
mod print;
mod read;
mod tree;
mod types;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use code::{Code, Step};
pub use error::SyntaxError;
pub use flow::{Block, Flow, Leads, Loop};
pub use read::parse;
pub use tree::{
    Address, Function, Guard, Initial, Instruction, Item, Line, Location, Module, Operand, Parameter,
    Pointer, Registers, Statement, Tuning, Variable,
};
pub use types::{RegisterClass, type_bytes};
