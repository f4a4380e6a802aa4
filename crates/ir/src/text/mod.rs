//! MLIR text: reading with [`parse`], writing with [`print`].
//!
//! Known operations are written in the custom assembly that Triton 3.9 prints (C5), everything else in
//! generic form; both are read for every operation. Names and locations are kept (C1).

pub(crate) mod format;
pub(crate) mod keywords;
mod lexer;
mod parser;
mod printer;

pub use parser::{MAX_ERRORS, MAX_NESTING, MAX_REGIONS, parse};
pub use printer::{OpPrinter, print, print_op};
